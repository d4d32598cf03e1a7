"""How well rules do on targets that they were not mined from: Tables 5, 9 and 10.

A text is changed rule by rule up to the highest share. Every text on this way, a prefix, is scored
once per target; all shares, and both ways to count, come from these labels. A text that no rule
changes counts as held.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from brittle.data import Dataset, case_ids, load
from brittle.errors import Interrupted, StoreError, message_of
from brittle.formatting import plural
from brittle.metrics.clusters import mean_by_text, rate_by_text
from brittle.metrics.summary import Figure, mean
from brittle.opening import as_target
from brittle.proposals.rule_files import load_rules
from brittle.proposals.rules import Rules, allowed_words, apply_rules
from brittle.studies.rules.exposure import match_texts
from brittle.studies.transfer.labels import predict_labels
from brittle.targets.protocols import Classifies
from brittle.text import Text
from brittle.workflow.tasks import FAILED, TaskContext

ALL = "all"
SHARES = (0.05, 0.10, 0.15, 0.20, 0.25, 0.30)
Count = Literal["first", "limit"]
"""What counts: the first prefix that works, or the text at the limit alone."""


@dataclass(frozen=True)
class RuledText:
    """One text and the labels that a target gives it: the original, then prefix after prefix."""

    case: str
    label: str
    words: int
    predicted: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        """Whether the target was right on the original."""
        return self.predicted[0] == self.label

    def changed_words(self, share: float, count: Count = "first") -> int | None:
        """Return how many words were changed when the target was wrong; None if it never was."""
        limit = min(len(self.predicted) - 1, allowed_words(self.words, share))
        tried = range(1, limit + 1) if count == "first" else range(max(1, limit), limit + 1)
        return next((n for n in tried if self.predicted[n] != self.label), None)


def apply_to(
    rules: Rules, dataset: Dataset, share: float = max(SHARES)
) -> list[tuple[str, str, list[Text]]]:
    """Return the case, the label and the prefixes of every text, the original first."""
    ids = case_ids(dataset.examples)
    return [
        (case, item.label, [item.text, *apply_rules(item.text, item.matches, share)])
        for case, item in zip(ids, match_texts(rules, dataset.examples))
    ]


def score_paths(
    target: Classifies, paths: Mapping[str, Sequence[tuple[str, str, list[Text]]]]
) -> dict[str, list[RuledText]]:
    """Ask a target about all texts of all rules, each distinct one once."""
    texts = {text.key: text for rows in paths.values() for *_, path in rows for text in path}
    labels = dict(zip(texts, predict_labels(target, list(texts.values()))))
    return {
        name: [
            RuledText(case, label, len(path[0]), tuple(labels[text.key] for text in path))
            for case, label, path in rows
        ]
        for name, rows in paths.items()
    }


def success(rows: Iterable[RuledText], share: float, count: Count = "first") -> Figure:
    """Return the share of texts, of those that were right, that rules turn wrong.

    If the same texts were tried on several targets, the interval is a bootstrap over texts: their
    rows are not independent.
    """
    outcomes = [
        (row.case, row.changed_words(share, count) is not None) for row in rows if row.is_right
    ]
    return rate_by_text(outcomes, "texts that were right")


def words_changed(rows: Iterable[RuledText], share: float, count: Count = "first") -> Figure:
    """Return the mean share of words changed in the texts that rules turn wrong."""
    changed = [(row.changed_words(share, count), row.words) for row in rows if row.is_right]
    return mean([n / words for n, words in changed if n is not None], "texts turned wrong")


def by_share(rows: Sequence[RuledText], count: Count = "first") -> dict[float, Figure]:
    """Return the success at every share of words (Table 10)."""
    return {share: success(rows, share, count) for share in SHARES}


def by_class(
    rows: Mapping[str, Sequence[RuledText]], classes: Mapping[str, str]
) -> dict[str, list[RuledText]]:
    """Join the texts of all targets of a class, and first those of all (Tables 5 and 9).

    `rows` are those of every target, `classes` name the class of each.
    """
    joined: dict[str, list[RuledText]] = {ALL: []}
    for target, own in rows.items():
        joined[ALL] += own
        joined.setdefault(classes[target], []).extend(own)
    return joined


def gain_of_rules(
    a: Sequence[RuledText], b: Sequence[RuledText], share: float, count: Count = "first"
) -> Figure:
    """Return the success of b less that of a on the same texts and targets, paired.

    The interval is a bootstrap over texts.
    """
    gains = []
    for pair in zip(a, b, strict=True):
        if pair[0].is_right:
            one, other = _outcomes(pair, share, count)
            gains.append((pair[0].case, int(other) - int(one)))
    return mean_by_text(gains, "texts that were right")


def _outcomes(pair: tuple[RuledText, RuledText], share: float, count: Count) -> tuple[bool, bool]:
    one, other = (row.changed_words(share, count) is not None for row in pair)
    return one, other


def evaluate_rules(
    context: TaskContext,
    *,
    spec: str,
    rules: Mapping[str, str],
    data: str,
    share: float = max(SHARES),
    **options: Any,
) -> dict[str, Any]:
    """Score one target on several files of rules, by name, as a task.

    The result has the rows of every name, as lists; `load_rows` reads them. Paths are relative to
    the workflow's folder. `options` are those of `brittle.data.load`. A target that fails is a
    result with the reason.
    """
    try:
        return _evaluate(context.folder, spec, rules, load(data, **options), share)
    except (Interrupted, StoreError):
        raise
    except Exception as error:  # a target is code of others, and may raise anything
        reason = message_of(error)
        return {FAILED: reason, "message": f"{FAILED}: {reason}"}


def _evaluate(
    folder: Path, spec: str, rules: Mapping[str, str], dataset: Dataset, share: float
) -> dict[str, Any]:
    paths = {
        name: apply_to(load_rules(folder / file), dataset, share) for name, file in rules.items()
    }
    fields = tuple(name for name, _ in dataset.examples[0].fields)
    target: Any = as_target(spec, fields=fields)
    try:
        scored = score_paths(target, paths)
    finally:
        if hasattr(target, "close"):
            target.close()
    rows = {
        name: [[row.case, row.label, row.words, list(row.predicted)] for row in own]
        for name, own in scored.items()
    }
    return {"target": target.name, "rows": rows, "message": plural(len(dataset), "texts")}


def load_rows(result: Mapping[str, Any]) -> dict[str, list[RuledText]]:
    """Return the rows of the result of `evaluate_rules`, by the name of the rules."""
    return {
        name: [RuledText(case, label, words, tuple(p)) for case, label, words, p in rows]
        for name, rows in result["rows"].items()
    }
