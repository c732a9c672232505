"""Metrics against a truth that is known by construction."""
