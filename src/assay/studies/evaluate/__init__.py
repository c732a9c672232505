"""Evaluate: rank methods by metrics on one model and data set."""
