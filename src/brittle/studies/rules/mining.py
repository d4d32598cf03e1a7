"""Rules from replacements that lower the logits of many models, and words that speak for a class.

Pointwise mutual information of words and labels, and the rules that follow from it alone. Mine
rules: from the effects on every member of an ensemble, or from word counts alone.

The logit of an ensemble is the mean of its members', and the salience of a rule is linear in it.
So every member is measured by itself, and ensembles of any members come from one measurement.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.candidates.choice import PAPER
from brittle.candidates.rules import Rule, Rules
from brittle.data import Dataset
from brittle.errors import UsageError, unknown
from brittle.formatting import plural
from brittle.studies.rules.measuring import Replacements, labelled_texts, list_replacements, measure
from brittle.text import Text
from brittle.training.splits import LabelledTexts, TrainingSplits

UNSEEN = 0.0
"""The PMI of a word and a label that never occur together, as in the paper's Table 6."""


@dataclass(frozen=True)
class WordCounts:
    """How often every word, in lower case, occurs in the texts of every label, by number."""

    counts: tuple[Counter[str], ...]

    @staticmethod
    def of(texts: Iterable[Text], labels: Iterable[int], classes: int) -> WordCounts:
        """Count the words of labelled texts, locked fields included."""
        counts: tuple[Counter[str], ...] = tuple(Counter() for _ in range(classes))
        for text, label in zip(texts, labels):
            for _, words in text.field_words():
                counts[label].update(str(word).lower() for word in words)
        return WordCounts(counts)

    @cached_property
    def _totals(self) -> list[int]:
        return [sum(counter.values()) for counter in self.counts]

    def pmi(self, word: str) -> tuple[float, ...]:
        """Return log2 p(w, z) / (p(w) p(z)) for every label z; p is over words of the texts.

        The paper prints the quotient without the logarithm, but its Table 6 has logarithms to the
        base 2, plus a constant, which cancels in the salience of words that were seen.

        >>> counts = WordCounts.of(map(Text.of, ["good good film", "bad film film"]), [0, 1], 2)
        >>> [round(value, 3) for value in counts.pmi("film")], counts.pmi("good")
        ([-0.585, 0.415], (1.0, 0.0))
        """
        own = [counter[word] for counter in self.counts]
        whole, of_word = sum(self._totals), sum(own)
        return tuple(
            math.log2(count * whole / (of_word * total)) if count else UNSEEN
            for count, total in zip(own, self._totals)
        )


def pmi_salience(label: int, word: Sequence[float], substitute: Sequence[float]) -> float:
    """Compute the salience of a rule from the PMI of both words with every label (equation 2).

    >>> pmi_salience(0, [1.0, 0.0], [-0.5, 0.5])
    2.0
    """
    signs = [1 if number == label else -1 for number in range(len(word))]
    return sum(sign * (w - s) for sign, w, s in zip(signs, word, substitute))


METHODS = ("uawr", "pmi")
MAX_HELD_OUT = 2000
"""The number of held-out texts that confirm rules."""

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Split:
    """The texts of a split, and all replacements of their words."""

    name: str
    fingerprint: str
    texts: LabelledTexts
    replacements: Replacements


@dataclass(frozen=True)
class Material:
    """What rules are mined from: the train split, and the held-out split that confirms them."""

    data: str
    labels: tuple[str, ...]
    train: Split
    held_out: Split

    @cached_property
    def counts(self) -> WordCounts:
        """The words of the train split by label."""
        texts = self.train.texts
        return WordCounts.of(texts.texts, texts.label, len(self.labels))


@dataclass(frozen=True)
class Effects:
    """What the replacements do to one member.

    `salience` is the mean effect of every rule of the train split, `held_out` the effect of every
    replacement of the held-out split. `computed` counts the rows that the member computed.
    """

    name: str
    fingerprint: str
    salience: Array
    held_out: Array
    computed: int = 0


def check_method(method: str, has_members: bool) -> None:
    """Refuse an unknown method, and one that needs an ensemble if there is none."""
    if method not in METHODS:
        raise unknown("method", method, METHODS)
    if method == "uawr" and not has_members:
        raise UsageError("The method uawr needs an ensemble. Name one, or use --method pmi.")


def sample_splits(splits: TrainingSplits, limit: int | None, seed: int) -> tuple[Dataset, Dataset]:
    """Return a sample of the train split, or all of it, and of the held-out split."""
    return splits.train.take(limit, seed), splits.dev.take(MAX_HELD_OUT, seed)


