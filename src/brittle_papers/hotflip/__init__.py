"""HotFlip (Ebrahimi et al., 2018)."""
