"""Sanity checks: does an explanation depend on the model that it explains?"""
