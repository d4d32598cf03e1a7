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
from brittle.moves import EditRequest, Gradient, Level, ScoredMoves
from brittle.ranking.subwords import SubwordEdits, TokenGradients
from brittle.targets.scores import as_probabilities
from brittle.targets.transformers.alignment import Alignment, align_texts
from brittle.targets.transformers.instrumented import InstrumentedModel
from brittle.targets.transformers.tokenizer import TextTokenizer
from brittle.targets.transformers.vocabulary import tokens_of, whole_words
from brittle.text import Text

# Tokens of one pass: a backward pass keeps what every layer made of each of them.
TOKENS_PER_PASS_CPU, TOKENS_PER_PASS_GPU = 1024, 1 << 14
TOKENS_PER_ATTENTION_PASS = (
    512  # for every layer and head, all pairs of the tokens of a text are kept
)
INPUT = "embedding"

Batch = tuple[list[int], dict[str, NDArray[np.int64]]]


class TransformersWhiteBox:
    """The inside of a sequence classifier, asked by as many threads at once as may score."""

    def __init__(self, model: Any, tokens: TextTokenizer, name: str, labels: Sequence[str]) -> None:
        self.model = model
        self.tokens = tokens
        self.name = name
        self.labels = labels
        self.most = TOKENS_PER_PASS_CPU if model.device.type == "cpu" else TOKENS_PER_PASS_GPU

    @property
    def layers(self) -> tuple[str, ...]:
        """Name the layers: the input vectors, then what each layer of the model makes of them."""
        return (INPUT, *(f"layer {n + 1}" for n in range(self.model.config.num_hidden_layers)))

    def flips(self, aims: Sequence[EditRequest]) -> list[ScoredMoves]:
        """Give every text's scores and best edits, by one forward and one backward pass each."""
        found: dict[int, ScoredMoves] = {}
        alignments = align_texts([aim.text for aim in aims], self.tokens)
        for rows, scores, gradient in self._slopes(aims, alignments):
            read = [_reading(aims[n], alignments[n], own) for n, own in zip(rows, gradient)]
            for n, score, moves in zip(rows, scores, self._pieces.best(read)):
                found[n] = ScoredMoves(score, moves)
        return [found[n] for n in range(len(aims))]

    def gradients(self, aims: Sequence[EditRequest]) -> list[Gradient]:
        """Give the slope of every aim's objective along the input vectors, and the scores."""
        found: dict[int, Gradient] = {}
        alignments = align_texts([aim.text for aim in aims], self.tokens)
        for rows, scores, gradient in self._slopes(aims, alignments):
            for n, score, own in zip(rows, scores, gradient.double().cpu().numpy()):
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
        alignments = align_texts(items, self.tokens)
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
        alignments = align_texts(items, self.tokens)
        for rows, arrays in self._batches(alignments, TOKENS_PER_ATTENTION_PASS):
            layers = [weight.double().cpu().numpy() for weight in self._eager.attention(arrays)]
            for i, n in enumerate(rows):
                gets, gives = _shares(alignments[n])
                width = len(alignments[n].word)
                found[n] = np.stack([gives @ w[i, :, :width, :width] @ gets.T for w in layers])
        return [found[n] for n in range(len(items))]

    def _slopes(
        self, aims: Sequence[EditRequest], alignments: Sequence[Alignment]
    ) -> Iterator[tuple[list[int], list[list[float]], Tensor]]:
        """Give batches: which aims, their scores, and the slope at every token."""
        for rows, arrays in self._batches(alignments, self.most):
            logits, gradient = self._twin.slopes(arrays, [aims[n] for n in rows])
            who = f"Target {self.name!r}"
            scores = as_probabilities(logits, len(rows), self.labels, "logits", who)
            yield rows, scores.tolist(), gradient

    def _batches(self, alignments: Sequence[Alignment], most: int) -> Iterator[Batch]:
        keys = [alignment.tokens.key for alignment in alignments]
        if not all(keys):
            raise TargetError(f"Target {self.name!r} reads no token at all in an empty text.")
        return self.tokens.batches(keys, most)

    @cached_property
    def _twin(self) -> InstrumentedModel:
        return InstrumentedModel(self.model, self.name)

    @cached_property
    def _eager(self) -> InstrumentedModel:
        return InstrumentedModel(self.model, self.name, eager=True)

    @cached_property
    def _table(self) -> Tensor:
        return self._twin.table()

    @cached_property
    def _pieces(self) -> SubwordEdits:
        known = list(zip(*whole_words(self.tokens)))
        # A tokenizer may have more pieces than the model has vectors: those cannot be read.
        words = [word for word, piece in known if piece < len(self._table)]
        ids = [piece for _, piece in known if piece < len(self._table)]
        return SubwordEdits(self._table, words, ids, partial(tokens_of, tokens=self.tokens))


def _reading(aim: EditRequest, alignment: Alignment, gradient: Tensor) -> TokenGradients:
    """Say what was read at the places of an aim; those that were cut off are left out."""
    positions = [place for place in aim.positions if alignment.columns[place]]
    columns = [alignment.columns[place] for place in positions]
    ids = alignment.tokens.ids
    return TokenGradients(
        aim.space,
        positions,
        [aim.text.words[place] for place in positions],
        [ids[list(own)].tolist() for own in columns],
        gradient[[column for own in columns for column in own]],
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
