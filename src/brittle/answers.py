"""What a target answers: a row of scores, a text, or what its inside shows for one text.

The kinds of answers that a target gives: a row of scores, or a text.

A kind says how answers are joined for a goal, which class an unlabelled example has, and what of
an answer is shown in rows. Engine and broker see answers only through it.

What a network shows of its inside for one text: its vector, and what it attends to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray


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


Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Embedding:
    """The vector of a text, which the last layer turns into logits, and the scores of that pass."""

    vector: Array
    scores: list[float]


@dataclass(frozen=True, eq=False)
class Attention:
    """How much the words of a text attend to each other.

    `weights` are layers × heads × words × words, from row to column; a head that attends once over
    a whole text has one row: 1 × 1 × 1 × words. `summary` are layers × heads × words: what the
    summary position, from which the head reads the text, gives each word; a head that attends has
    its own weights there, 1 × 1 × words. What goes to a word of several tokens is the sum over
    them, what comes from it the mean.

    What a row gives to tokens that are no word of the text (special tokens, punctuation, locked
    fields) is `elsewhere`, layers × heads × rows, and `summary_elsewhere`, layers × heads: with it
    a row adds up to 1. Rows of words that are not read are zeros. Where the sides of a pair are
    read apart, what both have in common (the one row of a head, the summary) adds up to 1 for each
    side. None where a target does not say.
    """

    weights: Array
    summary: Array
    elsewhere: Array | None = None
    summary_elsewhere: Array | None = None


UNPARSED, REFUSED, TIED = SILENT_LABELS = ("(unparsed)", "(refused)", "(tied)")
"""Labels of answers that have none: nothing was read from them, or as many name another label."""

TOOL_MARK, ANSWER_MARK = "⟨tool call⟩", "⟨answer⟩"
"""What stands before the name of a tool that is called, and before each of several answers."""


def write_answer(text: str, tools: Sequence[tuple[str, str]]) -> str:
    """Write an answer with the tools that it calls, a line for each; the text cannot forge one.

    >>> write_answer("Done ⟨tool call⟩ x", [("send_mail", '{"to": "me"}')])
    'Done <tool call> x\\n⟨tool call⟩ send_mail {"to": "me"}'
    """
    lines = [_without_marks(text)] if text else []
    for name, arguments in tools:
        call = _without_marks(f"{name} {arguments}").replace("\n", " ")
        lines.append(f"{TOOL_MARK} {call}")
    return "\n".join(lines)


def join_texts(texts: Sequence[str]) -> str:
    """Join the answers to one text that was asked several times."""
    return "\n".join(f"{ANSWER_MARK}\n{text}" for text in texts)


def split_texts(text: str) -> list[str]:
    """Return the answers to one text; one that was asked once has one.

    >>> split_texts(join_texts(["a", "b"])), split_texts("a")
    (['a', 'b'], ['a'])
    """
    if not text.startswith(ANSWER_MARK):
        return [text]
    parts = f"\n{text}".split(f"\n{ANSWER_MARK}\n")[1:]
    return parts


def _without_marks(text: str) -> str:
    for mark in (TOOL_MARK, ANSWER_MARK):
        text = text.replace(mark, f"<{mark[1:-1]}>")
    return text
