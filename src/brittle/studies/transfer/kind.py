"""Transfer studies as a kind of study: how they are checked, listed, shown, and compared."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from brittle.attacks import changed_settings
from brittle.formatting import attack_in_words
from brittle.reports.study_page import StudyView
from brittle.studies.study import Listed, StudyKind
from brittle.studies.transfer.showing import figures_of, fooling_texts, rate_matrix
from brittle.studies.transfer.study import (
    RESAMPLES,
    TransferFacts,
    TransferResults,
    TransferStudy,
    check_transfer,
)
from brittle.studies.transfer.view import (
    compared_json,
    compared_table,
    transfer_json,
    transfer_view,
)
from brittle.text import Text

FIXED = ("attack", "settings", "seed", "data", "split", "locked")
"""The facts of a study that cannot change; texts and members can be added."""


def _fixed(facts: TransferFacts) -> Mapping[str, Any]:
    return {name: getattr(facts, name) for name in FIXED}


def _members(study: TransferStudy) -> Sequence[str]:
    results = study.results
    return list(dict.fromkeys(member.name for member in (*results.sources, *results.targets)))


def _listed(study: TransferStudy) -> Listed:
    results = study.results
    attack = attack_in_words(study.facts.attack, study.facts.settings)
    texts = sum(map(len, results.winners.values()))
    return Listed(attack, texts, len(results.targets), len(results.sources))


def _view(study: TransferStudy, texts: int = 5, resamples: int = RESAMPLES) -> StudyView:
    return transfer_view(figures_of(study, resamples), texts)


def _summary(study: TransferStudy, resamples: int = RESAMPLES) -> dict[str, Any]:
    return transfer_json(figures_of(study, resamples))


def _compared(studies: Sequence[TransferStudy]) -> tuple[Any, Any]:
    figures = list(map(figures_of, studies))
    return compared_json(figures), compared_table(figures)


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


KIND = StudyKind(
    name="transfer",
    noun="transfer study",
    command="brittle study transfer",
    commands="Use brittle show, report, export or compare.",
    facts=TransferFacts,
    results=TransferResults,
    check=check_transfer,
    fixed=_fixed,
    members=_members,
    listed=_listed,
    rows=cell_rows,
    text_rows=text_rows,
    summary=_summary,
    view=_view,
    compared=_compared,
    frame_columns=("source", "target", "rate", "rate_of_right", "count"),
    present=lambda study: study.changed(settings=changed_settings(study.attack, study.settings)),
)
