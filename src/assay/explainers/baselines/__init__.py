"""Baselines that every other method must beat."""
