"""What a selection sees, the rates of its candidates, and what it maximises (equation 1)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from brittle.errors import UsageError
from brittle.formatting import plural
from brittle.studies.pools import Member
from brittle.studies.transfer.matrix import TransferMatrix

Array = NDArray[np.float64]
Rows = NDArray[np.int64]
"""Ensembles as rows of the rate matrix, of shape (ensembles, size)."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """The sources that may become members, the targets, and r(s, t); an empty cell is NaN."""

    sources: tuple[Member, ...]
    targets: tuple[Member, ...]
    rate: Array

    @cached_property
    def known_rate(self) -> Array:
        """The rates with 0 for every empty cell, so that nothing gains by a missing one."""
        return np.nan_to_num(self.rate, nan=0.0)

    def objective(self, ensembles: Rows) -> Array:
        """Compute for each ensemble the mean over all targets of the best member's rate.

        This is the paper's equation 1: its targets are all candidate models, the members of the
        ensemble and the base rates on the diagonal included.
        """
        best: Array = self.known_rate[ensembles].max(axis=1).mean(axis=1)
        return best

    def outside(self, ensemble: Sequence[int]) -> float | None:
        """Compute the same mean over the targets that are no members; None if there are none."""
        names = {self.sources[row].name for row in ensemble}
        columns = [n for n, target in enumerate(self.targets) if target.name not in names]
        if not columns:
            return None
        return float(self.known_rate[np.ix_(list(ensemble), columns)].max(axis=0).mean())

    def mean_rates(self) -> Array:
        """Compute the mean rate of each source over the targets other than itself."""
        others = np.array([[s.name != t.name for t in self.targets] for s in self.sources])
        known = others & np.isfinite(self.rate)
        total = np.where(known, self.known_rate, 0.0).sum(axis=1)
        mean: Array = total / np.maximum(known.sum(axis=1), 1)
        return mean


def candidates_of(matrix: TransferMatrix, held_out: Collection[str] = ()) -> Candidates:
    """Leave out sources and targets without any cell, and those held out, by name."""
    is_known = np.isfinite(matrix.rate)
    rows = [
        n
        for n, source in enumerate(matrix.sources)
        if is_known[n].any() and source.name not in held_out
    ]
    columns = [
        n
        for n, target in enumerate(matrix.targets)
        if is_known[:, n].any() and target.name not in held_out
    ]
    if len(rows) < 2:
        raise UsageError(
            f"The study has {plural(len(rows), 'sources')} to choose from; expected 2 or more. Use "
            "a study of more models, or hold fewer out."
        )
    sources = tuple(matrix.sources[n] for n in rows)
    targets = tuple(matrix.targets[n] for n in columns)
    return Candidates(sources, targets, matrix.rate[np.ix_(rows, columns)])
