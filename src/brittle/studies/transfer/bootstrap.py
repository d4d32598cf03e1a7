"""Intervals by bootstrap over texts: all cells of a text are drawn together.

The cells of a study are not independent: every source is attacked on the same texts. So texts are
drawn with replacement, and every resample gives a whole matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from brittle.studies.transfer.study import TransferStudy

Array = NDArray[np.float64]
RESAMPLES = 1000
RESAMPLES_PER_BLOCK = 100
LEVEL = 0.95


@dataclass(frozen=True)
class Counts:
    """What is counted, by text and cell: texts × (sources · targets), as 0 and 1.

    `fooled` and `of` give the paper's rate; `fooled_of_right` and `right` that over the texts that
    a target had right.
    """

    shape: tuple[int, int]
    fooled: NDArray[np.float32]
    of: NDArray[np.float32]
    fooled_of_right: NDArray[np.float32]
    right: NDArray[np.float32]

    def rates(self, weight: NDArray[np.float32], of_right: bool = False) -> Array:
        """Return the matrices of resamples: resamples × sources × targets, NaN where empty."""
        parts = (self.fooled_of_right, self.right) if of_right else (self.fooled, self.of)
        won, of = ((weight @ part).astype(np.float64) for part in parts)
        rate = np.divide(won, of, out=np.full_like(won, np.nan), where=of > 0)
        return rate.reshape(-1, *self.shape)


def counts_of(study: TransferStudy) -> Counts:
    """Count every text in every cell of a study."""
    cases = list(dict.fromkeys(w.case for rows in study.winners.values() for w in rows))
    number = {case: n for n, case in enumerate(cases)}
    shape = (len(study.sources), len(study.targets))
    parts = [np.zeros((len(cases), *shape), dtype=np.float32) for _ in range(4)]
    fooled_all, of, fooled_of_right, right_all = parts
    for row, source in enumerate(study.sources):
        index = np.array([number[w.case] for w in study.winners.get(source.name, ())], dtype=int)
        for column, target in enumerate(study.targets):
            fooled = study.fooled(source.name, target.name)
            if fooled is None:
                continue
            right = study.was_right(source.name, target.name)
            fooled_all[index, row, column], of[index, row, column] = fooled, 1
            fooled_of_right[index, row, column] = fooled & right
            right_all[index, row, column] = right
    cells = shape[0] * shape[1]
    return Counts(shape, *(part.reshape(len(cases), cells) for part in parts))


def intervals(
    counts: Counts,
    statistics: Sequence[Callable[[Array], Array]],
    *,
    of_right: bool = False,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> list[tuple[Array, Array, Array]]:
    """Return value, lower and upper bound of statistics of the matrix, from the same resamples.

    A statistic maps matrices (resamples × sources × targets) to values (resamples × …). The bounds
    are those of the basic bootstrap, 2·value − quantile. Noise raises a mean of absolute
    differences, in the data and once more in every resample; plain quantiles would lie above the
    value, these correct for it. Where differences are mostly noise they lie below the value.
    """
    everything = np.ones((1, len(counts.of)), dtype=np.float32)
    values = [statistic(counts.rates(everything, of_right))[0] for statistic in statistics]
    drawn: list[list[Array]] = [[] for _ in statistics]
    # Without texts there is nothing to draw: the one resample is empty too.
    for weight in _weights(len(counts.of), resamples if len(counts.of) else 1, seed):
        rate = counts.rates(weight, of_right)
        for rows, statistic in zip(drawn, statistics):
            rows.append(statistic(rate))
    tail = (1 - level) / 2
    bounds = []
    for value, rows in zip(values, drawn):
        low, high = _quantiles(np.concatenate(rows), (tail, 1 - tail))
        bounds.append((value, 2 * value - high, 2 * value - low))
    return bounds


def _weights(texts: int, resamples: int, seed: int) -> Iterator[NDArray[np.float32]]:
    """Yield how often each text is drawn, a block of resamples at a time."""
    rng = np.random.default_rng(seed)
    for start in range(0, resamples, RESAMPLES_PER_BLOCK):
        rows = min(RESAMPLES_PER_BLOCK, resamples - start)
        drawn = rng.integers(0, texts, size=(rows, texts)) + texts * np.arange(rows)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=rows * texts)
        yield counts.reshape(rows, texts).astype(np.float32)


def _quantiles(values: Array, at: tuple[float, float]) -> tuple[Array, Array]:
    """Return two quantiles over the resamples; NaN where all of them are."""
    some = ~np.isnan(values).all(axis=0)
    low, high = (np.full(values.shape[1:], np.nan) for _ in at)
    if some.any():
        low[some], high[some] = np.nanquantile(values[:, some], at, axis=0)
    return low, high
