"""Pages and tables of studies: many sources and targets at once, from stored figures only."""
