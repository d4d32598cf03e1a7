"""The zoo's generators: models that encode items as latent points, and decode points."""
