"""Where candidates come from: for a word of a text, the words that may replace it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from brittle.text import Text
from brittle.values import lazily

if TYPE_CHECKING:
    from brittle.candidates.careful import Careful
    from brittle.candidates.neighbours import Neighbours
    from brittle.candidates.synonyms import SubstituteTable, Synonyms

__all__ = ["Careful", "ContextProposal", "Neighbours", "Proposal", "SubstituteTable", "Synonyms"]


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


@runtime_checkable
class ContextProposal(Proposal, Protocol):
    """A source of candidates that looks at the sentence in which a word stands."""

    def in_context(self, text: Text, tags: Sequence[str]) -> Sequence[tuple[str, ...]]:
        """List the candidates for every position of a text with these Penn tags."""
        ...

    def fits(self, position: int, tags: Sequence[str], edited_tags: Sequence[str]) -> bool:
        """Tell whether a candidate at a position stays, by the tags before and after the swap."""
        ...


__getattr__ = lazily(
    __name__,
    {
        "careful": ("Careful",),
        "neighbours": ("Neighbours",),
        "synonyms": ("SubstituteTable", "Synonyms"),
    },
)
"""Those with large tables are imported when they are used."""
