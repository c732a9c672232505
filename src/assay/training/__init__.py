"""Training: a generic, resumable loop, and the fine-tuning of classifiers."""
