"""The public functions of Assay, one file each."""
