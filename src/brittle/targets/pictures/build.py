"""A target on pictures from a torch module or a function."""

from __future__ import annotations

from typing import Any, cast

from brittle.errors import UsageError, require
from brittle.picture import Shape
from brittle.targets.function import of_function
from brittle.targets.options import TargetOptions
from brittle.targets.protocols import Classifies
from brittle.targets.registry import TargetKind


def check_reads(kind: TargetKind, spec: str, options: TargetOptions) -> None:
    """Refuse a kind of target that reads texts, if the data are pictures."""
    if options.shape is not None and kind.texts_only:
        raise UsageError(
            f"The data are pictures, but {spec!r} is a kind of target that reads texts. Expected a "
            "picture model of the zoo, a .skops file, or python:module:name: a scikit-learn "
            "estimator, a torch module or a function of an array."
        )


def of_picture_object(obj: Any, shape: Shape, options: TargetOptions) -> Classifies:
    """Build a target from a torch module, or from any other function of an array."""
    options.refuse("a target on pictures", "mask", "answers")
    if not (hasattr(obj, "state_dict") and hasattr(obj, "named_modules")):
        return cast(Classifies, of_function(obj, options))
    require("torch", "torch", "A torch module")
    from brittle.targets.pictures.network import of_picture_module

    return of_picture_module(
        obj,
        shape,
        labels=options.labels,
        scores=options.scores,
        name=options.name,
        device=options.device,
    )
