"""What a black box answers: scores or texts. A transport times one of these is a target.

A transport (an endpoint, a program, a function) asks and returns what came back. The parser of its
answers says what that means: probabilities of labels, of which hard labels are one kind, or texts.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from brittle.targets.answered_labels import KEYS, answered_labels, refuse_unnamed
from brittle.targets.fingerprints.hashing import format_rounded
from brittle.targets.json_replies import parse_json
from brittle.targets.labels import IF_IT_TRANSLATES, label_names
from brittle.targets.options import ScoreKind, TargetOptions, check_kind
from brittle.targets.protocols import Scores
from brittle.targets.scores import parse_answers
from brittle.targets.translators.texts import parse_texts

A = TypeVar("A")


class AnswerParser(Protocol[A]):
    """Parses what a transport brings back; `noun` names the answers in fingerprints."""

    noun: ClassVar[str]

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the classes; () of a translator."""
        ...

    @property
    def settings(self) -> tuple[str, ...]:
        """What makes a model that answers so another target, for fingerprints."""
        ...

    def parse(self, answers: Any, count: int, who: str) -> A:
        """Parse one answer for each of `count` items; `who` answered, in messages."""
        ...

    def read_line(self, line: str, who: str) -> Any:
        """Read the answer in a line that a program printed."""
        ...

    def learn(self, answer: Any, who: str) -> None:
        """Learn what nobody has said from the answer on a plain sentence."""
        ...

    def join(self, parts: Sequence[A]) -> A: ...

    def format(self, parsed: A) -> str:
        """Format answers for a fingerprint."""
        ...


@dataclass
class ScoreParser:
    """Answers that become probabilities of labels (see scores.py).

    `answered` are the labels as the model answers them, in its order, and `keys` those of an entry
    {label, score}. If nobody names the labels, it `learns` them from an answer, and every later one
    must name them too.
    """

    kind: ScoreKind
    labels: tuple[str, ...]
    answered: tuple[str, ...]
    keys: tuple[str, str] = KEYS
    learns: bool = False
    noun: ClassVar[str] = "scores"

    @staticmethod
    def of(
        options: TargetOptions,
        who: str,
        *,
        stated: Sequence[str] | None = None,
        scores: str = "auto",
        keys: tuple[str, str] = KEYS,
    ) -> ScoreParser:
        """Build it from the user's options; `stated` and `scores` are what the model itself says.

        Pictures have no plain sentence to ask about, so that their labels are never learnt.
        """
        kind = check_kind(options.scores if options.scores != "auto" else scores)
        if stated is None and options.labels is None and options.shape is None:
            return ScoreParser(kind, (), (), keys, learns=True)
        remedy = IF_IT_TRANSLATES if options.shape is None else ""
        labels = label_names(stated, options.labels, who, remedy)
        return ScoreParser(kind, labels, tuple(stated or labels), keys)

    @property
    def settings(self) -> tuple[str, ...]:
        return (*self.labels, self.kind)

    def parse(self, answers: Any, count: int, who: str) -> Scores:
        if self.learns:
            refuse_unnamed(answers, who, self.keys)
        return parse_answers(answers, count, self.answered, self.kind, who, self.keys)

    def read_line(self, line: str, who: str) -> Any:
        """Read JSON, or else a plain label."""
        try:
            return parse_json(line, who)
        except ValueError:
            return line

    def learn(self, answer: Any, who: str) -> None:
        if self.learns and not self.labels:
            self.labels = self.answered = answered_labels(answer, self.kind, who, self.keys)

    def join(self, parts: Sequence[Scores]) -> Scores:
        return np.concatenate([np.zeros((0, len(self.labels))), *parts])

    def format(self, parsed: Scores) -> str:
        return format_rounded(parsed)


@dataclass(frozen=True)
class TextParser:
    """Answers that are texts: the model translates."""

    labels: tuple[str, ...] = ()
    settings: tuple[str, ...] = ("text",)
    noun: ClassVar[str] = "texts"

    @staticmethod
    def of(options: TargetOptions) -> TextParser:
        """Build it; refuse options that only a classifier has."""
        options.refuse_classifier()
        return TextParser()

    def parse(self, answers: Any, count: int, who: str) -> list[str]:
        return parse_texts(answers, count, who)

    def read_line(self, line: str, who: str) -> Any:
        # Most plain lines are no JSON, and one that is a number is still a translation.
        if not line.startswith('"'):
            return line
        try:
            return parse_json(line, who)
        except ValueError:
            return line

    def learn(self, answer: Any, who: str) -> None:
        """Learn nothing: a translator has no labels."""

    def join(self, parts: Sequence[list[str]]) -> list[str]:
        return list(chain.from_iterable(parts))

    def format(self, parsed: list[str]) -> str:
        return json.dumps(parsed)
