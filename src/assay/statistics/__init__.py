"""Bootstrap intervals, paired tests and verdicts; see docs/statistics.md."""
