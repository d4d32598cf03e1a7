"""Studies: questions about targets and runs that no single attack answers."""
