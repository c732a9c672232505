"""Methods that follow the gradient of the model."""
