"""The language model that a biLM is trained as: it predicts the words on both sides.

This file needs torch.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from brittle.zoo.layers.bilm import BiLM
from brittle.zoo.names.settings import LanguageModelSettings
from brittle.zoo.networks import Batch
from brittle.zoo.tokenizers.words import PAD, SPECIAL_WORDS

BILM_PREFIX = "bilm."  # of the names of the biLM's tensors in the file
TAIL_SHRINKS_BY = 2.0  # the features of a rarer group of words, by those of the group before


class LanguageModel(nn.Module):
    """A `BiLM` that predicts the next word forward and backward, with one softmax for both."""

    def __init__(self, settings: LanguageModelSettings, words: int, characters: int) -> None:
        super().__init__()
        classes = words - len(SPECIAL_WORDS)
        cutoffs = sorted({max(1, classes // 10), max(2, 2 * classes // 5)})
        self.bilm = BiLM(settings, characters)
        # One feature more, always 1: torch's softmax has no biases for rare words.
        self.softmax = nn.AdaptiveLogSoftmaxWithLoss(
            settings.hidden + 1, classes, cutoffs, div_value=TAIL_SHRINKS_BY
        )

    def begin_with_frequencies(self, count: Tensor) -> None:
        """Set the first weights so that words are predicted by their counts in the train split.

        If the frequencies were still to be learnt, the states of the LSTMs would all become one
        large constant, and learn next to nothing of the words for a long time.
        """
        edges = [0, *self.softmax.cutoffs]
        groups = [count[start:end].double() for start, end in pairwise(edges)]
        totals = torch.stack([group.sum() for group in groups[1:]])
        tails: list[Any] = list(self.softmax.tail)
        with torch.no_grad():
            self.softmax.head.weight[:, -1] = _log_shares(torch.cat([groups[0], totals]))
            for (enter, out), group in zip(tails, groups[1:]):
                enter.weight[0], enter.weight[:, -1] = 0.0, 0.0
                enter.weight[0, -1] = 1.0
                out.weight[:, 0] = _log_shares(group)

    def losses(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Compute the losses of the predicted words, forward and backward.

        The first word of a text is predicted backward only, the last one forward only, and words
        outside the vocabulary never.
        """
        assert batch.words is not None
        vectors = self.bilm.dropout(self._word_vectors(batch))
        states = self.bilm.layers(vectors, batch.length)[-1]
        ahead, back = self.bilm.dropout(states).chunk(2, dim=2)
        before, after = batch.words[:, :-1], batch.words[:, 1:]
        # Behind the last word of a text stands padding, from which nothing is predicted.
        before = before.masked_fill(after == PAD, PAD)
        return self._loss(ahead[:, :-1], after), self._loss(back[:, 1:], before)

    def _word_vectors(self, batch: Batch) -> Tensor:
        assert batch.characters is not None and batch.which is not None
        spelling = self.bilm.spelling
        length = (batch.characters != 0).sum(dim=1)
        vectors: Tensor = spelling(spelling.embed(batch.characters), length)
        return vectors[batch.which]

    def _loss(self, states: Tensor, words: Tensor) -> Tensor:
        known = words >= len(SPECIAL_WORDS)
        target = words[known] - len(SPECIAL_WORDS)
        if not len(target):
            return states.new_zeros(0)
        features = nn.functional.pad(states[known], (0, 1), value=1.0)
        loss: Tensor = -self.softmax(features, target).output
        return loss


def _log_shares(count: Tensor) -> Tensor:
    return (count / count.sum()).log().float()
