"""Figure 1: the transfer of attacked ensembles against their size, with two lines beside it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from brittle.studies.selecting.selecting import Ensemble
from brittle.studies.transfer.bootstrap import RESAMPLES, Array, Counts, intervals
from brittle.studies.transfer.matrix import TransferMatrix

Interval = tuple[float, float]


@dataclass(frozen=True)
class CurvePoint:
    """How many of an attacked ensemble's texts fool models that are no members, on average.

    `outside` is over all models outside this ensemble (`of` models), `held_out` over those that
    are in no ensemble; None: nothing is known. `texts` is the number of its adversarial texts. The
    intervals are 95% intervals by bootstrap over these texts.
    """

    method: str
    size: int
    texts: int
    outside: float | None
    of: int
    held_out: float | None
    outside_interval: Interval | None = None
    held_out_interval: Interval | None = None


@dataclass(frozen=True)
class EnsembleCurves:
    """The points of every method, and what single models reach.

    `base_rate` is the mean of the diagonal, the transfer between two seeds of one model;
    `pair_rate` is the mean over all pairs of two different models.
    """

    points: tuple[CurvePoint, ...]
    base_rate: float | None
    pair_rate: float | None
    held_out: tuple[str, ...]


def ensemble_curves(
    singles: TransferMatrix,
    attacked: TransferMatrix,
    ensembles: Sequence[Ensemble],
    held_out: Collection[str] = (),
    counts: Counts | None = None,
) -> EnsembleCurves:
    """Compute the curves: `attacked` has a source for every ensemble, by the ensemble's name.

    `counts` are those of the attacked ensembles; with them every point has its intervals.
    """
    rows = {source.name: row for row, source in enumerate(attacked.sources)}
    names = [target.name for target in attacked.targets]
    points = []
    for ensemble in ensembles:
        row = rows[ensemble.name]
        members = {member.name for member in ensemble.members}
        outside = np.array([name not in members for name in names])
        never = np.array([name in held_out for name in names])
        cells = attacked.rate[row]
        points.append(
            CurvePoint(
                *(ensemble.method, ensemble.size, int(attacked.count[row])),
                outside=_mean(cells[outside]),
                of=int(np.isfinite(cells[outside]).sum()),
                held_out=_mean(cells[outside & never]),
            )
        )
    if counts is not None:
        points = _with_intervals(points, ensembles, attacked, held_out, counts)
    same = np.array([[s.name == t.name for t in singles.targets] for s in singles.sources])
    lines = (_mean(singles.rate[same]), _mean(singles.rate[~same]))
    return EnsembleCurves(tuple(points), *lines, tuple(held_out))


def _with_intervals(
    points: Sequence[CurvePoint],
    ensembles: Sequence[Ensemble],
    attacked: TransferMatrix,
    held_out: Collection[str],
    counts: Counts,
) -> list[CurvePoint]:
    """Add the intervals to the points; the resamples are the same for all of them."""
    rows = {source.name: row for row, source in enumerate(attacked.sources)}
    statistics = []
    for ensemble in ensembles:
        members = {member.name for member in ensemble.members}
        outside = np.array([target.name not in members for target in attacked.targets])
        never = np.array([target.name in held_out for target in attacked.targets])
        for columns in (outside, outside & never):
            statistics.append(partial(_row_mean, row=rows[ensemble.name], columns=columns))
    bounds = [_interval(*part[1:]) for part in intervals(counts, statistics, resamples=RESAMPLES)]
    return [
        replace(point, outside_interval=outside, held_out_interval=held_out)
        for point, outside, held_out in zip(points, bounds[::2], bounds[1::2])
    ]


def _row_mean(rate: Array, row: int, columns: NDArray[np.bool_]) -> Array:
    """Return the mean of some cells of a row for every resample; NaN where all are empty."""
    cells = rate[:, row][:, columns]
    known = np.isfinite(cells)
    total, count = np.where(known, cells, 0.0).sum(axis=1), known.sum(axis=1)
    mean: Array = np.divide(total, count, out=np.full(len(cells), np.nan), where=count > 0)
    return mean


def _interval(low: Array, high: Array) -> Interval | None:
    """Return bounds as numbers between 0 and 1; None where nothing is known."""
    if np.isnan(low):
        return None
    return float(np.clip(low, 0, 1)), float(np.clip(high, 0, 1))


def _mean(cells: NDArray[np.float64]) -> float | None:
    known = cells[np.isfinite(cells)]
    return float(known.mean()) if len(known) else None
