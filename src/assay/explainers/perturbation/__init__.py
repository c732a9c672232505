"""Methods that remove units and watch the output."""
