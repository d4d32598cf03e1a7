"""Copies of texts with random typing errors, after Key* of Ebrahimi et al. (2018).

Key* as an attack is greedy: of a few draws it keeps the one that the model gets most wrong. Here
all changes are random, and no model is asked. Of its training, the paper says only that it adds
Key* texts to the mini-batches.
"""

from __future__ import annotations

from random import Random
from string import ascii_letters, digits

from brittle.text import Text
from brittle.training.adversarial.methods import TypoTraining
from brittle.training.splits import LabelledTexts

LETTERS = ascii_letters + digits


def with_typos(text: Text, share: float, random: Random) -> Text:
    """Change a share of the characters of a text's words, each to another letter or digit.

    The share is rounded down, but at least one character changes, and none changes twice.
    """
    words = [list(str(word)) for word in text.words]
    indices = [(i, j) for i, word in enumerate(words) for j in range(len(word))]
    if not indices:
        return text
    for i, j in random.sample(indices, max(1, int(share * len(indices) + 1e-9))):
        words[i][j] = random.choice(LETTERS.replace(words[i][j], ""))
    return text.with_words(tuple(map("".join, words)))


def typo_copy(text: Text, method: TypoTraining, seed: int, epoch: int, row: int) -> Text:
    """Return the copy of text number `row`: another in each epoch, the same when resumed."""
    return with_typos(text, method.share, Random(f"{seed}:{epoch}:{row}"))


def typo_copies(
    clean: LabelledTexts, method: TypoTraining, seed: int, epoch: int = 0
) -> LabelledTexts:
    """Return a copy of every text, with the same labels."""
    texts = (typo_copy(text, method, seed, epoch, n) for n, text in enumerate(clean.texts))
    return LabelledTexts(tuple(texts), clean.label)
