"""Attacks on explanations, and measures of their effect."""
