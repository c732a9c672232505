"""Several methods combined into one."""
