"""The name of a row: an attack, and its own settings behind it."""

from __future__ import annotations


def split_row(row: str) -> tuple[str, list[str]]:
    """Split an attack into its name and its own settings.

    >>> split_row("gs-ec:nearest=50"), split_row("python:mine:shout:times=2")
    (('gs-ec', ['nearest=50']), ('python:mine:shout', ['times=2']))
    """
    parts = row.split(":")
    own = [part for part in parts if "=" in part]
    return ":".join(part for part in parts if "=" not in part), own
