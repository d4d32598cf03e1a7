"""Studies: questions asked of targets and runs that no single attack answers."""
