"""The protocol of the zoo's models, how one is opened, and linear models, which need no torch.

A bag of words times a matrix: the form that naive Bayes and the linear SVM share. The protocol of
the zoo's models, and how a model is opened from its folder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from brittle.errors import UsageError
from brittle.text import Text, Word
from brittle.zoo import folder as folders
from brittle.zoo.bilm import PART as BILM
from brittle.zoo.bilm import find_bilm
from brittle.zoo.families import family_of, no_target, open_checked
from brittle.zoo.folder import Card
from brittle.zoo.tokenizers import UNKNOWN, WordTokenizer

Array = NDArray[np.float64]
FIRST_WORD = 2
"""The rows before it: the padding, which holds the bias, and the unknown word."""


class Linear:
    """Scores texts as `counts @ weight + bias`, in numpy; the order of words is invisible to it."""

    parallel = 1  # numpy holds the interpreter for most of so short a call

    def __init__(self, vocabulary: WordTokenizer, weight: Array, bias: Array) -> None:
        self.vocabulary = vocabulary
        # Row 0, that of the padding, holds the bias: every bag begins with one 0.
        table = np.array(weight, dtype=np.float64)
        table[0] = bias
        self._columns = [np.ascontiguousarray(column) for column in table.T]

    @staticmethod
    def built(vocabulary: WordTokenizer, tensors: Mapping[str, NDArray[np.generic]]) -> Linear:
        weight, bias = tensors.get("weight"), tensors.get("bias")
        if weight is None or bias is None or weight.shape != (len(vocabulary), len(bias)):
            raise UsageError("its tensors are not a 'weight' of words x labels and a 'bias'")
        return Linear(vocabulary, weight.astype(np.float64), bias.astype(np.float64))

    def encode(self, items: Sequence[Text]) -> list[bytes]:
        return self.vocabulary.encode_bags(items)

    def digests(self, items: Sequence[Text]) -> list[bytes | None]:
        """Return a short stand-in of the key of every long text, None for short ones."""
        return self.vocabulary.bag_digests(items)

    def logits(self, keys: Sequence[bytes]) -> Array:
        """Sum the rows of each bag; a sum does not depend on the rest of the batch."""
        ids = np.frombuffer(b"".join(keys), dtype=np.int32)
        starts = np.zeros(len(keys), dtype=np.intp)
        np.cumsum([len(key) >> 2 for key in keys[:-1]], out=starts[1:])
        return np.stack([np.add.reduceat(c[ids], starts) for c in self._columns], axis=1)

    def word_logits(self, words: Sequence[Word]) -> Array:
        """Return what each word adds to the logits (words × labels); unknown words add nothing."""
        ids = np.array([self.vocabulary.token_id(word) for word in words], dtype=np.intp)
        rows = np.stack([column[ids] for column in self._columns], axis=1)
        rows[ids < FIRST_WORD] = 0.0
        return rows

    def close(self) -> None:
        self._columns = []


def open_linear(folder: Path, card: Card, device: str, hole_id: int) -> Linear:
    """Load a linear model; it does not count the unknown word, so that a hole adds nothing."""
    words = folders.load_words(folder / folders.VOCABULARY_FILE)
    tensors = folders.load_tensors(folder / folders.WEIGHTS_FILE)
    return Linear.built(WordTokenizer(words), tensors)


class Model(Protocol):
    """A model that reads encoded texts: `encode` returns the keys that `logits` takes."""

    @property
    def parallel(self) -> int: ...

    def encode(self, items: Sequence[Text]) -> list[bytes]: ...

    def logits(self, keys: Sequence[bytes]) -> NDArray[Any]:
        """Return raw scores of shape (keys, labels), for one key or more."""
        ...

    def close(self) -> None: ...


def open_model(folder: Path, device: str = "auto", hole_id: int = UNKNOWN) -> tuple[Card, Model]:
    """Load the card of a trained model, checked against its files, and the model itself.

    A network reads a hole as `hole_id`: as the unknown word, or as `PAD`, a zero vector.
    """
    card = folders.load_card_checked(folder)
    family = family_of(card)
    if family.no_target:
        raise no_target(family, card.full_name)
    if family.open is None or family.answers != "scores":
        raise UsageError(
            f"The model in {folder} is a {card.kind}, which this function does not open. Open it "
            "with brittle.as_target."
        )
    if BILM in card.parts:
        find_bilm(card.parts, folder.parent)  # here, where its errors are not those of weights
    model: Model = open_checked(folder, card, device, hole_id)
    return card, model
