"""Reproductions of published results; each folder is one paper."""
