"""The AML paper: learned explainers beside the paper's baselines."""
