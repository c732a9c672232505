"""Controls and combinations: what the others are measured against, and several in one."""
