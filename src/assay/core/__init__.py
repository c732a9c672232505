"""Types, specs, names, seeds and errors. Imports nothing of the rest of Assay."""
