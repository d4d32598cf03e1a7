"""Which words may stand where: the first question of every word-swapping attack."""

from __future__ import annotations

from collections.abc import Sequence

from brittle.asks import Case, Search, Tag
from brittle.proposals import Proposal
from brittle.text import Text, Word

Options = Sequence[tuple[str, ...]]


def substitutes(case: Case[Text], proposal: Proposal) -> Search[Options]:
    """List for every position the words that may replace the one there.

    Words that the target does not read have none. Parts of speech are asked for only where the
    proposal looks at them.
    """
    text, read = case.text, set(case.positions)
    tags: Sequence[str] = ("",) * len(text)
    if proposal.needs_tags:
        tags = (yield from Tag([text]))[0]
    proposal.prepare(word for word in text.words if isinstance(word, str))
    return [
        _of(proposal, word, tag) if i in read else ()
        for i, (word, tag) in enumerate(zip(text.words, tags))
    ]


def max_words(text: Text, share: float) -> int:
    """Say how many words a share of the text is: rounded down, but at least one."""
    return max(1, int(share * len(text) + 1e-9))


def _of(proposal: Proposal, word: Word, tag: str) -> tuple[str, ...]:
    return proposal.of(word, tag) if isinstance(word, str) else ()
