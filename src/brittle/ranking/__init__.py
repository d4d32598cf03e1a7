"""First-order edits ranked by their gain, for any model with gradients."""
