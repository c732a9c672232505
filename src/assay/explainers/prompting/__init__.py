"""Methods that ask a language model in words."""
