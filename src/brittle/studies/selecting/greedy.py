"""Greedy selection: the best single source, then always the one that adds most."""

from __future__ import annotations

import numpy as np

from brittle.studies.selecting.candidates import Candidates


def greedy(candidates: Candidates, size: int) -> tuple[int, ...]:
    """Return an ensemble in the order of choice; ties go to the first in the pool.

    The objective is submodular, so the ensemble reaches at least 1 − 1/e of the optimum
    (Nemhauser et al., 1978).
    """
    chosen: list[int] = []
    best = np.zeros(len(candidates.targets))
    for _ in range(size):
        mean = np.maximum(candidates.known_rate, best).mean(axis=1)
        mean[chosen] = -1.0
        chosen.append(int(mean.argmax()))
        best = np.maximum(best, candidates.known_rate[chosen[-1]])
    return tuple(chosen)
