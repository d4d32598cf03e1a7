"""Stop words without candidates, whatever the source of candidates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from brittle.english.stop_words import is_clitic, is_stop_word
from brittle.proposals import Proposal


@dataclass(frozen=True)
class SparingStopWords:
    """A proposal with the candidates of another one, but none for stop words.

    Tokens of contractions ("n't", "ll") are stop words, and are no candidates either.
    """

    proposal: Proposal

    @property
    def needs_tags(self) -> bool:
        return self.proposal.needs_tags

    def prepare(self, words: Iterable[str]) -> None:
        """Pass on the words that come next, without the stop words."""
        self.proposal.prepare(word for word in words if not is_stop_word(word))

    def of(self, word: str, tag: str) -> tuple[str, ...]:
        """List the candidates of a word; a stop word has none."""
        if is_stop_word(word):
            return ()
        return tuple(form for form in self.proposal.of(word, tag) if not is_clitic(form))
