"""Substitutes that were read one by one: words that can stand for a word, and those that cannot.

The table (substitutes.txt) is a text for people: its first lines say how it is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

SHIPPED = Path(__file__).with_name("substitutes.txt")
NEVER, SOMETIMES, MOSTLY = GRADES = (0, 1, 2)
"""How a substitute was read: not found fit; fit by meaning or neighbours; fit nearly everywhere."""


class Substitutes:
    """Grades of the substitutes that were read, by lemma and part of speech."""

    def __init__(self, grades: Mapping[tuple[str, str], Mapping[str, int]]) -> None:
        self._grades = grades

    @staticmethod
    def from_table(table: str) -> Substitutes:
        """Parse a table as substitutes.txt describes it."""
        grades: dict[tuple[str, str], dict[str, int]] = {}
        pos = ""
        for line in table.splitlines():
            if line.startswith("#"):
                pos = line[1:]
            elif line and not line.startswith("%"):
                word, _, others = line.partition(":")
                grades[word, pos] = {
                    other.rstrip("?"): SOMETIMES if other.endswith("?") else MOSTLY
                    for other in others.split()
                }
        return Substitutes(grades)

    def of(self, lemma: str, pos: str) -> Mapping[str, int]:
        """Return the substitutes of a word that were found fit, with their grades."""
        return self._grades.get((lemma, pos), {})

    def grade(self, lemma: str, other: str, pos: str) -> int | None:
        """Return how a substitute was read, None if the word was not."""
        grades = self._grades.get((lemma, pos))
        return None if grades is None else grades.get(other, NEVER)


@cache
def substitutes() -> Substitutes:
    """Load the shipped table, once per process."""
    return Substitutes.from_table(SHIPPED.read_text("utf-8"))
