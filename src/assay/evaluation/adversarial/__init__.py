"""Attacks on explanations, and what they changed."""
