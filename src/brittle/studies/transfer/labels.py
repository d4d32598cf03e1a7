"""Transfer: whether the texts of an attack on one target fool another target too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from brittle.edits import patch
from brittle.results import Result
from brittle.statuses import Status
from brittle.targets.protocols import Classifies
from brittle.text import Text

TEXTS_PER_CALL = 512


def predict_labels(target: Classifies, texts: Sequence[Text]) -> list[str]:
    """Return the label that a target predicts for every text; it is called by length."""
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    labels = [""] * len(texts)
    for start in range(0, len(order), TEXTS_PER_CALL):
        batch = order[start : start + TEXTS_PER_CALL]
        best = np.asarray(target.scores([texts[i] for i in batch])).argmax(axis=1)
        for i, label in zip(batch, best.tolist()):
            labels[i] = target.labels[label]
    return labels


def transfer_labels(target: Classifies, rows: Sequence[Result]) -> dict[str, tuple[str, str]]:
    """Return, by case, the labels that another target predicts before and after the attack.

    The text after the attack is the winner, or else the best candidate, or else the original.
    """
    originals = [dict(row.fields) for row in rows]
    final = [
        fields if row.adversarial is None else patch(fields, row.edits)
        for fields, row in zip(originals, rows)
    ]
    before, after = (
        predict_labels(target, list(map(Text.of, part))) for part in (originals, final)
    )
    return {row.case: labels for row, labels in zip(rows, zip(before, after))}


def transferred_rows(rows: Iterable[Result], labels: Mapping[str, Sequence[str]]) -> list[Result]:
    """Return the rows of a run as those of another target, from its labels by case.

    A case is broken if that target is right on the original and wrong on the text after the attack.
    """
    return [_transferred(row, *labels[row.case]) for row in rows]


def _transferred(row: Result, before: str, after: str) -> Result:
    is_right = before == row.label
    status: Status = "skipped" if not is_right else "held" if after == row.label else "broken"
    return replace(
        row,
        status=status,
        reason="" if is_right else "already wrong",
        predicted=before,
        confidence=None,
        adversarial_label=after,
        adversarial_confidence=None,
    )
