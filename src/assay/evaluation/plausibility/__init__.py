"""Metrics against human rationales."""
