"""scikit-learn pipelines whose scores are a sum over words: counts of words, times a matrix.

A swap changes the sums of such a pipeline by the same amount whatever else is swapped, and so
what it adds is measured on the pipeline itself. TF-IDF is no such sum: it divides by the length of
the whole vector, and every swap changes that. Nor are n-grams, which hold several words.

What is bounded are the sums; what the target is asked may be something else, such as
`predict_proba`. There are bounds only where the class with the highest sum has the highest of the
scores that are asked, also after rounding: `keeps_order` lists these cases.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.spaces import Bounded, BoundRequest, SwapSpace
from brittle.targets.additive import bound_additive
from brittle.targets.options import TargetOptions
from brittle.targets.pictures.reading import PixelReader
from brittle.targets.sklearn import Estimator, load_skops, of_estimator

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
"""The options with which a CountVectorizer counts every word for itself, as it does by default."""
COUNT_TYPES = (np.int64, np.float64)
"""Small integers overflow, and truth values count a word once."""
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
