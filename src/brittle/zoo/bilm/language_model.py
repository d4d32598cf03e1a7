"""The language model that a biLM is trained as: it predicts the words on both sides.

This file needs torch.
"""

from __future__ import annotations

from torch import Tensor, nn

from brittle.zoo.layers.bilm import BiLM
from brittle.zoo.names.settings import LanguageModelSettings
from brittle.zoo.networks import Batch
from brittle.zoo.tokenizers.words import SPECIAL_WORDS

BILM_PREFIX = "bilm."  # of the names of the biLM's tensors in the file
TAIL_SHRINKS_BY = 2.0  # the features of a rarer group of words, by those of the group before


class LanguageModel(nn.Module):
    """A `BiLM` that predicts the next word forward and backward, with one softmax for both."""

    def __init__(self, settings: LanguageModelSettings, words: int, characters: int) -> None:
        super().__init__()
        classes = words - len(SPECIAL_WORDS)
        cutoffs = sorted({max(1, classes // 10), max(2, 2 * classes // 5)})
        self.bilm = BiLM(settings, characters)
        self.softmax = nn.AdaptiveLogSoftmaxWithLoss(
            settings.hidden, classes, cutoffs, div_value=TAIL_SHRINKS_BY
        )

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
        return -self.softmax(states[known], target).output  # type: ignore[no-any-return]
