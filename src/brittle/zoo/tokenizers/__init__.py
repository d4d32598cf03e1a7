"""How texts become the numbers that a model of the zoo reads."""
