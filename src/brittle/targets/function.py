"""Any Python function as a target: texts in, scores out.

The function gets a list of strings, or a list of dicts where the texts have several fields. It
gives back a table of probabilities (texts × labels), or one answer per text: a label, a map
label → score, or, where declared, a single number.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from brittle.errors import BrittleError, TargetError, UsageError
from brittle.named import import_named
from brittle.targets.fingerprints import hashing as fingerprints
from brittle.targets.fingerprints.code import code_of
from brittle.targets.labels import Labels, label_names
from brittle.targets.protocols import Scores
from brittle.targets.rendering import render
from brittle.targets.scores import ScoreKind, check_kind, parse_answers
from brittle.text import Text


@dataclass(frozen=True, eq=False)
class Function:
    """A function that scores texts; `own` are the labels it answers with, in its order."""

    call: Callable[[list[Any]], Any]
    name: str
    labels: tuple[str, ...]
    own: tuple[str, ...]
    kind: ScoreKind = "auto"
    mask: str = ""
    fields: tuple[str, ...] = ("text",)

    @property
    def label_only(self) -> bool:
        return self.kind == "label"

    @cached_property
    def fingerprint(self) -> str:
        """Hash the code, and the scores on fixed sentences where these can be had twice alike.

        The scores tell of weights loaded from a file, which are not in the code. A function that
        takes other fields, or answers at random, is known by its code alone.
        """
        about = (self.name, *self.labels, self.kind, self.mask, code_of(self.call))
        asked = fingerprints.probes(self.fields)
        try:
            first, second = (fingerprints.rounded(self.scores(asked)) for _ in range(2))
        except BrittleError:
            return fingerprints.of_parts("code", *about)
        if first != second:
            return fingerprints.of_parts("code", *about)
        return fingerprints.of_parts("scores", *about, first)

    def scores(self, items: Sequence[Text]) -> Scores:
        if not items:
            return np.zeros((0, len(self.labels)))
        who = f"Target {self.name!r}"
        texts = [render(item, self.mask) for item in items]
        try:
            answers = self.call(texts)
        except BrittleError:
            raise
        except Exception as error:
            raise TargetError(f"{who} raised {type(error).__name__}: {error}") from error
        return parse_answers(answers, len(items), self.own, self.kind, who)


def of_function(
    call: Callable[[list[Any]], Any],
    *,
    labels: Labels = None,
    scores: str = "auto",
    mask: str = "",
    name: str | None = None,
    fields: Sequence[str] = ("text",),
) -> Function:
    """Make a target of a function; its labels are given, or stand in its attribute `labels`."""
    title = name or getattr(call, "__qualname__", None) or type(call).__name__
    who = f"The function {title!r}"
    _takes_texts(call, who)
    stated = getattr(call, "labels", None)
    own = None if stated is None else tuple(str(label) for label in stated)
    chosen = label_names(own, labels, who)
    return Function(call, title, chosen, own or chosen, check_kind(scores), mask, tuple(fields))


def import_target(spec: str) -> Any:
    """Import what `python:module:name` names.

    Nothing is called: a class or a function that makes a model is not a target, its result is.
    """
    return import_named(spec, "python:my_models:classify")


def _takes_texts(call: Any, who: str) -> None:
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
        return  # a builtin without a signature: the first call will tell
