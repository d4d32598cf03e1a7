"""HTTP endpoints as targets."""
