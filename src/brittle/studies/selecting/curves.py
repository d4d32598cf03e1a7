"""Figure 1: the transfer of attacked ensembles against their size, with two lines beside it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from brittle.studies.selecting.selecting import Ensemble
from brittle.studies.transfer.matrix import TransferMatrix


@dataclass(frozen=True)
class CurvePoint:
    """How many of an attacked ensemble's texts fool models that are no members, on average.

    `outside` is over all models outside this ensemble (`of` models), `held_out` over those that
    are in no ensemble; None: nothing is known. `texts` is the number of its adversarial texts.
    """

    method: str
    size: int
    texts: int
    outside: float | None
    of: int
    held_out: float | None


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
) -> EnsembleCurves:
    """Compute the curves: `attacked` has a source for every ensemble, by the ensemble's name."""
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
    same = np.array([[s.name == t.name for t in singles.targets] for s in singles.sources])
    lines = (_mean(singles.rate[same]), _mean(singles.rate[~same]))
    return EnsembleCurves(tuple(points), *lines, tuple(held_out))


def _mean(cells: NDArray[np.float64]) -> float | None:
    known = cells[np.isfinite(cells)]
    return float(known.mean()) if len(known) else None
