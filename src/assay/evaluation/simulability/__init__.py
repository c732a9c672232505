"""Simulability: how well students predict what a teacher says, with and without its explanations."""
