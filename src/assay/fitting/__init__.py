"""Fitting learned explainers to a model."""
