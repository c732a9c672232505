"""The MSc thesis "Assessing the Interpretability of Large Language Models"."""
