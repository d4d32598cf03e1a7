"""Adversarial training: the methods, and how each changes the texts or the loss."""
