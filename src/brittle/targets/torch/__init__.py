"""Networks of the user's own: any torch module with an embedding table, as a target."""
