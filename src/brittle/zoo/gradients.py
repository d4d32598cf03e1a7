"""Texts through a network and back: their scores, and the slope along the vectors of their words.

The way back is gone once for a whole batch of texts, each with an objective of its own. Weights are
read as they are when a `GradientPasses` is made, and are never changed. This file needs torch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from brittle.moves import EditRequest
from brittle.ranking.layout import Integers
from brittle.text import HOLE, Text, Word
from brittle.zoo.batches import pad_keys, split_by_words
from brittle.zoo.fast.character_gradients import CharacterPasses, CharacterStates
from brittle.zoo.fast.lstm_gradients import LstmGradients
from brittle.zoo.layers.encoders import TransformerEncoder
from brittle.zoo.scoring import NetworkModel
from brittle.zoo.tokenizers.characters import CharacterTokenizer
from brittle.zoo.tokenizers.words import positions_and_columns

# Of one pass: more needs memory and is no faster.
MAX_WORDS_PER_PASS = 1 << 13
MAX_STATES_PER_PASS = 1 << 20  # words × width of the encoder
MAX_ATTENTION_WEIGHTS_PER_PASS = 1 << 23  # of attention, over all heads and layers
MIN_TEXTS_FOR_FAST_LSTM = (
    64  # texts: below, torch's LSTMs are quicker than ours, which pay for every step in Python
)

WordColumns = tuple[Sequence[int], Sequence[int]]
"""The positions of some words of a text, and the column in which each is read."""


@dataclass(frozen=True, eq=False)
class EmbeddedTexts:
    """Texts at the entrance of the encoder.

    `distinct` are the vectors of the distinct words, and `which` of them stands where (texts ×
    words); `number` are their numbers in the vocabulary, and `spelt` their spellings, where the
    model reads spellings.
    """

    length: Integers
    which: Integers
    number: Integers
    distinct: Tensor
    spelt: CharacterStates | None = None

    @property
    def vectors(self) -> Tensor:
        """Give what the encoder takes: texts × words × size."""
        which = torch.from_numpy(self.which.reshape(-1)).to(self.distinct.device)
        return self.distinct.index_select(0, which).view(*self.which.shape, -1)

    @property
    def lengths(self) -> Tensor:
        return torch.from_numpy(self.length).to(self.distinct.device)


@dataclass(frozen=True, eq=False)
class WordGradients:
    """Texts that went there and back, and some of their words.

    `positions` and `words` have for every text the positions and the words looked at. For all of
    these, text after text, `which` are they among the distinct ones, and `gradient` is that of the
    text's objective along their vectors, on the CPU.
    """

    entered: EmbeddedTexts
    scores: list[list[float]]
    positions: Sequence[Sequence[int]]
    words: Sequence[Sequence[Word]]
    which: Integers
    gradient: Tensor

    @property
    def numbers(self) -> Integers:
        """Give the numbers of the words in the vocabulary."""
        return self.entered.number[self.which]

    @property
    def vectors(self) -> Tensor:
        """Give what the encoder takes for the words, on the CPU."""
        return self.entered.distinct.cpu().index_select(0, torch.from_numpy(self.which))

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Say for every text where its words begin and end."""
        ends = np.cumsum([len(words) for words in self.words]).tolist()
        return list(zip([0, *ends[:-1]], ends))

    def characters(self, most: int) -> tuple[Integers, Tensor]:
        """Give how many characters of each word are read, and the slope at each of them.

        Of words shorter than `most` there is a row more, for the place after the last character.
        """
        spelt = self.entered.spelt
        assert spelt is not None
        own = self.gradient[:, -spelt.steps[-1].shape[1] :]
        return spelt.length[self.which], spelt.back(self.which, own, most)


