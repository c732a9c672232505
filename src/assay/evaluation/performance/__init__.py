"""How well the model itself does its task."""
