"""The tables of a study with their intervals, all from the same resamples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from brittle.studies.transfer.bootstrap import RESAMPLES, Counts, counts_of, intervals
from brittle.studies.transfer.classes import (
    CLASSES,
    Array,
    ClassTable,
    class_means,
    classes_of,
    diagonal_of,
    table_of,
)
from brittle.studies.transfer.factors import FACTORS, FactorRow, differing, factor_means
from brittle.studies.transfer.study import TransferStudy


@dataclass(frozen=True)
class StudyTables:
    """Table 2, and Tables 3 and 4 by "architecture" and "reads", with the diagonal and without."""

    factors: tuple[FactorRow, ...]
    classes: dict[str, ClassTable]
    classes_without_diagonal: dict[str, ClassTable]


def study_tables(
    study: TransferStudy,
    of_right: bool = False,
    resamples: int = RESAMPLES,
    seed: int = 0,
    counts: Counts | None = None,
) -> StudyTables:
    """Compute the tables; `of_right` takes the rates over the texts that a target had right."""
    members = (study.sources, study.targets)
    marks, is_diagonal = differing(*members), diagonal_of(*members)
    wanted = [(by, diagonal) for diagonal in (True, False) for by in CLASSES]
    classes = {by: classes_of(*members, by) for by in CLASSES}

    def factors(rate: Array) -> Array:
        return factor_means(rate, marks, is_diagonal)[0]

    statistics = [partial(class_means, classes=classes[by], diagonal=d) for by, d in wanted]
    counts = counts or counts_of(study)
    parts = intervals(
        counts, [factors, *statistics], of_right=of_right, resamples=resamples, seed=seed
    )
    matrix = study.matrix()
    pairs = factor_means(matrix.rate_of_right if of_right else matrix.rate, marks, is_diagonal)[1]
    rows = tuple(
        FactorRow(factor, float(value), int(count), *np.clip((low, high), 0.0, 1.0).tolist())
        for factor, count, value, low, high in zip(FACTORS, pairs, *parts[0])
    )
    tables = {
        key: table_of(value, classes[key[0]], *np.clip((low, high), 0.0, 1.0))
        for key, (value, low, high) in zip(wanted, parts[1:])
    }
    return StudyTables(
        rows,
        {by: tables[by, True] for by in CLASSES},
        {by: tables[by, False] for by in CLASSES},
    )
