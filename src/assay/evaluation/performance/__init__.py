"""Metrics of the model's own performance on its task."""
