"""Methods based on the gradient of the model."""
