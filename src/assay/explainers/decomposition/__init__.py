"""Methods that decompose hidden states into the contributions of input positions."""
