"""scikit-learn pipelines as targets: live objects, and `.skops` files.

An estimator reads texts as strings, or pictures as rows of pixels: its reader says which.
"""

from __future__ import annotations

import importlib
import io
import re
import zipfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from brittle.errors import TargetError, UsageError, message_of, require
from brittle.targets.fingerprints import hashing
from brittle.targets.fingerprints.contents import hash_object
from brittle.targets.labels import label_names
from brittle.targets.options import Labels, ScoreKind, check_kind
from brittle.targets.protocols import Scores, failing_as
from brittle.targets.readers import EstimatorReader, StringReader
from brittle.targets.scores import as_probabilities, one_hot
from brittle.unpacking import check_archive, check_is_file

MULTI_LABEL = ("MultiOutputClassifier", "ClassifierChain")


@dataclass(frozen=True, eq=False)
class Estimator:
    """A fitted classifier; `method` is the method to call with what `reader` reads."""

    model: Any
    name: str
    labels: tuple[str, ...]
    method: str
    kind: ScoreKind
    reader: EstimatorReader
    fingerprint: str = ""

    @property
    def item_kind(self) -> str:
        return self.reader.item_kind

    @property
    def label_only(self) -> bool:
        return self.kind == "label"

    def scores(self, items: Sequence[Any]) -> Scores:
        if not items:
            return np.zeros((0, len(self.labels)))
        who = f"Target {self.name!r}"
        inputs = self.reader.read(items, who)
        with failing_as(who):
            raw = getattr(self.model, self.method)(inputs)
        if self.kind == "label":
            indices = [_class_index(self.model.classes_, answer, who) for answer in raw]
            if len(indices) != len(items):
                raise TargetError(f"{who} gave {len(indices)} labels for {len(items)} items.")
            return one_hot(indices, len(self.labels))
        return as_probabilities(raw, len(items), self.labels, self.kind, who)


def of_estimator(
    model: Any,
    *,
    labels: Labels = None,
    scores: str = "auto",
    mask: str = "",
    name: str | None = None,
    fingerprint: str | None = None,
    reader: EstimatorReader | None = None,
) -> Estimator:
    """Build a target from a fitted classifier or pipeline that takes what `reader` reads.

    By default that is a list of strings, and a masked word reads as `mask`. `fingerprint` is that
    of the file it was loaded from, if any.
    """
    declared_kind = check_kind(scores)
    name = name or _default_name(model)
    who = f"The estimator {name!r}"
    classes = _classes(model, who)
    method, kind = _choose_method(model, declared_kind, who)
    reader = reader or StringReader(mask)
    target = Estimator(model, name, label_names(classes, labels, who), method, kind, reader)
    _check_inputs(target, who)
    digest = fingerprint or _hash_contents(target)
    parts = (digest, *classes, method, kind, *reader.describe())
    return replace(target, fingerprint=hashing.hash_parts(*parts))


def _hash_contents(target: Estimator) -> str:
    """Hash everything that a live model holds; if that fails, its scores and settings."""
    try:
        return hash_object(target.model)
    except Exception:  # an object may raise anything when it is taken apart
        # The address of a function in the settings differs between processes.
        settings = re.sub(r" at 0x[0-9A-Fa-f]+", "", repr(target.model))
        scores = hashing.format_precise(target.scores(target.reader.probes()))
        return hashing.hash_parts(settings, scores)


def load_skops(path: str | Path, *, trust: Collection[str] = ()) -> tuple[Any, str]:
    """Load a model from a `.skops` file; return it and the hash of the file.

    Types that skops trusts and classes of scikit-learn and of scipy.sparse are loaded; never
    functions (a crafted file could call them), nor classes that skops warns of by name.
    """
    path = Path(path)
    check_is_file(path)
    if not path.is_file():
        raise UsageError(f"There is no file {str(path)!r}.")
    require("sklearn", "sklearn", f"Loading {path.name}")
    skops = require("skops.io", "sklearn", f"Loading {path.name}")
    # The file is read once, so that the content that is checked is the content that is loaded.
    content = path.read_bytes()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            remedy = "If you trust it, write it again with skops.io.dump, which does not pack."
            check_archive(archive, len(content), repr(str(path)), remedy)
        untrusted = skops.get_untrusted_types(data=content)
    except UsageError:
        raise
    except Exception as error:  # skops checks nothing: a damaged file makes it raise anything
        raise _not_skops(path, error) from error
    refused = [name for name in untrusted if name not in trust and not _is_harmless(name)]
    if refused:
        flags = " ".join(f"--trust {name}" for name in refused)
        raise UsageError(
            f"{str(path)!r} holds types that are not trusted unasked: {', '.join(refused)}. If you "
            f"made the file, or trust who did, say so: {flags}"
        )
    try:
        return skops.loads(content, trusted=untrusted), hashing.hash_parts(content)
    except Exception as error:
        raise _not_skops(path, error) from error


