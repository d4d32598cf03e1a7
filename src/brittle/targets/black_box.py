"""Targets that are only asked: a transport, which brings answers, times what they are.

| transport | with scores | with texts |
|---|---|---|
| endpoint | `http:FILE.toml` | the same with `--answers text` |
| program | `cmd:PROGRAM ARGS` | the same with `--answers text` |
| function | `python:module:name`, a live one | the same, or a method `translate` |

A transport is one class, whatever its answers are: retries, deadlines and fingerprints stand in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Generic, Protocol, TypeVar

from brittle.targets.answer_parsers import AnswerParser, ScoreParser
from brittle.targets.protocols import (
    Scores,
    declared_by,
)

A = TypeVar("A", covariant=True)


class Transport(Protocol[A]):
    """Asks a model that nobody sees into. It declares what a target may (`TargetDeclarations`)."""

    @property
    def name(self) -> str: ...

    @property
    def answers(self) -> AnswerParser[Any]:
        """What the model answers, and how that is parsed."""
        ...

    def ask(self, items: Sequence[Any]) -> A:
        """Return the answers on all items, in order, parsed."""
        ...

    def hash(self) -> str:
        """Return the fingerprint of the target."""
        ...

    def close(self) -> None: ...


class BlackBox(Generic[A]):
    """What the two kinds of black boxes have in common: all but the method that is asked."""

    def __init__(self, transport: Transport[A]) -> None:
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
