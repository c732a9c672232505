"""The public verbs, one file each. The command line calls only these."""
