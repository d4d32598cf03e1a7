"""Several attacks on several targets, on the same cases."""
