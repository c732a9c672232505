"""Human judgements of explanations: rankings, guesses, agreement, and verdicts in words."""
