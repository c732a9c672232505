"""The public verbs, one file each. The command line calls these and nothing beside them."""
