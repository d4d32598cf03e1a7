"""Every ensemble of a size: the optimum, for pools that are small enough."""

from __future__ import annotations

from itertools import combinations, islice
from math import comb

import numpy as np

from brittle.errors import UsageError
from brittle.studies.selecting.candidates import Candidates

MAX_ENSEMBLES = 1_000_000
ENSEMBLES_PER_CALL = 20_000


def exhaustive(candidates: Candidates, size: int) -> tuple[int, ...]:
    """Return the best ensemble; ties go to the first in the order of the pool."""
    count = comb(len(candidates.sources), size)
    if count > MAX_ENSEMBLES:
        raise UsageError(
            f"There are {count:,} ensembles of {size} out of {len(candidates.sources)}; exhaustive "
            f"selection takes at most {MAX_ENSEMBLES:,}. Use the method genetic or greedy."
        )
    ensembles = combinations(range(len(candidates.sources)), size)
    best: tuple[int, ...] = ()
    highest = -1.0
    while part := list(islice(ensembles, ENSEMBLES_PER_CALL)):
        objective = candidates.objective(np.array(part, dtype=np.int64))
        first = int(objective.argmax())
        if objective[first] > highest:
            best, highest = part[first], float(objective[first])
    return best
