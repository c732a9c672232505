"""Explainers that are fitted: a small model that reads an input and gives its explanation in one pass."""
