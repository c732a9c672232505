"""How concentrated an explanation is."""
