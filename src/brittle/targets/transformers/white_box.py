"""What a transformers model shows of its inside, word by word or character by character.

Gradients are taken at the model's input vectors: the rows of its embedding table, before positions
are added. The gradient of a word is the sum over its pieces, its vector their mean; a character
has those of the piece that holds it. Edits are ranked by the vectors that a new word has in the
middle of a sentence (see `brittle.targets.transformers.vocabulary`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from brittle.errors import TargetError, unknown
from brittle.moves import Aim, Flipped, Level
from brittle.ranking.subwords import Pieces, Reading
from brittle.targets.protocols import Gradient
from brittle.targets.scores import probabilities
from brittle.targets.transformers.alignment import Alignment, aligned
from brittle.targets.transformers.instrumented import Twin
from brittle.targets.transformers.tokens import Tokens
from brittle.targets.transformers.vocabulary import dictionary, pieces_of
from brittle.text import Text

# Tokens of one pass: a backward pass keeps what every layer made of each of them.
TOKENS_CPU, TOKENS_GPU = 1024, 1 << 14
TOKENS_ATTENTION = 512  # for every layer and head, all pairs of the tokens of a text are kept
INPUT = "embedding"

Batch = tuple[list[int], dict[str, NDArray[np.int64]]]


class Inside:
    """The inside of a sequence classifier, asked by as many threads at once as may score."""

    def __init__(self, model: Any, tokens: Tokens, name: str, labels: Sequence[str]) -> None:
        self.model = model
        self.tokens = tokens
        self.name = name
        self.labels = labels
        self.most = TOKENS_CPU if model.device.type == "cpu" else TOKENS_GPU

    @property
    def layers(self) -> tuple[str, ...]:
        """Name the layers: the input vectors, then what each layer of the model makes of them."""
        return (INPUT, *(f"layer {n + 1}" for n in range(self.model.config.num_hidden_layers)))

    def flips(self, aims: Sequence[Aim]) -> list[Flipped]:
        """Give every text's scores and best edits, by one forward and one backward pass each."""
        found: dict[int, Flipped] = {}
        alignments = aligned([aim.text for aim in aims], self.tokens)
        for rows, scores, slope in self._slopes(aims, alignments):
            read = [_reading(aims[n], alignments[n], own) for n, own in zip(rows, slope)]
            for n, score, moves in zip(rows, scores, self._pieces.best(read)):
                found[n] = Flipped(score, moves)
        return [found[n] for n in range(len(aims))]

    def gradients(self, aims: Sequence[Aim]) -> list[Gradient]:
        """Give the slope of every aim's objective along the input vectors, and the scores."""
        found: dict[int, Gradient] = {}
        alignments = aligned([aim.text for aim in aims], self.tokens)
        for rows, scores, slope in self._slopes(aims, alignments):
            for n, score, own in zip(rows, scores, slope.double().cpu().numpy()):
                at = alignments[n]
                by_word = aims[n].space.level == "words"
                value = _shares(at)[0] @ own[: len(at.word)] if by_word else _spelt(at, own, 0.0)
                found[n] = Gradient(score, value)
        return [found[n] for n in range(len(aims))]

    def embeddings(self, items: Sequence[Text], layer: str, level: Level = "words") -> list[Any]:
        """Give the vectors of words, or of characters, as a layer has them."""
        if layer not in self.layers:
            raise unknown("layer", layer, self.layers)
        found: dict[int, Any] = {}
        alignments = aligned(items, self.tokens)
        for rows, arrays in self._batches(alignments, self.most):
            if layer == INPUT:
                vectors = self._table[arrays["input_ids"]]
            else:
                vectors = self._twin.hidden(arrays, self.layers.index(layer))
            for n, own in zip(rows, vectors.double().cpu().numpy()):
                at = alignments[n]
                if level == "characters":
                    found[n] = _spelt(at, own, np.nan)
                else:
                    found[n] = _shares(at)[1] @ own[: len(at.word)]
                    found[n][[not columns for columns in at.columns]] = np.nan
        return [found[n] for n in range(len(items))]

    def attention(self, items: Sequence[Text]) -> list[NDArray[np.float64]]:
        """Give the weights from word to word: layers × heads × words × words.

        What one word gives another is summed over the pieces of the one that gets, and is the mean
        over the pieces of the one that gives; words that are not read give and get nothing.
        """
        found: dict[int, NDArray[np.float64]] = {}
        alignments = aligned(items, self.tokens)
        for rows, arrays in self._batches(alignments, TOKENS_ATTENTION):
            layers = [weight.double().cpu().numpy() for weight in self._eager.attention(arrays)]
            for i, n in enumerate(rows):
                gets, gives = _shares(alignments[n])
                width = len(alignments[n].word)
                found[n] = np.stack([gives @ w[i, :, :width, :width] @ gets.T for w in layers])
        return [found[n] for n in range(len(items))]

    def _slopes(
        self, aims: Sequence[Aim], alignments: Sequence[Alignment]
    ) -> Iterator[tuple[list[int], list[list[float]], Tensor]]:
        """Give batches: which aims, their scores, and the slope at every token."""
        for rows, arrays in self._batches(alignments, self.most):
            logits, slope = self._twin.slopes(arrays, [aims[n] for n in rows])
            who = f"Target {self.name!r}"
            scores = probabilities(logits, len(rows), self.labels, "logits", who)
            yield rows, scores.tolist(), slope

    def _batches(self, alignments: Sequence[Alignment], most: int) -> Iterator[Batch]:
        keys = [alignment.placed.key for alignment in alignments]
        if not all(keys):
            raise TargetError(f"Target {self.name!r} reads no token at all in an empty text.")
        return self.tokens.batches(keys, most)

    @cached_property
    def _twin(self) -> Twin:
        return Twin(self.model, self.name)

    @cached_property
    def _eager(self) -> Twin:
        return Twin(self.model, self.name, eager=True)

    @cached_property
    def _table(self) -> Tensor:
        return self._twin.table()

    @cached_property
    def _pieces(self) -> Pieces:
        known = list(zip(*dictionary(self.tokens)))
        # A tokenizer may have more pieces than the model has vectors: those cannot be read.
        words = [word for word, piece in known if piece < len(self._table)]
        ids = [piece for _, piece in known if piece < len(self._table)]
        return Pieces(self._table, words, ids, partial(pieces_of, tokens=self.tokens))


def _reading(aim: Aim, alignment: Alignment, slope: Tensor) -> Reading:
    """Say what was read at the places of an aim; those that were cut off are left out."""
    places = [place for place in aim.places if alignment.columns[place]]
    columns = [alignment.columns[place] for place in places]
    ids = alignment.placed.ids
    return Reading(
        aim.space,
        places,
        [aim.text.words[place] for place in places],
        [ids[list(own)].tolist() for own in columns],
        slope[[column for own in columns for column in own]],
    )


def _shares(alignment: Alignment) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give what makes of values at tokens the sum, and the mean, of every word."""
    words = np.arange(len(alignment.columns))[:, None]
    total = (alignment.word == words).astype(np.float64)
    return total, total / np.maximum(total.sum(1, keepdims=True), 1.0)


def _spelt(
    alignment: Alignment, value: NDArray[np.float64], void: float
) -> list[NDArray[np.float64]]:
    """Give every character the row of its token, and a void one where it has none."""
    found = []
    for position in range(len(alignment.columns)):
        at = alignment.characters(position)
        rows = value[at]
        rows[at < 0] = void
        found.append(rows)
    return found
