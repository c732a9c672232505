"""Measures of agreement between two methods."""
