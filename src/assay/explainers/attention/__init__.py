"""Methods that read or change attention."""
