"""Means of the transfer matrix by class of source and target (Tables 3 and 4 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from brittle.errors import unknown
from brittle.studies.pools import Member
from brittle.studies.transfer.matrix import TransferMatrix

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
