"""Universal rules: mined from an ensemble or from word counts, checked and evaluated."""
