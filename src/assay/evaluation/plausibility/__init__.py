"""Metrics against what people marked as the reason."""
