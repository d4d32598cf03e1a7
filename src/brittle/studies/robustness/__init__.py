"""Robustness without labels: how far in latent space each target keeps its prediction."""
