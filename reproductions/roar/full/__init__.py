"""Full-scale plans of ROAR. Not run here."""
