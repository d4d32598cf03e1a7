"""What the paper's findings are about: asymmetry, classes among themselves, overfitting."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from brittle.studies.transfer.classes import class_means, classes_of, diagonal_of
from brittle.studies.transfer.factors import base_rates
from brittle.studies.transfer.matrix import TransferMatrix

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Asymmetry:
    """Transfer one way less transfer back, r(s, t) − r(t, s), over all pairs of two members.

    `mean` and `highest` are of its absolute value; `pair` has the highest, source first.
    """

    mean: float
    highest: float
    pair: tuple[str, str]
    pairs: int


@dataclass(frozen=True)
class IntraInter:
    """The mean rate into a class of targets, from the class itself and from all other sources."""

    target_class: str
    intra: float
    intra_without_diagonal: float
    inter: float


@dataclass(frozen=True)
class Overfitting:
    """How far rates lie from the base rates: an attack that fits its source too well is far.

    `distance` is the mean of |r(s, t) − base(t)| over all pairs of two members.
    """

    distance: float
    base: float
    rate: float


def asymmetry(matrix: TransferMatrix, of_right: bool = False) -> Asymmetry | None:
    """Compare transfer one way with transfer back; None if no two members are both."""
    rate = matrix.rate_of_right if of_right else matrix.rate
    rows = {member.name: n for n, member in enumerate(matrix.sources)}
    columns = {member.name: n for n, member in enumerate(matrix.targets)}
    both = [name for name in rows if name in columns]
    differences = {
        (one, other): rate[rows[one], columns[other]] - rate[rows[other], columns[one]]
        for n, one in enumerate(both)
        for other in both[n + 1 :]
    }
    known = {pair: value for pair, value in differences.items() if not np.isnan(value)}
    if not known:
        return None
    pair = max(known, key=lambda pair: abs(known[pair]))
    highest = abs(known[pair])
    ordered = pair if known[pair] >= 0 else (pair[1], pair[0])
    mean = float(np.mean(np.abs(list(known.values()))))
    return Asymmetry(mean, float(highest), ordered, len(known))


def intra_inter(
    matrix: TransferMatrix, by: str = "architecture", of_right: bool = False
) -> list[IntraInter]:
    """Compare, for every class of targets, texts of its own class with those of all others.

    `inter` is the unweighted mean over the other classes, as in the paper's tables.
    """
    rate = matrix.rate_of_right if of_right else matrix.rate
    classes = classes_of(matrix.sources, matrix.targets, by)
    means, without = (class_means(rate, classes, diagonal) for diagonal in (True, False))
    rows = []
    for column, name in enumerate(classes.columns):
        if name not in classes.rows:
            continue
        own = classes.rows.index(name)
        others = np.delete(means[:, column], own)
        others = others[~np.isnan(others)]
        inter = float(others.mean()) if len(others) else float("nan")
        rows.append(IntraInter(name, float(means[own, column]), float(without[own, column]), inter))
    return rows


def overfitting(matrix: TransferMatrix, of_right: bool = False) -> Overfitting:
    """Measure how far a study's rates lie from its base rates; compare two attacks by it."""
    rate = matrix.rate_of_right if of_right else matrix.rate
    is_diagonal = diagonal_of(matrix.sources, matrix.targets)
    base = base_rates(rate, is_diagonal)
    distance = np.abs(rate - base[None, :])[~is_diagonal]
    return Overfitting(_mean(distance), _mean(base), _mean(rate[~is_diagonal]))


def _mean(values: Array) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")
