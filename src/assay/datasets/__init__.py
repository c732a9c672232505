"""Data sets: built-in examples, files, the Hugging Face hub, and generators with known ground truth."""