def _not_skops(path: Path, error: Exception) -> UsageError:
    return UsageError(
        f"{str(path)!r} is damaged, or not a skops file ({message_of(error)}). Write it again with "
        "skops.io.dump(model, file), with the versions of scikit-learn and skops that are here."
    )


def _is_harmless(name: str) -> bool:
    """Tell whether a type named in a file is a plain class of scikit-learn or scipy.sparse."""
    module, _, attribute = name.rpartition(".")
    if not module.startswith(("sklearn.", "scipy.sparse.")):
        return False
    warned = getattr(importlib.import_module("skops.io.exceptions"), "UNTRUSTED_TYPE_REASONS", {})
    try:
        value = getattr(importlib.import_module(module), attribute, None)
    except ImportError:
        return False
    # A module also exposes what it imports; only its own classes count.
    return isinstance(value, type) and value.__module__ == module and name not in warned


def _classes(model: Any, who: str) -> list[str]:
    """Return the labels of a fitted classifier; refuse other estimators."""
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    kind = getattr(last, "_estimator_type", None)
    if kind is None and hasattr(last, "__sklearn_tags__"):
        kind = last.__sklearn_tags__().estimator_type
    if kind == "regressor":
        raise UsageError(
            f"{who} ends in {type(last).__name__}, a regressor: it gives numbers, not labels. "
            "brittle attacks classifiers; wrap it in a function that turns ranges into labels."
        )
    classes = getattr(model, "classes_", None)
    outputs = getattr(last, "n_outputs_", 1)
    multi_label = isinstance(classes, list) or np.ndim(outputs) > 0 or outputs > 1
    multi_label = multi_label or getattr(last, "multilabel_", False)
    if type(last).__name__ in MULTI_LABEL or multi_label:
        raise _multi_label(who, last)
    if classes is None:
        raise UsageError(
            f"{who} has no classes_: it is not fitted, or it is not a classifier. Fit it first, or "
            "wrap it in a function (python:module:name)."
        )
    return [str(name) for name in classes]


def _choose_method(model: Any, kind: ScoreKind, who: str) -> tuple[str, ScoreKind]:
    """Return the method to call, and the kind of scores that it returns."""
    proba, margins = hasattr(model, "predict_proba"), hasattr(model, "decision_function")
    if kind == "single":
        raise UsageError(f"{who} gives a score per class; --scores single does not fit it.")
    if kind == "label" or (kind == "auto" and not proba and not margins):
        return "predict", "label"
    if kind == "logits":
        if not margins:
            raise UsageError(
                f"{who} has no decision_function, so that --scores logits (scores='logits' in "
                "Python) does not fit it. Leave it out."
            )
        return "decision_function", "logits"
    if not proba:
        raise UsageError(
            f"{who} has no predict_proba, only "
            f"{'margins (decision_function)' if margins else 'labels'}. Margins are not "
            "probabilities: wrap it in CalibratedClassifierCV, or have them read as such with "
            "--scores logits (scores='logits' in Python), or use its labels alone with "
            "--scores label."
        )
    return "predict_proba", "prob"


def _check_inputs(target: Estimator, who: str) -> None:
    """Check with one item that the model takes what it is given, and answers one label."""
    inputs = target.reader.read(target.reader.probes()[:1], who)
    try:
        answer = target.model.predict(inputs)
    except Exception as error:
        raise target.reader.misfit(who, error) from error
    if np.ndim(answer) > 1:
        raise _multi_label(who, target.model)


def _multi_label(who: str, model: Any) -> UsageError:
    return UsageError(
        f"{who} ({type(model).__name__}) is multi-label: it gives several labels to one item. "
        "brittle attacks classifiers with one label per item; wrap one of the labels in a function."
    )


def _class_index(classes: Any, answer: Any, who: str) -> int:
    indices = np.flatnonzero(classes == answer)
    if len(indices) != 1:
        raise TargetError(f"{who} answered {answer!r}. Expected one of: {list(classes)}.")
    return int(indices[0])


def _default_name(model: Any) -> str:
    steps = getattr(model, "steps", None)
    if not steps:
        return type(model).__name__
    return "+".join(type(step).__name__ for _, step in steps if step != "passthrough")
