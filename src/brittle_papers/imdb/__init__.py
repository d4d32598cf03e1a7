"""Word attacks on sentiment models, on IMDb reviews."""
