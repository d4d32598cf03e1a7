"""Programs as targets, asked line by line."""
