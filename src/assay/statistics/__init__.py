"""How sure the numbers are: bootstrap intervals, paired tests, and verdicts in plain words. docs/statistics.md."""
