"""Estimators of scikit-learn, and bounds of linear ones, whose scores are sums over words.

scikit-learn pipelines as targets: live objects, and `.skops` files. An estimator reads texts as
strings, or pictures as rows of pixels: its reader says which. scikit-learn pipelines whose scores
are a sum over words: counts of words, times a matrix.

A swap changes the sums of such a pipeline by the same amount whatever else is swapped, and so
what it adds is measured on the pipeline itself. TF-IDF is no such sum: it divides by the length of
the whole vector, and every swap changes that. Nor are n-grams, which hold several words.

What is bounded are the sums; what the target is asked may be something else, such as
`predict_proba`. There are bounds only where the class with the highest sum has the highest of the
scores that are asked, also after rounding: `keeps_order` lists these cases.
"""

from __future__ import annotations

import importlib
import io
import re
import zipfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.errors import TargetError, UsageError, message_of, require
from brittle.safety.files import check_archive, check_is_file
from brittle.spaces import Bounded, BoundRequest, SwapSpace
from brittle.targets import fingerprints
from brittle.targets.fingerprints import hash_object
from brittle.targets.labels import label_names
from brittle.targets.options import Labels, ScoreKind, TargetOptions, check_kind
from brittle.targets.protocols import Scores, failing_as
from brittle.targets.readers import EstimatorReader, PixelReader, StringReader
from brittle.targets.scores import as_probabilities, bound_additive, one_hot

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
        if self.label_only:
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
    return replace(target, fingerprint=fingerprints.hash_parts(*parts))


def _hash_contents(target: Estimator) -> str:
    """Hash everything that a live model holds; if that fails, its scores and settings."""
    try:
        return hash_object(target.model)
    except Exception:  # an object may raise anything when it is taken apart
        # The address of a function in the settings differs between processes.
        settings = re.sub(r" at 0x[0-9A-Fa-f]+", "", repr(target.model))
        scores = fingerprints.format_precise(target.scores(target.reader.probes()))
        return fingerprints.hash_parts(settings, scores)


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
            remedy = "If you trust it, write it again with skops.io.dump, which does not compress."
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
            f"{str(path)!r} contains types that need your trust: {', '.join(refused)}. If "
            f"you made the file, or trust its author, add: {flags}"
        )
    try:
        return skops.loads(content, trusted=untrusted), fingerprints.hash_parts(content)
    except Exception as error:
        raise _not_skops(path, error) from error


