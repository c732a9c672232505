"""Metrics against ground truth that is known by construction."""
