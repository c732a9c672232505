"""Metrics of how concentrated an explanation is."""
