"""Types, specs, catalogues, seeds and errors. Imports no other part of Assay."""
