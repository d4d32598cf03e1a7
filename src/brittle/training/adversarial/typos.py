"""Typing errors: copies of texts with random characters changed (Key* of Ebrahimi et al., 2018)."""

from __future__ import annotations

from random import Random
from string import ascii_letters, digits

from brittle.text import Text
from brittle.training.adversarial.methods import TypoTraining
from brittle.training.splits import LabelledTexts

LETTERS = ascii_letters + digits


def with_typos(text: Text, share: float, random: Random) -> Text:
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


def typo_copy(text: Text, key: TypoTraining, seed: int, epoch: int, number: int) -> Text:
    """Give the copy of a text in an epoch: another one in each, and the same when resumed."""
    return with_typos(text, key.share, Random(f"{seed}:{epoch}:{number}"))


def typo_copies(side: LabelledTexts, key: TypoTraining, seed: int, epoch: int = 0) -> LabelledTexts:
    """Give a copy of every text of a side."""
    texts = (typo_copy(text, key, seed, epoch, n) for n, text in enumerate(side.texts))
    return LabelledTexts(tuple(texts), side.label)
