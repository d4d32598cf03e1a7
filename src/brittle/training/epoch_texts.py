"""What a network learns from, epoch by epoch: the train side, and what hardening adds to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from brittle.text import Text
from brittle.training.adversarial import typos as typing
from brittle.training.adversarial.attacked import SaveModel, texts_for_epoch
from brittle.training.adversarial.methods import AttackTraining, TypoTraining
from brittle.training.job import TrainingJob

E = TypeVar("E")


class EpochTexts(Generic[E]):
    """The encoded texts and the labels of an epoch; those an attack has added stand at the end."""

    def __init__(
        self,
        job: TrainingJob,
        encode: Callable[[tuple[Text, ...]], list[E]],
        size: Callable[[E], int],
        save: SaveModel,
    ) -> None:
        self.job, self._encode, self._size, self._save = job, encode, size, save
        self.epoch = 0
        self.texts, self.label = list(job.train.texts), list(job.train.label)
        self.encoded = encode(job.train.texts)

    @property
    def plain(self) -> int:
        """Count the epochs before the first attack: what they lead to is not hardened yet."""
        return self.job.hardening.every if isinstance(self.job.hardening, AttackTraining) else 0

    def begin(self, epoch: int) -> list[int]:
        """Make the texts of an epoch ready; gives their lengths."""
        self.epoch = epoch
        if isinstance(self.job.hardening, AttackTraining):
            added = texts_for_epoch(self.job, self.job.hardening, epoch, self._save)
            own = len(self.job.train)
            self.texts[own:], self.label[own:] = added.texts, added.label
            self.encoded[own:] = self._encode(added.texts) if added.texts else []
        return [self._size(row) for row in self.encoded]

    def typed(self, rows: Sequence[int]) -> tuple[Text, ...]:
        """Give copies of some texts with typing errors, others in each epoch."""
        key = self.job.hardening
        assert isinstance(key, TypoTraining)
        copy, seed = typing.typo_copy, self.job.seed
        return tuple(copy(self.texts[i], key, seed, self.epoch, i) for i in rows)
