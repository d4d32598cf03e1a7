"""The transfer matrix r(s, t): the share of a source's adversarial texts that a target gets wrong.

Rows are sources, columns are targets; an empty cell is NaN.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from brittle.studies.pools import Member
from brittle.studies.transfer.study import TransferResults

Array = NDArray[np.float64]


@dataclass(frozen=True)
class TransferMatrix:
    """`rate` counts all texts, as the paper does; `rate_of_right` those that a target had right.

    `count` is the number of texts of each source.
    """

    sources: tuple[Member, ...]
    targets: tuple[Member, ...]
    rate: Array
    rate_of_right: Array
    count: NDArray[np.int64]


def transfer_matrix(study: TransferResults) -> TransferMatrix:
    """Compute the matrix of the results of a study."""
    shape = (len(study.sources), len(study.targets))
    rate, rate_of_right = np.full(shape, np.nan), np.full(shape, np.nan)
    for row, source in enumerate(study.sources):
        for column, target in enumerate(study.targets):
            fooled = study.fooled(source.name, target.name)
            if fooled is None or not len(fooled):
                continue
            rate[row, column] = fooled.mean()
            right = study.was_right(source.name, target.name)
            if right.any():
                rate_of_right[row, column] = fooled[right].mean()
    count = np.array([len(study.winners.get(source.name, ())) for source in study.sources])
    return TransferMatrix(study.sources, study.targets, rate, rate_of_right, count)
