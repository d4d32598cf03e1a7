"""Adversarial training: the methods, and how each changes what a model learns from."""
