"""Data: built-in examples, files, hub data sets and generators with known truth."""
