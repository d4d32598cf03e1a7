"""What comes back from a target, parsed and checked: scores, labels or texts.

JSON as endpoints and programs answer it; an object that names a key twice is refused. The texts
that translators answer: checked, and cut where one has no end. What a black box answers: scores or
texts. A transport times one of these is a target.

A transport (an endpoint, a program, a function) asks and returns what came back. The parser of its
answers says what that means: probabilities of labels, of which hard labels are one kind, or texts.

Targets that are only asked: a transport, which brings answers, times what they are.

| transport | with scores | with texts |
|---|---|---|
| endpoint | `http:FILE.toml` | the same with `--answers text` |
| program | `cmd:PROGRAM ARGS` | the same with `--answers text` |
| function | `python:module:name`, a live one | the same, or a method `translate` |

A transport is one class, whatever its answers are: retries, deadlines and fingerprints stand in it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np

from brittle.errors import TargetError
from brittle.redaction import redact, short_repr
from brittle.targets.fingerprints import format_rounded
from brittle.targets.labels import (
    IF_IT_TRANSLATES,
    KEYS,
    answered_labels,
    label_names,
    refuse_unnamed,
)
from brittle.targets.options import ScoreKind, TargetOptions, check_kind
from brittle.targets.protocols import Scores, declared_by
from brittle.targets.scores import parse_answers
from brittle.text import Text


def parse_json(content: str | bytes, who: str) -> Any:
    """Parse a reply; raise ValueError if it is not JSON.

    Of two scores for one label the parser would keep the last and say nothing.
    """

    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        built = dict(pairs)
        if len(built) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise TargetError(
                f"{who} named {twice!r} twice in one JSON object. Expected every key once."
            )
        return built

    try:
        return json.loads(content, object_pairs_hook=build)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


CHARACTERS_PER_CHARACTER, EXTRA_CHARACTERS = 20, 200
"""The longest translation: 20 characters for each character of the source, plus 200."""


def parse_texts(answers: Any, count: int, who: str) -> list[str]:
    """Return the answers of any translator as a list of strings, one for every text."""
    if isinstance(answers, str | bytes | Mapping):
        raise TargetError(
            f"{who} gave {short_repr(answers)}, a {type(answers).__name__}, for {count} texts. "
            "Expected a list with a string for every text."
        )
    try:
        texts = list(answers)
    except TypeError as error:
        raise TargetError(
            f"{who} gave {short_repr(answers)} for {count} texts. Expected a list with a string "
            "for every text."
        ) from error
    if len(texts) != count:
        raise TargetError(
            f"{who} gave {len(texts)} answers for {count} texts. Expected one for every text, in "
            "order."
        )
    return [_check_text(text, who) for text in texts]


def max_characters(item: Text) -> int:
    """Return how long the translation of a text can be before it is cut."""
    return CHARACTERS_PER_CHARACTER * len(item.render()) + EXTRA_CHARACTERS


def cut(texts: Sequence[str], items: Sequence[Text]) -> list[str]:
    """Cut translations that are far longer than their sources: a decoder may never stop."""
    return [text[: max_characters(item)] for text, item in zip(texts, items)]


def _check_text(text: Any, who: str) -> str:
    if not isinstance(text, str):
        raise TargetError(
            f"{who} gave {short_repr(text)}, a {type(text).__name__}, as a translation. "
            "Expected a string: take it out of the object that contains it."
        )
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise TargetError(
            f"{who} gave a translation that is not valid Unicode: {error}."
        ) from error
    return redact(str(text))


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

    def join(self, parts: Sequence[A]) -> A: ...

    def format(self, parsed: A) -> str:
        """Format answers for a fingerprint."""
        ...


class LineParser(AnswerParser[A], Protocol[A]):
    """Parses what a program brings back, which answers in lines."""

    def read_line(self, line: str, who: str) -> Any:
        """Read the answer in a line that a program printed."""
        ...

    def learn(self, answer: Any, who: str) -> None:
        """Learn what nobody has said from the answer on a plain sentence."""
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


A_co = TypeVar("A_co", covariant=True)


class Transport(Protocol[A_co]):
    """Asks a model that nobody sees into. It declares what a target may (`TargetDeclarations`)."""

    @property
    def name(self) -> str: ...

    @property
    def answers(self) -> AnswerParser[Any]:
        """What the model answers, and how that is parsed."""
        ...

    def ask(self, items: Sequence[Any]) -> A_co:
        """Return the answers on all items, in order, parsed."""
        ...

    def hash(self) -> str:
        """Return the fingerprint of the target."""
        ...

    def close(self) -> None: ...


class BlackBox(Generic[A_co]):
    """What the two kinds of black boxes have in common: all but the method that is asked."""

    def __init__(self, transport: Transport[A_co]) -> None:
        self.transport = transport
        self.name = transport.name
        self.labels = transport.answers.labels
        self.item_kind: str = declared_by(transport, "item_kind")
        self.parallel: int = declared_by(transport, "parallel")
        self.costly: bool = declared_by(transport, "costly")
        self.batch: int | None = declared_by(transport, "batch")
        self.in_process: bool = declared_by(transport, "in_process")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.transport!r})"

    @cached_property
    def fingerprint(self) -> str:
        return self.transport.hash()

    def close(self) -> None:
        self.transport.close()


class BlackBoxClassifier(BlackBox[Scores]):
    """Scores items."""

    @property
    def label_only(self) -> bool:
        answers = self.transport.answers
        return isinstance(answers, ScoreParser) and answers.kind == "label"

    def scores(self, items: Sequence[Any]) -> Scores:
        return self.transport.ask(items)


class BlackBoxTranslator(BlackBox[list[str]]):
    """Answers every text by a text."""

    def translate(self, items: Sequence[Any]) -> list[str]:
        return self.transport.ask(items)


def of_transport(transport: Transport[Any]) -> BlackBoxClassifier | BlackBoxTranslator:
    """Build the target that a transport and its answers make."""
    if isinstance(transport.answers, ScoreParser):
        return BlackBoxClassifier(transport)
    return BlackBoxTranslator(transport)
