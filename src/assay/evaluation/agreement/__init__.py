"""How much two methods say the same."""
