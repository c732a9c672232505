"""Methods that take hidden states apart into what each position brought."""
