"""Baselines that every other method should beat."""
