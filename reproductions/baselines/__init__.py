"""The five metrics of the AML paper (Attributive Masking Learning) for every method."""
