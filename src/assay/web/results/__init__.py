"""The results page: the runs of a store, their progress, tables and figures, and two evaluations side by side."""