def _not_skops(path: Path, error: Exception) -> UsageError:
    return UsageError(
        f"{str(path)!r} is damaged, or not a skops file ({message_of(error)}). Write it "
        "again with skops.io.dump(model, file), with the versions of scikit-learn and "
        "skops installed here."
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
    if kind in ("single", "percent"):
        raise UsageError(f"{who} gives a score per class; --scores {kind} does not fit it.")
    if kind == "label" or (kind == "auto" and not proba and not margins):
        return "predict", "label"
    if kind == "logits":
        if not margins:
            raise UsageError(
                f"{who} has no decision_function, so --scores logits (scores='logits' in "
                "Python) does not work. Leave it out."
            )
        return "decision_function", "logits"
    if not proba:
        raise UsageError(
            f"{who} has no predict_proba, only "
            f"{'margins (decision_function)' if margins else 'labels'}. Margins are not "
            "probabilities: wrap it in CalibratedClassifierCV, or use the margins with "
            "--scores logits (scores='logits' in Python), or only the labels with "
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
        f"{who} ({type(model).__name__}) is multi-label: it gives one item several "
        "labels. brittle attacks classifiers with one label per item: wrap one of the "
        "labels in a function."
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


Array = NDArray[np.float64]
PLAIN_COUNTS = {
    "input": "content",
    "analyzer": "word",
    "ngram_range": (1, 1),
    "binary": False,
    "tokenizer": None,
    "preprocessor": None,
    "token_pattern": r"(?u)\b\w\w+\b",
}
"""The options of a CountVectorizer that counts single words, as it does by default."""
COUNT_TYPES = (np.int64, np.float64)
"""Small integers overflow, and booleans count a word once."""
CAPITAL_SIGMA = "\u03a3"
"""The only letter whose lower case depends on the letters around it."""
LOG_LIKELIHOODS = ("MultinomialNB", "ComplementNB")
MARGINS = ("LogisticRegression", "LinearSVC", "SGDClassifier", "Perceptron", "RidgeClassifier")


@dataclass(frozen=True, eq=False)
class AdditiveEstimator(Estimator):
    """A pipeline of word counts and a linear classifier, with the strongest swaps of a space."""

    def bounds(self, requests: Sequence[BoundRequest]) -> list[Bounded]:
        """Find the strongest swaps of every space in closed form."""
        return list(map(self._bound, requests))

    def _bound(self, request: BoundRequest) -> Bounded:
        space = request.space
        if not self._reads_words_apart(space):
            return Bounded()
        swaps = [space.text.swaps(i, space.options[i]) for i in space.positions]
        logits, size = self._sums([space.text, *(text for texts in swaps for text in texts)])
        ends = np.cumsum([len(texts) for texts in swaps])[:-1]
        changes = np.split(logits[1:] - logits[0], ends) if swaps else []
        added = np.split(size[1:] - size[0], ends) if swaps else []
        largest = float(size[0] + sum(max(0.0, one.max()) for one in added))
        return bound_additive(request, logits[0], changes, largest)

    def _reads_words_apart(self, space: SwapSpace) -> bool:
        """Tell whether the tokens of every word are the same whatever stands at other positions.

        A gap separates two words if something in it is neither part of a token nor removed with
        the accents.
        """
        options = (word for words in space.options for word in words)
        if CAPITAL_SIGMA in "".join((space.text.render(), *options)):
            return False
        preprocess = self.model.steps[0][1].build_preprocessor()
        gaps = [gap for field in space.text.frame.fields for gap in field.gaps[1:-1]]
        return all(re.search(r"\W", preprocess(gap)) for gap in set(gaps))

    def _sums(self, items: Sequence[Any]) -> tuple[Array, Array]:
        """Compute the scores that are sums (log-likelihoods, or margins), and their sizes.

        The size is the sum of the sizes of all terms, which rounding errors are a share of.
        """
        inputs = self.reader.read(items, f"Target {self.name!r}")
        counts, classifier = self.model[:-1].transform(inputs), self.model[-1]
        is_likelihood = type(classifier).__name__ in LOG_LIKELIHOODS
        method = "predict_joint_log_proba" if is_likelihood else "decision_function"
        rows = np.asarray(getattr(classifier, method)(counts))
        offset = classifier.class_log_prior_ if is_likelihood else classifier.intercept_
        size = counts @ np.abs(_weight(classifier)).sum(axis=0) + np.abs(offset).sum()
        # With two classes there is one margin: that of the second.
        rows = rows if rows.ndim == 2 else np.stack([np.zeros(len(rows)), rows], axis=1)
        return rows, size


def is_additive(model: Any) -> bool:
    """Tell whether a fitted model is a pipeline of plain word counts and a linear classifier."""
    if not _is_of(model, ("Pipeline",)) or len(model.steps) != 2:
        return False
    counts, classifier = (step for _, step in model.steps)
    is_plain = _is_of(counts, ("CountVectorizer",)) and counts.dtype in COUNT_TYPES
    is_plain = is_plain and all(getattr(counts, name) == own for name, own in PLAIN_COUNTS.items())
    if not is_plain or not _is_of(classifier, (*LOG_LIKELIHOODS, *MARGINS)):
        return False
    weight = _weight(classifier)
    # Without smoothing, the log-likelihood of a word can be infinite, and such sums have no margin.
    return weight.dtype == np.float64 and bool(np.isfinite(weight).all())


def keeps_order(classifier: Any, method: str) -> bool:
    """Tell whether the class with the highest sum has the highest of the scores that are asked.

    | classifier | is asked | is monotone in the sums because |
    |---|---|---|
    | of `MARGINS` | `predict`, `decision_function` | it is the highest sum, the sums themselves |
    | of `LOG_LIKELIHOODS` | `predict`, `predict_proba` | it is the highest sum, their softmax |
    | `LogisticRegression` | `predict_proba` | of two classes a sigmoid, else a softmax |
    | `SGDClassifier`, two classes | `predict_proba` | a sigmoid, or the clipped margin: above 1/2 |
    | | | exactly where the margin is above 0 |

    Nothing else is. With more classes, `SGDClassifier` (`log_loss`, `modified_huber`) and a
    `LogisticRegression` of one classifier against the rest turn every margin for itself into a
    number from 0 to 1: of several large margins all become 1, and of several small ones all 0.
    """
    if method in ("predict", "decision_function"):
        return _is_of(classifier, (*LOG_LIKELIHOODS, *MARGINS))
    has_two_classes = len(classifier.classes_) == 2
    if _is_of(classifier, ("LogisticRegression",)):
        # Former versions of scikit-learn have a setting for it.
        is_one_against_rest = getattr(classifier, "multi_class", None) == "ovr"
        return has_two_classes or not (is_one_against_rest or classifier.solver == "liblinear")
    if _is_of(classifier, ("SGDClassifier",)):
        return has_two_classes and classifier.loss in ("log_loss", "modified_huber")
    return _is_of(classifier, LOG_LIKELIHOODS)


def with_bounds(target: Estimator) -> Estimator:
    """Return a target that also finds the strongest swaps, if its scores are a sum over words."""
    if target.item_kind != "text" or not is_additive(target.model):
        return target
    if not keeps_order(target.model[-1], target.method):
        return target
    return AdditiveEstimator(
        **{field.name: getattr(target, field.name) for field in fields(target)}
    )


def open_skops(spec: str, options: TargetOptions) -> Estimator:
    """Open `FILE.skops`, a scikit-learn pipeline."""
    options.refuse("a scikit-learn pipeline", "answers")
    model, fingerprint = load_skops(Path(spec), trust=options.trust)
    options = replace(options, name=options.name or Path(spec).stem)
    return open_estimator(model, options, fingerprint)


def open_estimator(model: Any, options: TargetOptions, fingerprint: str | None = None) -> Estimator:
    """Build a target from a fitted classifier, with bounds if its scores are a sum over words."""
    options.refuse("a scikit-learn pipeline", "answers")
    target = of_estimator(
        model,
        labels=options.labels,
        scores=options.scores,
        mask=options.black_box_mask,
        name=options.name,
        fingerprint=fingerprint,
        reader=None if options.shape is None else PixelReader(options.shape),
    )
    return with_bounds(target)


def _is_of(value: Any, names: Sequence[str]) -> bool:
    """Tell whether a value is of a class of scikit-learn itself with one of these names."""
    kind = type(value)
    return kind.__name__ in names and kind.__module__.startswith("sklearn.")


def _weight(classifier: Any) -> Any:
    """Return the matrix of a fitted linear classifier, or one that holds no numbers."""
    weight = getattr(classifier, "feature_log_prob_", getattr(classifier, "coef_", None))
    return np.atleast_2d(np.asarray(weight))
