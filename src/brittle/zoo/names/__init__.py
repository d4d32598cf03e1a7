"""The names of the zoo's models: the grid, the settings, and the parser of names."""
