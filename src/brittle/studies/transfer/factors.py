"""Rates by class of models, by factor, and as tables.

Means of the transfer matrix by class of source and target (Tables 3 and 4 of the paper). How much
each factor of a model matters for transfer (Table 2 of the paper).

For every target t the base rate is its cell on the diagonal: the texts of one seed, tried on the
other. A pair (s, t) that differs in one factor is as far from it as |r(s, t) − base(t)|; a factor's
figure is the mean over its ordered pairs. The paper does not say whether it averages over pairs or
over targets first; this averages over pairs.

Nor does it say what "input form, all else fixed" means, where no two models of its pool that read
words and ELMo share an embedding. Here an embedding belongs to its input form: models that differ
in the input form count whatever their embeddings are. `STRICT_INPUT` counts only those with one
embedding, that is random words against random characters.

The tables of a study with their intervals, all from the same resamples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from brittle.errors import unknown
from brittle.studies.pools import Member
from brittle.studies.transfer.study import (
    RESAMPLES,
    Counts,
    TransferMatrix,
    TransferStudy,
    counts_of,
    intervals,
)

Array = NDArray[np.float64]
CLASSES = ("architecture", "reads")


@dataclass(frozen=True)
class Classes:
    """The classes of the members of a study, in the order in which they first occur.

    `sources` and `targets` hold the class of each member by its index; `is_diagonal` marks the
    cells in which source and target are the same member.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    is_diagonal: NDArray[np.bool_]


@dataclass(frozen=True)
class ClassTable:
    """The mean of the cells of every class of sources (rows) and of targets (columns).

    `row_mean` and `column_mean` are unweighted means over the classes, as the paper's averages
    are, and `total` that of all of them. `low` and `high` are None where no interval was asked for.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    mean: Array
    row_mean: Array
    column_mean: Array
    total: float
    low: Array | None = None
    high: Array | None = None


def classes_of(sources: Sequence[Member], targets: Sequence[Member], by: str) -> Classes:
    """Sort members into classes, by "architecture" or by what a model "reads"."""
    if by not in CLASSES:
        raise unknown("class of models", by, CLASSES)
    of_sources, of_targets = ([str(getattr(m, by)) for m in part] for part in (sources, targets))
    rows, columns = tuple(dict.fromkeys(of_sources)), tuple(dict.fromkeys(of_targets))
    return Classes(
        rows,
        columns,
        np.array([rows.index(name) for name in of_sources]),
        np.array([columns.index(name) for name in of_targets]),
        diagonal_of(sources, targets),
    )


def diagonal_of(sources: Sequence[Member], targets: Sequence[Member]) -> NDArray[np.bool_]:
    """Mark the cells in which source and target are the same member."""
    names = np.array([target.name for target in targets])
    return np.array([names == source.name for source in sources])


def class_means(rate: Array, classes: Classes, diagonal: bool = True) -> Array:
    """Average the cells by class; `rate` has any axes before those of sources and targets.

    Empty cells do not count; a class without cells is NaN.
    """
    used = ~np.isnan(rate)
    if not diagonal:
        used = used & ~classes.is_diagonal
    of_source = np.eye(len(classes.rows))[:, classes.sources]
    of_target = np.eye(len(classes.columns))[classes.targets]
    total = of_source @ np.where(used, rate, 0.0) @ of_target
    count = of_source @ used.astype(np.float64) @ of_target
    mean: Array = np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)
    return mean


def class_table(
    matrix: TransferMatrix, by: str = "architecture", diagonal: bool = True, of_right: bool = False
) -> ClassTable:
    """Average a matrix by class; `of_right` takes the rates over texts that a target had right."""
    classes = classes_of(matrix.sources, matrix.targets, by)
    rate = matrix.rate_of_right if of_right else matrix.rate
    return table_of(class_means(rate, classes, diagonal), classes)


def table_of(
    mean: Array, classes: Classes, low: Array | None = None, high: Array | None = None
) -> ClassTable:
    """Build a table from the means of its cells."""
    row_mean = _mean(mean, axis=1)
    return ClassTable(
        *(classes.rows, classes.columns, mean, row_mean, _mean(mean, axis=0)),
        *(float(_mean(row_mean, axis=0)), low, high),
    )


def _mean(values: Array, axis: int) -> Array:
    """Average without NaN; NaN where nothing is left."""
    used = ~np.isnan(values)
    count = used.sum(axis=axis)
    total = np.where(used, values, 0.0).sum(axis=axis)
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan))


PARTS = ("architecture", "input", "embedding", "layers")
STRICT_INPUT = "input, same embedding"
FACTORS = ("input", STRICT_INPUT, "architecture", "embedding", "layers")
"""In the order of the paper's Table 2; layers are its capacity."""


@dataclass(frozen=True)
class FactorRow:
    """The mean distance from the base rate over the `pairs` of cells that differ in a factor.

    `mean` is NaN if no two members differ in it alone. The bounds are None without an interval.
    """

    factor: str
    mean: float
    pairs: int
    low: float | None = None
    high: float | None = None


def differing(sources: Sequence[Member], targets: Sequence[Member]) -> NDArray[np.bool_]:
    """Mark, for every factor, the cells whose members differ in it: factors × sources × targets.

    A member whose parts are not known has no such cell.
    """
    marks = np.zeros((len(FACTORS), len(sources), len(targets)), dtype=bool)
    for row, source in enumerate(sources):
        for column, target in enumerate(targets):
            if all(part in member.parts for part in PARTS for member in (source, target)):
                changed = {part for part in PARTS if source.parts[part] != target.parts[part]}
                marks[:, row, column] = [_is_of(factor, changed) for factor in FACTORS]
    return marks


def base_rates(rate: Array, is_diagonal: NDArray[np.bool_]) -> Array:
    """Return the diagonal by target, NaN where it is empty; `rate` may have axes before the two."""
    used = is_diagonal & ~np.isnan(rate)
    base: Array = np.where(used.any(axis=-2), np.where(used, rate, 0.0).sum(axis=-2), np.nan)
    return base


def factor_means(
    rate: Array, marks: NDArray[np.bool_], is_diagonal: NDArray[np.bool_]
) -> tuple[Array, NDArray[np.int64]]:
    """Return the mean of |r − base| over the marked cells of every factor, and their number."""
    distance = np.abs(rate - base_rates(rate, is_diagonal)[..., None, :])
    used = ~np.isnan(distance)
    cells = marks.reshape(len(marks), -1).T.astype(np.float64)
    flat = (*distance.shape[:-2], -1)
    total = np.where(used, distance, 0.0).reshape(flat) @ cells
    count = used.reshape(flat).astype(np.float64) @ cells
    mean = np.divide(total, count, out=np.full_like(total, np.nan), where=count > 0)
    return mean, count.astype(np.int64)


def factor_rows(matrix: TransferMatrix, of_right: bool = False) -> list[FactorRow]:
    """Compute the factors of a matrix, without intervals."""
    rate = matrix.rate_of_right if of_right else matrix.rate
    members = (matrix.sources, matrix.targets)
    mean, pairs = factor_means(rate, differing(*members), diagonal_of(*members))
    return [
        FactorRow(factor, float(value), int(count))
        for factor, value, count in zip(FACTORS, mean, pairs)
    ]


def _is_of(factor: str, changed: set[str]) -> bool:
    if factor == "input":
        return changed in ({"input"}, {"input", "embedding"})
    return changed == {"input" if factor == STRICT_INPUT else factor}


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
