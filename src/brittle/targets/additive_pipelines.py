"""scikit-learn pipelines whose scores are a sum over words: counts of words, times a matrix.

A swap changes the scores of such a pipeline by the same amount whatever else is swapped, and so
what it adds is measured on the pipeline itself. TF-IDF is no such sum: it divides by the length of
the whole vector, and every swap changes that. Nor are n-grams, which hold several words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.spaces import Bounded, BoundRequest
from brittle.targets.additive import bound_additive
from brittle.targets.sklearn import Estimator

Array = NDArray[np.float64]
TOKEN_PATTERN = r"(?u)\b\w\w+\b"  # CountVectorizer's own
JOINING = "_"
"""A character that tokens may hold, and gaps between words as well: it would join two words."""
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
        if JOINING in space.text.render():
            return Bounded()
        swaps = [space.text.swaps(i, space.options[i]) for i in space.positions]
        logits = self._logits([space.text, *(text for texts in swaps for text in texts)])
        ends = np.cumsum([len(texts) for texts in swaps])[:-1]
        changes = np.split(logits[1:] - logits[0], ends) if swaps else []
        scale = float(np.abs(logits).sum(axis=1).max())
        return bound_additive(request, logits[0], changes, scale)

    def _logits(self, items: Sequence[Any]) -> Array:
        """Compute the scores that are sums: log-likelihoods, or margins."""
        inputs = self.reader.read(items, f"Target {self.name!r}")
        classifier = self.model.steps[-1][1]
        is_likelihood = type(classifier).__name__ in LOG_LIKELIHOODS
        method = "predict_joint_log_proba" if is_likelihood else "decision_function"
        rows = np.asarray(getattr(self.model[-1], method)(self.model[:-1].transform(inputs)))
        # With two classes there is one margin: that of the second.
        return rows if rows.ndim == 2 else np.stack([np.zeros(len(rows)), rows], axis=1)


def is_additive(model: Any) -> bool:
    """Tell whether a fitted model is a pipeline of plain word counts and a linear classifier."""
    steps = [step for _, step in getattr(model, "steps", ())]
    if len(steps) != 2 or type(steps[0]).__name__ != "CountVectorizer":
        return False
    counts, classifier = steps
    if not type(classifier).__module__.startswith("sklearn."):
        return False
    plain = {"analyzer": "word", "ngram_range": (1, 1), "binary": False, "tokenizer": None}
    plain |= {"preprocessor": None, "token_pattern": TOKEN_PATTERN}
    is_plain = type(counts).__module__.startswith("sklearn.") and all(
        getattr(counts, name, None) == value for name, value in plain.items()
    )
    weight = getattr(classifier, "feature_log_prob_", getattr(classifier, "coef_", None))
    is_exact = weight is not None and np.asarray(weight).dtype == np.float64
    return is_plain and is_exact and type(classifier).__name__ in (*LOG_LIKELIHOODS, *MARGINS)


def with_bounds(target: Estimator) -> Estimator:
    """Return a target that also finds the strongest swaps, if its scores are a sum over words."""
    if target.item_kind != "text" or not is_additive(target.model):
        return target
    return AdditiveEstimator(
        **{field.name: getattr(target, field.name) for field in fields(target)}
    )
