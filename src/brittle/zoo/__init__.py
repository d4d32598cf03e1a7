"""Our own models: a declared grid of names, what each reads, and the folders they are kept in."""
