"""Studies: questions about targets and runs that no single attack answers."""

SUFFIX = ".study.json"
"""The ending of study files."""
