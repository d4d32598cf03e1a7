"""Targets: adapters that make a classifier or a translator of anything that answers questions."""
