"""The tokens of a transformers tokenizer, aligned with the words of the user's text."""

from __future__ import annotations

from collections.abc import Sequence

from brittle.targets.alignment import Alignment, align
from brittle.targets.transformers.tokenizer import TextTokenizer
from brittle.text import Text


def align_texts(items: Sequence[Text], tokenizer: TextTokenizer) -> list[Alignment]:
    """Tokenize texts, and find the word of every token."""
    tokenized = tokenizer.tokenize(items)
    return [align(item, tokens, tokenizer.mask) for item, tokens in zip(items, tokenized)]


def words_read(items: Sequence[Text], tokenizer: TextTokenizer) -> list[Sequence[int]]:
    """Return for every text the positions of the words that are read.

    If the tokenizer does not know the offsets of its tokens, all words count as read.
    """
    if tokenizer.backend is None:
        return [range(len(item)) for item in items]
    return [alignment.read for alignment in align_texts(items, tokenizer)]
