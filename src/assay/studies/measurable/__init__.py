"""ROAR's curves without retraining, from one model fine-tuned with masks."""