class GradientPasses:
    """Passes texts through a model, in batches sorted by length, and slopes back."""

    def __init__(self, model: NetworkModel) -> None:
        self.model = model
        self.network, self.reader, self.device = model.network, model.reader, model.device
        spelling = model.network.spelling
        self.speller = None if spelling is None else CharacterPasses(spelling)
        quick = self.device == "cpu" and LstmGradients.fits(self.network)
        self._lstm = LstmGradients(self.network) if quick else None

    def columns(self, text: Text) -> WordColumns:
        """Give the positions of the words of a text that are read, and their columns."""
        return positions_and_columns(text, self.model.reads, self.model.vocabulary.pairs)

    def _aimed(self, aim: EditRequest) -> WordColumns:
        """Give the places aimed at, and their columns.

        Words that are not read are left out, and so are holes where characters are meant.
        """
        positions, columns = self.columns(aim.text)
        kept, words = aim.positions, aim.text.words
        if aim.space.level == "characters" and (HOLE in words or "" in words):
            kept = [
                position
                for position in kept
                if isinstance(words[position], str) and words[position]
            ]
        if isinstance(columns, range):
            if kept and max(kept) >= len(columns):
                kept = [position for position in kept if position in columns]
            return kept, kept
        at = dict(zip(positions, columns))
        kept = [position for position in kept if position in at]
        return kept, [at[position] for position in kept]

    def entered(self, items: Sequence[Text]) -> Iterator[tuple[list[int], EmbeddedTexts]]:
        """Bring texts to the entrance of the encoder, some at a time; say which."""
        keys = self.model.encode(items)
        if keys:
            for some in split_by_words(keys, self._most(keys)):
                yield some, self._enter([keys[n] for n in some])

    def _most(self, keys: Sequence[bytes]) -> int:
        """Say how many words, with padding, one pass takes: all passes about as many."""
        lengths = [len(key) >> 2 for key in keys]
        most = min(MAX_WORDS_PER_PASS, MAX_STATES_PER_PASS // self.network.encoder.width)
        if isinstance(self.network.encoder, TransformerEncoder):
            layers: list[Any] = list(self.network.encoder.layers)
            heads = sum(layer.heads for layer in layers)
            most = min(most, MAX_ATTENTION_WEIGHTS_PER_PASS // (heads * max(lengths)))
        count = -(-sum(lengths) // max(1, most))
        return int(1.15 * sum(lengths) / count) + 1

    def seen(self, aims: Sequence[EditRequest]) -> Iterator[tuple[list[int], WordGradients]]:
        """Go there and back with texts, some at a time; say which."""
        for some, entered in self.entered([aim.text for aim in aims]):
            mine = [aims[n] for n in some]
            where = [self._aimed(aim) for aim in mine]
            words = [
                [aim.text.words[i] for i in positions] for aim, (positions, _) in zip(mine, where)
            ]
            text = np.repeat(np.arange(len(some)), [len(positions) for positions, _ in where])
            column = np.array([at for _, columns in where for at in columns], dtype=np.int64)
            scores, gradient = self._slopes(entered, mine, text, column)
            which = entered.which[text, column]
            positions = [positions for positions, _ in where]
            yield some, WordGradients(entered, scores.tolist(), positions, words, which, gradient)

    def _enter(self, keys: Sequence[bytes]) -> EmbeddedTexts:
        rows, length = pad_keys(keys)
        distinct, which = np.unique(rows, return_inverse=True)
        parts, number, spelt = [], distinct, None
        if isinstance(self.reader, CharacterTokenizer):
            number = self.reader.words(distinct)
        with torch.no_grad():
            if self.network.embedding is not None:
                parts.append(self.network.embedding(torch.from_numpy(number).to(self.device)))
            if self.speller is not None and isinstance(self.reader, CharacterTokenizer):
                spelt = self.speller.read(self.reader.characters(distinct))
                parts.append(spelt.steps[-1].to(self.device))
            vectors = parts[0] if len(parts) == 1 else torch.cat(parts, dim=1)
        return EmbeddedTexts(length, which.reshape(rows.shape), number, vectors, spelt)

    def _slopes(
        self, entered: EmbeddedTexts, aims: Sequence[EditRequest], text: Integers, column: Integers
    ) -> tuple[Tensor, Tensor]:
        """Give the scores of texts, and the slopes at some of their words."""
        if self._lstm is not None and len(aims) >= MIN_TEXTS_FOR_FAST_LSTM:
            with torch.no_grad():
                passed = self._lstm.forward(entered.distinct, entered.which, entered.length)
                scores = passed.logits.double().softmax(dim=1)
                gradient = passed.back(_at_logits(scores, aims).to(passed.logits))
            rows = torch.from_numpy(column * len(aims) + text)
            return scores, gradient.transpose(1, 2).flatten(0, 1).index_select(0, rows)
        with torch.enable_grad(), _backward_of_rnns(self.device):
            vectors = entered.vectors.requires_grad_()
            logits = self.network.judged(vectors, entered.lengths)
            scores = logits.detach().cpu().double().softmax(dim=1)
            [gradient] = torch.autograd.grad(logits, vectors, _at_logits(scores, aims).to(logits))
        rows = torch.from_numpy(text * entered.which.shape[1] + column)
        return scores, gradient.cpu().flatten(0, 1).index_select(0, rows)


def _at_logits(scores: Tensor, aims: Sequence[EditRequest]) -> Tensor:
    """Give the slope of every objective along the logits z.

    The objective of `of` "loss" is −log p of the label or +log p of the class aimed at, that of
    "logit" −z or +z. For 1 − p the sum of the others is taken, so that nothing cancels.
    """
    of = torch.tensor([a.label if a.toward is None else a.toward for a in aims])
    way = torch.tensor([-1.0 if a.toward is None else 1.0 for a in aims], dtype=torch.float64)
    loss = torch.tensor([a.space.objective == "loss" for a in aims])
    row = torch.arange(len(aims))
    gradient = -scores * loss[:, None]
    gradient[row, of] = 0.0
    gradient[row, of] = torch.where(loss, -gradient.sum(dim=1), 1.0)
    return gradient * way[:, None]


def _backward_of_rnns(device: str) -> AbstractContextManager[Any]:
    """Let LSTMs go back in evaluation mode, which cuDNN cannot."""
    if not device.startswith("cuda"):
        return nullcontext()
    return torch.backends.cudnn.flags(enabled=False)
