"""Training: one loop for everything that learns, and the fine-tuning of classifiers with it."""
