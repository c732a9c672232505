"""Fernandes et al. 2022, "Learning to Scaffold" (SMaT): students, plausibility, claims and page."""
