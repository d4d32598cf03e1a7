"""The words that are one token of a tokenizer, and the tokens of any word.

A word is tokenized as in the middle of a sentence, after a space: tokenizers that mark the
beginning of a word read it otherwise at the very beginning of a text or after a bracket.
"""

from __future__ import annotations

from collections.abc import Sequence

from brittle.english.common_words import frequency_rank
from brittle.errors import MissingPackage
from brittle.targets.transformers.tokenizer import TextTokenizer
from brittle.text import is_word

CONTEXT = "a "
# How tokenizers that have no decoder mark the beginning or the end of a word.
BEGINNINGS, ENDINGS = " ▁Ġ", ("</w>", " ")


def tokens_of(words: Sequence[str], tokenizer: TextTokenizer) -> list[tuple[int, ...]]:
    """Return the token ids of each word, with the space before it."""
    start = len(CONTEXT)
    texts = [CONTEXT + word for word in words]
    return [
        tuple(token for token, (_, stop) in zip(text.ids, text.offsets) if stop >= start)
        for text in tokenizer.backend.encode_batch(texts, add_special_tokens=False)
    ]


def whole_words(tokenizer: TextTokenizer) -> tuple[list[str], list[int]]:
    """List the words that are one token, and their token ids, in the order of the ids."""
    special = set(tokenizer.hf_tokenizer.all_special_ids)
    ids = sorted(set(tokenizer.backend.get_vocab().values()) - special)
    words = [tokenizer.backend.decode([token]) for token in ids]
    for ending in ENDINGS:
        words = [word.removesuffix(ending) for word in words]
    words = [word.lstrip(BEGINNINGS) for word in words]
    possible = [(token, word) for token, word in zip(ids, words) if is_word(word)]
    tokenized = tokens_of([word for _, word in possible], tokenizer)
    whole = [pair for pair, word_tokens in zip(possible, tokenized) if word_tokens == pair[:1]]
    return [word for _, word in whole], [token for token, _ in whole]


def words_by_frequency(tokenizer: TextTokenizer) -> tuple[str, ...]:
    """List the words that are one token, the most frequent first; without single characters.

    WordPiece lists its words by frequency, behind the characters. Other tokenizers list them by
    another rule: theirs are in the order of GloVe's table, if that is installed, and words that it
    does not have come last.
    """
    if tokenizer.backend is None:
        return ()
    words = [word for word in whole_words(tokenizer)[0] if len(word) > 1]
    if type(tokenizer.backend.model).__name__ != "WordPiece":
        try:
            rank = frequency_rank()
        except MissingPackage:
            return tuple(words)
        words.sort(key=lambda word: rank.get(word.lower(), len(rank)))
    return tuple(dict.fromkeys(words))
