"""Models: loading, encoding, logits, gradients and attention of Hugging Face transformers."""
