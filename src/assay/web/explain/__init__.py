"""The explain page: an input, the prediction, and the explanations of several methods side by side."""
