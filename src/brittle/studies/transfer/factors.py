"""How much each factor of a model matters for transfer (Table 2 of the paper).

For every target t the base rate is its cell on the diagonal: the texts of one seed, tried on the
other. A pair (s, t) that differs in one factor is as far from it as |r(s, t) − base(t)|; a factor's
figure is the mean over its ordered pairs. The paper does not say whether it averages over pairs or
over targets first; this averages over pairs.

Nor does it say what "input form, all else fixed" means, where no two models of its pool that read
words and ELMo share an embedding. Here an embedding belongs to its input form: models that differ
in the input form count whatever their embeddings are. `STRICT_INPUT` counts only those with one
embedding, that is random words against random characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from brittle.studies.pools import Member
from brittle.studies.transfer.classes import diagonal_of
from brittle.studies.transfer.matrix import TransferMatrix

Array = NDArray[np.float64]
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
