"""Methods that remove units and observe the output."""
