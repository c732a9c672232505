"""Remove and retrain (Hooker et al. 2019; Madsen et al. 2022): masks, curves, areas, verdicts, a synthetic check."""
