"""Where candidates come from: for a word of a text, the words that may replace it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from brittle.proposals.neighbours import Neighbours
from brittle.proposals.synonyms import SubstituteTable, Synonyms

__all__ = ["Neighbours", "Proposal", "SubstituteTable", "Synonyms"]


class Proposal(Protocol):
    """A source of candidates for single words."""

    @property
    def needs_tags(self) -> bool:
        """Whether `of` uses the tag; if not, any string will do."""
        ...

    def prepare(self, words: Iterable[str]) -> None:
        """Prepare for the words that come next, if it is cheaper to look up many at once."""
        ...

    def of(self, word: str, tag: str) -> tuple[str, ...]:
        """List the candidates for a word with this Penn tag, in order."""
        ...
