"""The kinds of answers that a target gives: a row of scores, or a text.

A kind says how answers are joined for a goal, which class an unlabelled example has, and what of
an answer is shown in rows. Engine and broker see answers only through it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np


class AnswerColumns(NamedTuple):
    """An answer as it stands in a row: label and confidence, or the text; None is empty."""

    label: str | None = None
    confidence: float | None = None
    text: str | None = None


class AnswerKind(Protocol):
    """One kind of answers; `noun` names them in messages."""

    @property
    def noun(self) -> str: ...

    def join(self, answers: Sequence[Any]) -> Any:
        """Join single answers into what a goal judges: an array of rows, or a list of texts."""
        ...

    def reference(self, answer: Any) -> int | None:
        """Return the class that counts as true if an example has no label, or None."""
        ...

    def columns(self, answer: Any, labels: Sequence[str]) -> AnswerColumns:
        """Return what is shown of one answer."""
        ...


@dataclass(frozen=True)
class Scores:
    """A row of probabilities, one for each label of the target."""

    noun: str = "scores"

    def join(self, answers: Sequence[Any]) -> Any:
        return np.array(answers, dtype=np.float64)

    def reference(self, answer: Any) -> int | None:
        return int(np.argmax(answer))

    def columns(self, answer: Any, labels: Sequence[str]) -> AnswerColumns:
        return AnswerColumns(labels[int(np.argmax(answer))], float(np.max(answer)))


@dataclass(frozen=True)
class Texts:
    """A text, such as a translation; there is no label and no confidence."""

    noun: str = "texts"

    def join(self, answers: Sequence[Any]) -> Any:
        return list(answers)

    def reference(self, answer: Any) -> int | None:
        return None

    def columns(self, answer: Any, labels: Sequence[str]) -> AnswerColumns:
        return AnswerColumns(text=str(answer))


SCORES: AnswerKind = Scores()
TEXTS: AnswerKind = Texts()


def find_label(name: str, labels: Sequence[str]) -> int | None:
    """Find the index of a label; case and outer blanks may differ if only one label fits then.

    >>> find_label(" Positive", ["negative", "positive"]), find_label("good", ["bad", "fine"])
    (1, None)
    """
    if name in labels:
        return list(labels).index(name)
    indices = [i for i, label in enumerate(labels) if plain_label(label) == plain_label(name)]
    return indices[0] if len(indices) == 1 else None


def plain_label(name: str) -> str:
    """Write a label as it is compared: without regard to case and outer blanks."""
    return str(name).strip().casefold()
