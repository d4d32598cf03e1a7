"""Programs as targets, which answer line by line."""
