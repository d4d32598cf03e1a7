"""The words a tokenizer knows as one piece, and the pieces it reads any word as.

A word is looked at as it stands in the middle of a sentence, after a space: tokenizers that mark
the beginning of a word read it otherwise at the very beginning of a text or behind a bracket.
"""

from __future__ import annotations

from collections.abc import Sequence

from brittle.targets.transformers.tokenizer import TextTokenizer
from brittle.text import is_word

BEFORE = "a "
# How tokenizers write that a word begins here, or ends; those of them that have no decoder.
BEGINNINGS, ENDINGS = " ▁Ġ", ("</w>", " ")


def tokens_of(words: Sequence[str], tokens: TextTokenizer) -> list[tuple[int, ...]]:
    """Give the ids of the pieces that each word reads as, with the space before it."""
    first = len(BEFORE)
    told = tokens.backend.encode_batch([BEFORE + word for word in words], add_special_tokens=False)
    return [
        tuple(token for token, (_, stop) in zip(own.ids, own.offsets) if stop >= first)
        for own in told
    ]


def whole_words(tokens: TextTokenizer) -> tuple[list[str], list[int]]:
    """List the words that are read as one piece, in the order of the pieces' ids."""
    special = set(tokens.hf_tokenizer.all_special_ids)
    ids = sorted(set(tokens.backend.get_vocab().values()) - special)
    words = [_surface(tokens.backend.decode([token])) for token in ids]
    named = [(token, word) for token, word in zip(ids, words) if is_word(word)]
    read = tokens_of([word for _, word in named], tokens)
    kept = [(token, word) for (token, word), own in zip(named, read) if own == (token,)]
    return [word for _, word in kept], [token for token, _ in kept]


def _surface(token: str) -> str:
    for ending in ENDINGS:
        token = token.removesuffix(ending)
    return token.lstrip(BEGINNINGS)
