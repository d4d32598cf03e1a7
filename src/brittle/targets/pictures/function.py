"""Any Python function as a target: an array of pictures in, scores out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.errors import BrittleError, TargetError
from brittle.picture import Picture, Shape, stack
from brittle.targets.fingerprints.code import code_of
from brittle.targets.fingerprints.hashing import format_rounded, hash_parts
from brittle.targets.function import check_signature
from brittle.targets.labels import label_names
from brittle.targets.options import Labels, ScoreKind, check_kind
from brittle.targets.pictures.reading import picture_settings, probe_pictures
from brittle.targets.protocols import Scores
from brittle.targets.scores import parse_answers


@dataclass(frozen=True, eq=False)
class PictureFunction:
    """A function that scores an array of pictures × height × width × channels, from 0 to 1.

    `answered_labels` are those it answers with, in its order.
    """

    call: Callable[[NDArray[np.float32]], Any]
    name: str
    labels: tuple[str, ...]
    answered_labels: tuple[str, ...]
    shape: Shape
    kind: ScoreKind = "auto"
    item_kind: str = "picture"

    @property
    def label_only(self) -> bool:
        return self.kind == "label"

    @cached_property
    def fingerprint(self) -> str:
        """Hash the code, and the scores of fixed pictures if they are the same twice."""
        settings = picture_settings(self.shape, self.kind)
        about = (self.name, *self.labels, *settings, code_of(self.call))
        pictures = probe_pictures(self.shape)
        try:
            first, second = (format_rounded(self.scores(pictures)) for _ in range(2))
        except BrittleError:
            return hash_parts("code", *about)
        scores = (first,) if first == second else ()
        return hash_parts("scores" if scores else "code", *about, *scores)

    def scores(self, items: Sequence[Picture]) -> Scores:
        if not items:
            return np.zeros((0, len(self.labels)))
        who = f"Target {self.name!r}"
        pixels = stack(items, self.shape, who)
        try:
            answers = self.call(pixels)
        except BrittleError:
            raise
        except Exception as error:
            raise TargetError(f"{who} raised {type(error).__name__}: {error}") from error
        return parse_answers(answers, len(items), self.answered_labels, self.kind, who)


def of_picture_function(
    call: Callable[[Any], Any],
    shape: Shape,
    *,
    labels: Labels = None,
    scores: str = "auto",
    name: str | None = None,
) -> PictureFunction:
    """Build a target from a function; its labels are `labels`, or its attribute of that name."""
    name = name or getattr(call, "__qualname__", None) or type(call).__name__
    who = f"The function {name!r}"
    check_signature(call, who)
    attribute = getattr(call, "labels", None)
    stated = None if attribute is None else tuple(str(label) for label in attribute)
    names = label_names(stated, labels, who)
    return PictureFunction(call, name, names, stated or names, shape, check_kind(scores))
