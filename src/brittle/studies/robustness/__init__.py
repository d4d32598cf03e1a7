"""Robustness without labels: how far from an item, in latent space, each target changes its mind."""
