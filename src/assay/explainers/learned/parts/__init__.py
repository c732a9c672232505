"""What learned explainers are made of: losses, soft masks, attribution models, alignment, folders."""
