"""The rows of a transfer study for other programs: one a cell, or one an adversarial text."""

from __future__ import annotations

import math
from typing import Any

from brittle.studies.transfer.showing import fooling_texts, rate_matrix
from brittle.studies.transfer.study import TransferStudy
from brittle.text import Text


def cell_rows(study: TransferStudy) -> list[dict[str, Any]]:
    """Return one row for every source and target; an empty cell has no rates.

    `count` is the number of the source's texts, `count_of_right` of those the target had right.
    """
    matrix = rate_matrix(study)
    return [
        {
            "source": source.name,
            "target": target.name,
            "rate": _number(matrix.rate[i, j]),
            "rate_of_right": _number(matrix.rate_of_right[i, j]),
            "count": int(matrix.texts[i]),
            "count_of_right": int(matrix.right[i, j]),
            "is_base": source.name == target.name,
            **{f"source_{by}": name for by, name in source.classes.items()},
            **{f"target_{by}": name for by, name in target.classes.items()},
        }
        for i, source in enumerate(matrix.sources)
        for j, target in enumerate(matrix.targets)
    ]


def text_rows(study: TransferStudy) -> list[dict[str, Any]]:
    """Return one row for every adversarial text, with the number of targets it fools."""
    return [
        {
            "source": text.source,
            "case": text.case,
            "label": text.label,
            "original": Text.of(dict(text.original)).render(),
            "adversarial": Text.of(dict(text.adversarial)).render(),
            "fooled": text.fooled,
            "targets": text.targets,
        }
        for text in fooling_texts(study)
    ]


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
