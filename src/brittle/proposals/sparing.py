"""Leave stop words alone, whatever may replace them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from brittle.english.stop_words import is_stop_word
from brittle.proposals import Proposal


@dataclass(frozen=True)
class SparingStopWords:
    """A proposal that has no candidates for stop words, and else those of another one."""

    proposal: Proposal

    @property
    def needs_tags(self) -> bool:
        return self.proposal.needs_tags

    def prepare(self, words: Iterable[str]) -> None:
        """Hand on the words to come, but for the stop words."""
        self.proposal.prepare(word for word in words if not is_stop_word(word))

    def of(self, word: str, tag: str) -> tuple[str, ...]:
        """List the candidates of a word that is no stop word."""
        return () if is_stop_word(word) else self.proposal.of(word, tag)
