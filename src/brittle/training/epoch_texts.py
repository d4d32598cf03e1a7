"""The texts that a network learns from, epoch by epoch: the train split and adversarial texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from brittle.text import Text
from brittle.training.adversarial.attacked import SaveModel, texts_for_epoch
from brittle.training.adversarial.methods import AttackTraining, LevelTraining, TypoTraining
from brittle.training.adversarial.typos import typo_copy
from brittle.training.adversarial.variants import variants_for_epoch
from brittle.training.job import Job

E = TypeVar("E")


class EpochTexts(Generic[E]):
    """The encoded texts and labels of an epoch; what an attack or a level added comes last."""

    def __init__(
        self,
        job: Job,
        encode: Callable[[tuple[Text, ...]], list[E]],
        length: Callable[[E], int],
        save: SaveModel,
    ) -> None:
        self.job, self._encode, self._length, self._save = job, encode, length, save
        self.epoch = 0
        self.texts, self.label = list(job.train.texts), list(job.train.label)
        self.encoded = encode(job.train.texts)

    @property
    def clean_epochs(self) -> int:
        """Return the number of epochs before the first attack; their model is not hardened."""
        return self.job.method.every if isinstance(self.job.method, AttackTraining) else 0

    def prepare(self, epoch: int) -> list[int]:
        """Prepare the texts of an epoch; return their lengths."""
        self.epoch = epoch
        if isinstance(self.job.method, AttackTraining | LevelTraining):
            if isinstance(self.job.method, AttackTraining):
                added = texts_for_epoch(self.job, self.job.method, epoch, self._save)
            else:
                added = variants_for_epoch(self.job, epoch)
            first = len(self.job.train)
            self.texts[first:], self.label[first:] = added.texts, added.label
            self.encoded[first:] = self._encode(added.texts) if added.texts else []
        return [self._length(row) for row in self.encoded]

    def typo_copies(self, rows: Sequence[int]) -> tuple[Text, ...]:
        """Return copies of some texts with typing errors, which differ in each epoch."""
        method, seed = self.job.method, self.job.seed
        assert isinstance(method, TypoTraining)
        return tuple(typo_copy(self.texts[i], method, seed, self.epoch, i) for i in rows)
