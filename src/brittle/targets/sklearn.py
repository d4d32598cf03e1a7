"""scikit-learn pipelines as targets: live objects, and `.skops` files."""

from __future__ import annotations

import importlib
import re
import zipfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from brittle.errors import TargetError, UsageError, require
from brittle.targets.fingerprints import contents
from brittle.targets.fingerprints import hashing as fingerprints
from brittle.targets.labels import Labels, label_names
from brittle.targets.protocols import Scores
from brittle.targets.rendering import render_single
from brittle.targets.scores import ScoreKind, as_probabilities, check_kind, one_hot
from brittle.text import Text

MULTI_LABEL = ("MultiOutputClassifier", "ClassifierChain")


@dataclass(frozen=True, eq=False)
class Estimator:
    """A fitted classifier that takes a list of strings; `method` is what is called on it."""

    model: Any
    name: str
    labels: tuple[str, ...]
    method: str
    kind: ScoreKind
    mask: str = ""
    fingerprint: str = ""

    @property
    def label_only(self) -> bool:
        return self.kind == "label"

    def scores(self, items: Sequence[Text]) -> Scores:
        if not items:
            return np.zeros((0, len(self.labels)))
        who = f"Target {self.name!r}"
        texts = render_single(items, self.mask, who)
        try:
            raw = getattr(self.model, self.method)(texts)
        except Exception as error:
            raise TargetError(f"{who} raised {type(error).__name__}: {error}") from error
        if self.kind == "label":
            found = [_index(self.model.classes_, answer, who) for answer in raw]
            if len(found) != len(items):
                raise TargetError(f"{who} gave {len(found)} labels for {len(items)} texts.")
            return one_hot(found, len(self.labels))
        return as_probabilities(raw, len(items), self.labels, self.kind, who)


def of_estimator(
    model: Any,
    *,
    labels: Labels = None,
    scores: str = "auto",
    mask: str = "",
    name: str | None = None,
    fingerprint: str | None = None,
) -> Estimator:
    """Make a target of a fitted classifier or pipeline that takes a list of strings.

    `fingerprint` is that of the file it was loaded from, if any.
    """
    kind_given = check_kind(scores)
    title = name or _title(model)
    who = f"The estimator {title!r}"
    own = _classes(model, who)
    method, kind = _method(model, kind_given, who)
    target = Estimator(model, title, label_names(own, labels, who), method, kind, mask)
    _takes_texts(model, who)
    held = fingerprint or _contents(target)
    return replace(target, fingerprint=fingerprints.of_parts(held, *own, method, kind, mask))


def _contents(target: Estimator) -> str:
    """Hash what a live model holds; if it cannot be taken apart, its scores and settings."""
    try:
        return contents.of_object(target.model)
    except Exception:  # whatever an object raises that lets nobody look inside
        # The address of a function among the settings is another one in every process.
        settings = re.sub(r" at 0x[0-9A-Fa-f]+", "", repr(target.model))
        scores = fingerprints.precise(target.scores(fingerprints.probes()))
        return fingerprints.of_parts(settings, scores)


def load_skops(path: str | Path, *, trust: Collection[str] = ()) -> tuple[Any, str]:
    """Load a model from a `.skops` file, and hash the file.

    What skops itself trusts is loaded, and classes of scikit-learn and of scipy.sparse; never
    functions (a crafted file could call them), nor classes that skops warns of by name.
    """
    path = Path(path)
    if not path.is_file():
        raise UsageError(f"There is no file {str(path)!r}.")
    require("sklearn", "sklearn", f"Loading {path.name}")
    skops = require("skops.io", "sklearn", f"Loading {path.name}")
    # Read once: what is loaded is what was looked at.
    content = path.read_bytes()
    try:
        strange = skops.get_untrusted_types(data=content)
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise UsageError(f"{str(path)!r} is not a skops file: {error}.") from error
    refused = [name for name in strange if name not in trust and not _harmless(name)]
    if refused:
        flags = " ".join(f"--trust {name}" for name in refused)
        raise UsageError(
            f"{str(path)!r} holds types that are not trusted unasked: {', '.join(refused)}. If you "
            f"made the file, or trust who did, say so: {flags}"
        )
    return skops.loads(content, trusted=strange), fingerprints.of_parts(content)


def _harmless(name: str) -> bool:
    """Say whether a type named in a file is a plain class of scikit-learn or scipy.sparse."""
    module, _, attribute = name.rpartition(".")
    if not module.startswith(("sklearn.", "scipy.sparse.")):
        return False
    warned = getattr(importlib.import_module("skops.io.exceptions"), "UNTRUSTED_TYPE_REASONS", {})
    try:
        found = getattr(importlib.import_module(module), attribute, None)
    except ImportError:
        return False
    # A module also exposes what it imports; only what it defines counts.
    return isinstance(found, type) and found.__module__ == module and name not in warned


def _classes(model: Any, who: str) -> list[str]:
    """Read the labels of a fitted classifier; refuse what is none."""
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
    several = isinstance(classes, list) or np.ndim(getattr(last, "n_outputs_", 1)) > 0
    several = several or getattr(last, "n_outputs_", 1) > 1 or getattr(last, "multilabel_", False)
    if type(last).__name__ in MULTI_LABEL or several:
        raise _multi_label(who, last)
    if classes is None:
        raise UsageError(
            f"{who} has no classes_: it is not fitted, or it is not a classifier. Fit it first, or "
            "wrap it in a function (python:module:name)."
        )
    return [str(name) for name in classes]


def _method(model: Any, kind: ScoreKind, who: str) -> tuple[str, ScoreKind]:
    """Choose what to call, and what it gives."""
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


def _takes_texts(model: Any, who: str) -> None:
    """Ask for one label, to see early whether strings go in and one label comes out."""
    try:
        answer = model.predict([fingerprints.SENTENCES[0]])
    except Exception as error:
        raise UsageError(
            f"{who} does not take a list of strings: {type(error).__name__}: {error} Put the "
            "vectorizer before it in one fitted pipeline: make_pipeline(TfidfVectorizer(), model)."
        ) from error
    if np.ndim(answer) > 1:
        raise _multi_label(who, model)


def _multi_label(who: str, model: Any) -> UsageError:
    return UsageError(
        f"{who} ({type(model).__name__}) is multi-label: it gives several labels to one text. "
        "brittle attacks classifiers with one label per text; wrap one of the labels in a function."
    )


def _index(classes: Any, answer: Any, who: str) -> int:
    found = np.flatnonzero(classes == answer)
    if len(found) != 1:
        raise TargetError(f"{who} answered {answer!r}. Expected one of: {list(classes)}.")
    return int(found[0])


def _title(model: Any) -> str:
    steps = getattr(model, "steps", None)
    if not steps:
        return type(model).__name__
    return "+".join(type(step).__name__ for _, step in steps if step != "passthrough")
