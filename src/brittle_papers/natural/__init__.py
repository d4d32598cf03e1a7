"""Natural adversaries, searched for in the latent space of a generator: pictures."""
