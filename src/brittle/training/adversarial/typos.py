"""Typing errors: copies of texts with random characters changed (Key* of Ebrahimi et al., 2018)."""

from __future__ import annotations

from random import Random
from string import ascii_letters, digits

from brittle.text import Text
from brittle.training.adversarial.methods import Key
from brittle.training.splits import Side

LETTERS = ascii_letters + digits


def typed(text: Text, share: float, random: Random) -> Text:
    """Change a share of the characters of a text's words, each to another letter or digit.

    The share is rounded down, but at least one character changes, and none twice.
    """
    words = [list(str(word)) for word in text.words]
    spots = [(i, at) for i, word in enumerate(words) for at in range(len(word))]
    if not spots:
        return text
    for i, at in random.sample(spots, max(1, int(share * len(spots) + 1e-9))):
        words[i][at] = random.choice(LETTERS.replace(words[i][at], ""))
    return text.with_words(tuple(map("".join, words)))


def copy(text: Text, key: Key, seed: int, epoch: int, number: int) -> Text:
    """Give the copy of a text in an epoch: another one in each, and the same when resumed."""
    return typed(text, key.share, Random(f"{seed}:{epoch}:{number}"))


def copies(side: Side, key: Key, seed: int, epoch: int = 0) -> Side:
    """Give a copy of every text of a side."""
    texts = (copy(text, key, seed, epoch, n) for n, text in enumerate(side.texts))
    return Side(tuple(texts), side.label)
