"""Studies: one folder each, with its settings, jobs, result and page."""
