"""Models of the zoo as targets."""
