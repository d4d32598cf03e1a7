"""First-order edits: what a target with gradients is asked, and what it answers.

A gradient tells, to first order, how much every edit of a text moves the objective (HotFlip,
Ebrahimi et al., 2018). The target ranks the edits beside the model and returns the best ones, each
as a word of the user's text and the word it becomes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from brittle.text import Text

Level = Literal["words", "characters"]
EditKind = Literal["swap", "flip", "insert", "delete"]
Estimate = Literal["paper", "word"]
CHARACTER_EDITS: tuple[EditKind, ...] = ("flip", "insert", "delete")


@dataclass(frozen=True)
class EditSpace:
    """Which edits are ranked, and by which objective.

    At the level "words" a word becomes another word of the target's vocabulary, and `kinds` is
    ignored. At the level "characters" one character of a word is flipped, inserted or deleted.
    `top_k` is the number of edits to return. The objective "loss" is the cross-entropy: it rises as
    the text leaves its true class or reaches the class `toward`. The objective "logit" is the raw
    score: minus that of the true class, or plus that of the class `toward`. With `sign`, edits are
    measured along the sign of the gradient. `cosine` is the smallest cosine allowed between the
    vectors of a word and its substitute; None allows any. The estimate "word" ranks the best edits
    of characters anew, by the vectors that a model computes of the new words.
    """

    level: Level = "words"
    kinds: tuple[EditKind, ...] = CHARACTER_EDITS
    top_k: int = 100
    objective: Literal["loss", "logit"] = "loss"
    sign: bool = False
    cosine: float | None = None
    estimate: Estimate = "paper"


@dataclass(frozen=True, slots=True)
class EditRequest:
    """A text, the class it should leave or reach, and the positions whose edits are ranked.

    `positions` lists words that the target reads.
    """

    text: Text
    label: int
    toward: int | None
    space: EditSpace
    positions: Sequence[int]

    @property
    def key(self) -> bytes:
        parts = (self.label, self.toward, self.space, tuple(self.positions))
        return repr(parts).encode() + b"\n" + self.text.key

    @property
    def size(self) -> int:
        return self.text.size


@dataclass(frozen=True, slots=True)
class Move:
    """One edit: the word at `position` becomes `new`.

    `character` is the index of the character that is flipped or deleted, or before which one is
    inserted. `in_vocabulary` tells whether the new word is a word of the target's vocabulary.
    """

    gain: float
    position: int
    new: str
    kind: EditKind
    character: int
    in_vocabulary: bool


class Moves(Protocol):
    """The best edits of one text, the highest gain first; each is spelt out when it is read."""

    @property
    def gain(self) -> NDArray[np.float64]: ...

    def __getitem__(self, n: int) -> Move: ...


@dataclass(frozen=True, slots=True)
class ScoredMoves:
    """What one forward and one backward pass tell of a text: its scores and its best edits."""

    scores: Any
    moves: Moves


@dataclass(frozen=True)
class GradientAnswer:
    """The gradient of a request's objective along the vectors of its text, and the scores.

    `value` has a row for every word (words × dimensions), zeros for words that the target does not
    read; for characters it has an array of characters × dimensions for every word.
    """

    scores: list[float]
    value: Any