def load_material(
    splits: TrainingSplits, labels: Sequence[str], limit: int | None = None, seed: int = 0
) -> Material:
    """List the replacements of a data set; `labels` are its labels in the order of the members.

    `limit` takes a sample of the train split.
    """
    train, held_out = (_list(part, labels) for part in sample_splits(splits, limit, seed))
    if not len(train.replacements):
        raise UsageError(
            f"No word of the {plural(len(train.texts), 'texts')} of {splits.name!r} has a "
            "substitute, so no rule can be mined. Use English texts, or more of them."
        )
    return Material(splits.name, tuple(labels), train, held_out)


def _list(dataset: Dataset, labels: Sequence[str]) -> Split:
    texts = labelled_texts(dataset, labels)
    return Split(dataset.split, dataset.fingerprint, texts, list_replacements(texts))


def measure_member(target: Any, material: Material) -> Effects:
    """Measure all replacements on one target with logits."""
    parts, computed = [], 0
    for split in (material.train, material.held_out):
        effect = np.zeros(len(split.replacements))
        for measured in measure(target, split.texts, split.replacements):
            effect[measured.start : measured.start + len(measured.effect)] = measured.effect
            computed += measured.computed
        parts.append(effect)
    salience = mean_by_rule(material.train.replacements, parts[0])
    return Effects(target.name, target.fingerprint, salience, parts[1], computed)


def mean_by_rule(replacements: Replacements, effect: Array) -> Array:
    """Compute the mean effect of every rule over its occurrences (line 12 of Figure 2)."""
    total = np.bincount(replacements.rule, weights=effect, minlength=len(replacements.rules))
    mean: Array = total / replacements.support
    return mean


def combine(
    material: Material,
    members: Sequence[Effects] = (),
    method: str = "uawr",
    min_support: int = 1,
) -> Rules:
    """Build the rules of an ensemble of these members, the most salient first.

    Rules that move no text the right way on average, and those with less support, are left out.
    The method "pmi" needs no members; if there are some, they tell how rules do on held-out text.
    """
    check_method(method, bool(members))
    replacements = material.train.replacements
    pmi = {word: material.counts.pmi(word) for _, *pair in replacements.rules for word in pair}
    salience: Array
    if method == "pmi":
        salience = np.array([pmi_salience(y, pmi[w], pmi[s]) for y, w, s in replacements.rules])
    else:
        salience = np.mean([member.salience for member in members], axis=0)
    chosen = _choose(salience, replacements.support, min_support)
    held_out = _confirmations(material.held_out.replacements, members)
    support = replacements.support.tolist()
    rules = []
    for n in chosen:
        label, word, substitute = replacements.rules[n]
        count, confirmed = held_out.get(replacements.rules[n], (0, 0))
        own = (material.labels[label], word, substitute, float(salience[n]), support[n])
        rules.append(Rule(*own, pmi[word], pmi[substitute], count, confirmed))
    return Rules(material.labels, tuple(rules), _about(material, members, method, min_support))


def _choose(salience: Array, support: NDArray[np.int64], min_support: int) -> list[int]:
    """Return the numbers of the rules that are kept, the most salient first; ties in order."""
    is_kept = (salience > 0) & (support >= min_support)
    if not is_kept.any():
        raise UsageError(
            f"Found no rule: no replacement with {min_support} or more occurrences lowers "
            "the score of the text's label on average. Mine from more texts, or with a "
            "lower --min-support."
        )
    order: list[int] = np.argsort(-salience, kind="stable").tolist()
    return [n for n in order if is_kept[n]]


def _confirmations(
    replacements: Replacements, members: Sequence[Effects]
) -> dict[tuple[int, str, str], tuple[int, int]]:
    """Return for every rule how often it could be applied, and how often it lowered the margin."""
    if not members or not len(replacements):
        return {}
    effect = np.mean([member.held_out for member in members], axis=0)
    confirmed = np.bincount(replacements.rule[effect > 0], minlength=len(replacements.rules))
    pairs = zip(replacements.support.tolist(), confirmed.tolist())
    return dict(zip(replacements.rules, pairs))


def _about(
    material: Material, members: Sequence[Effects], method: str, min_support: int
) -> dict[str, Any]:
    return {
        "method": method,
        "data": material.data,
        "split": material.train.name,
        "texts": len(material.train.texts),
        "fingerprint": material.train.fingerprint,
        "held_out_texts": len(material.held_out.texts) if members else 0,
        "members": [member.name for member in members],
        "member_fingerprints": [member.fingerprint for member in members],
        "replacements": len(material.train.replacements),
        "computed": sum(member.computed for member in members),
        "min_support": min_support,
        "candidates": PAPER,
    }
