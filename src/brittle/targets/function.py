"""Any Python function as a target: texts in, scores out.

The function receives a list of strings, or a list of dicts if the texts have several fields. It
returns a table of probabilities (texts × labels), or one answer per text: a label, a map
label → score, or, if declared, a single number.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from brittle.errors import BrittleError, TargetError, UsageError
from brittle.targets.answered_labels import answered_labels, learns_labels, refuse_unnamed
from brittle.targets.fingerprints.code import code_of
from brittle.targets.fingerprints.hashing import format_rounded, hash_parts, probe_texts
from brittle.targets.labels import IF_IT_TRANSLATES, label_names
from brittle.targets.options import Labels, ScoreKind, check_kind
from brittle.targets.protocols import Scores
from brittle.targets.rendering import render
from brittle.targets.scores import parse_answers
from brittle.text import Text


@dataclass(frozen=True, eq=False)
class Function:
    """A function that scores texts; `answered_labels` are those it answers with, in its order.

    A function whose labels were `learnt` from an answer must name them in every answer.
    """

    call: Callable[[list[Any]], Any]
    name: str
    labels: tuple[str, ...]
    answered_labels: tuple[str, ...]
    kind: ScoreKind = "auto"
    mask: str = ""
    fields: tuple[str, ...] = ("text",)
    learnt: bool = False

    @property
    def label_only(self) -> bool:
        return self.kind == "label"

    @cached_property
    def fingerprint(self) -> str:
        """Hash the code, and the scores of fixed sentences if they are the same twice.

        The scores depend on weights loaded from a file, which the code does not show. If the
        function fails on the sentences, or answers at random, only its code is hashed.
        """
        about = (self.name, *self.labels, self.kind, self.mask, code_of(self.call))
        texts = probe_texts(self.fields)
        try:
            first, second = (format_rounded(self.scores(texts)) for _ in range(2))
        except BrittleError:
            return hash_parts("code", *about)
        return (
            hash_parts("scores", *about, first) if first == second else hash_parts("code", *about)
        )

    def scores(self, items: Sequence[Text]) -> Scores:
        if not items:
            return np.zeros((0, len(self.labels)))
        who = f"Target {self.name!r}"
        answers = _ask(self.call, [render(item, self.mask) for item in items], who)
        if self.learnt:
            refuse_unnamed(answers, who)
        return parse_answers(answers, len(items), self.answered_labels, self.kind, who)


def of_function(
    call: Callable[[list[Any]], Any],
    *,
    labels: Labels = None,
    scores: str = "auto",
    mask: str = "",
    name: str | None = None,
    fields: Sequence[str] = ("text",),
) -> Function:
    """Build a target from a function; its labels are `labels`, or its attribute of that name.

    Without either they are those that its answer on a plain sentence names.
    """
    name = name or getattr(call, "__qualname__", None) or type(call).__name__
    who = f"The function {name!r}"
    check_signature(call, who)
    attribute = getattr(call, "labels", None)
    stated = None if attribute is None else tuple(str(label) for label in attribute)
    kind, learnt = check_kind(scores), learns_labels(stated, labels)
    if learnt:
        names = _learn_labels(call, kind, mask, fields, who)
    else:
        names = label_names(stated, labels, who, IF_IT_TRANSLATES)
    return Function(call, name, names, stated or names, kind, mask, tuple(fields), learnt)


def _learn_labels(
    call: Callable[[list[Any]], Any], kind: ScoreKind, mask: str, fields: Sequence[str], who: str
) -> tuple[str, ...]:
    """Ask a function about a plain sentence; a failure leaves the labels unknown."""
    try:
        answers = _ask(call, [render(probe_texts(fields)[0], mask)], who)
        answer = answers[0]
    except (TargetError, TypeError, LookupError):
        return label_names(None, None, who, IF_IT_TRANSLATES)
    return answered_labels(answer, kind, who)


def _ask(call: Callable[[list[Any]], Any], texts: list[Any], who: str) -> Any:
    try:
        return call(texts)
    except BrittleError:
        raise
    except Exception as error:
        raise TargetError(f"{who} raised {type(error).__name__}: {error}") from error


def check_signature(call: Any, who: str) -> None:
    """Refuse what cannot be called with one argument, the items."""
    if isinstance(call, type):
        raise UsageError(
            f"{who} is a class. brittle calls nothing to make a target: put an instance of it in "
            "the module, such as model = Model(), and name that."
        )
    try:
        inspect.signature(call).bind([])
    except TypeError as error:
        raise UsageError(
            f"{who} cannot be called with one argument, a list of texts ({error}). If it makes a "
            "model, name the model it makes."
        ) from error
    except ValueError:
        return  # a builtin has no signature: the first call shows whether it fits
