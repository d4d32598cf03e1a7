"""First-order edits: what a target with gradients is asked, and what it answers.

A gradient says of every edit of a text, to first order, how much it moves the objective (HotFlip,
Ebrahimi et al., 2018). The target ranks them beside the model: what comes back are the best
ones, each as a word of the user's text and what it becomes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from brittle.text import Text

Level = Literal["words", "characters"]
Kind = Literal["swap", "flip", "insert", "delete"]
CHARACTER_KINDS: tuple[Kind, ...] = ("flip", "insert", "delete")


@dataclass(frozen=True)
class Space:
    """Which edits are ranked, and by what.

    With `level` "words" a word becomes another word of the target's dictionary (`kinds` is
    ignored); with "characters" one character of a word is flipped, inserted or deleted. `top` is
    how many edits are wanted. The objective is the cross-entropy (`of` "loss": it rises as the
    true class is left, or the class aimed at is reached) or, for "logit", the raw score: minus
    that of the true class, or plus that of the class aimed at. With `sign` a word's direction is
    the sign of its gradient. `cosine` is the least cosine of the vectors of a word and its
    substitute; None asks for none.
    """

    level: Level = "words"
    kinds: tuple[Kind, ...] = CHARACTER_KINDS
    top: int = 100
    of: Literal["loss", "logit"] = "loss"
    sign: bool = False
    cosine: float | None = None


@dataclass(frozen=True, slots=True)
class Aim:
    """A text, the class it should leave or reach, and the edits to rank at some of its words.

    `places` are positions of words; only those the model reads may stand there.
    """

    text: Text
    label: int
    toward: int | None
    space: Space
    places: Sequence[int]

    @property
    def key(self) -> bytes:
        told = repr((self.label, self.toward, self.space, tuple(self.places))).encode()
        return told + b"\n" + self.text.key

    @property
    def size(self) -> int:
        return self.text.size


@dataclass(frozen=True, slots=True)
class Move:
    """One edit: the word at `place` becomes `new`.

    `at` is the character that is flipped or deleted, or before which one is inserted. `known` says
    whether the new word is itself one of the target's dictionary.
    """

    gain: float
    place: int
    new: str
    kind: Kind
    at: int
    known: bool


class Moves(Protocol):
    """The best edits of one text, the highest gain first; spelt out only when looked at."""

    @property
    def gain(self) -> NDArray[np.float64]: ...

    def __getitem__(self, n: int) -> Move: ...


@dataclass(frozen=True, slots=True)
class Flipped:
    """What one forward and one backward pass say of a text: its scores and its best edits."""

    scores: Any
    moves: Moves
