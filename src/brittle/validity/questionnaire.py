"""What people are asked: questions about one or two panels of an item, in order.

A panel is a text or a picture: an original, or an adversary. Which is which stands in the key, not
on the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

QuestionKind = Literal["label", "scale", "yes-no", "which"]
Arrangement = Literal["mixed", "adversaries", "shuffled", "rivals"]
"""What the panels of an item are.

mixed: one of original and adversary, then the other one. adversaries: an adversary, then its
original. shuffled: original and adversary in random order, side by side. rivals: the adversaries of
one case from two runs in random order, then their original.
"""
WORDS: Mapping[str, Mapping[str, str]] = {
    "text": {"thing": "text", "say": "say", "write": "write", "written": "written", "read": "read"},
    "picture": {
        "thing": "picture",
        "say": "show",
        "write": "draw",
        "written": "drawn",
        "read": "see",
    },
}
CANNOT_TELL = "cannot tell"
YES, NO = "yes", "no"
FIRST, SECOND = "first", "second"


@dataclass(frozen=True)
class Question:
    """One question; `shows` are the panels that are seen with it, `about` those it asks about.

    Once a question that shows more is asked, the answers before it stay as they are. `choices`
    are the captions of a scale, from 1 up. In words and captions, {thing} and the other names of
    `WORDS` stand for what fits a text, or a picture.
    """

    key: str
    kind: QuestionKind
    words: str
    shows: tuple[int, ...] = (0,)
    about: tuple[int, ...] = (0,)
    choices: tuple[str, ...] = ()

    def answers(self, labels: Sequence[str]) -> list[str | int]:
        """List the answers that may be given; `labels` are those of the run.

        >>> Question("same", "yes-no", "Is it the same?").answers(())
        ['yes', 'no']
        """
        if self.kind == "label":
            return [*labels, CANNOT_TELL]
        if self.kind == "scale":
            return list(range(1, len(self.choices) + 1))
        return [YES, NO] if self.kind == "yes-no" else [FIRST, SECOND]


@dataclass(frozen=True)
class Questionnaire:
    """A list of questions, and what they are asked about.

    `originals` is the share of items whose first panel is an original, if both are mixed;
    `by_class` takes equally many of every class. Its table has the `median` person's share, or
    shares `relative` to the largest, where the paper's has. `source` is the paper it is from, if it
    is from one, and `differs` says where it is not what that paper did, or what is not known.
    """

    name: str
    about: str
    arrangement: Arrangement
    questions: tuple[Question, ...]
    captions: tuple[str, ...]
    guidelines: tuple[str, ...]
    originals: float = 0.0
    by_class: bool = False
    median: bool = False
    relative: bool = False
    source: str = ""
    differs: str = ""

    @property
    def remark(self) -> str:
        """Which paper it is from, and what differs; nothing if it is our own."""
        return f"As in {self.source}. {self.differs}" if self.source else ""

    @property
    def asks_label(self) -> bool:
        return any(question.kind == "label" for question in self.questions)

    @property
    def needs_two_runs(self) -> bool:
        return self.arrangement == "rivals"

    def by_key(self) -> Mapping[str, Question]:
        return {question.key: question for question in self.questions}
