"""Generators: models that encode items as points of a latent space, and decode points."""
