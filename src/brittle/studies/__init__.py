"""Studies: questions about targets and runs that no single attack answers."""

SUFFIX = ".study.json"
"""How the names of the files of studies end."""
