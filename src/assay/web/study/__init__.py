"""The pages of a human study: participants answer, administrators watch."""
