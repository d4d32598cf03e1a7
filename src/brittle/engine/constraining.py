"""Constraints on candidates: one that reaches the goal but does not keep enough is no winner.

Only candidates that were offered and have won are measured: few, and only they could be reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from brittle.asks import Answer
from brittle.constraints import Constraint, compare
from brittle.engine.broker import Broker
from brittle.engine.rounds import RoundAsks


def hold_to(
    constraints: Sequence[Constraint], broker: Broker, asked: RoundAsks, judged: Answer
) -> Answer:
    """Take the win from candidates of a round that break a constraint, and mark them as refused.

    Such a candidate counts as one that gains nothing: it has the loss of the original, so that a
    search does not follow it.
    """
    refused = np.zeros(len(judged.won), dtype=bool)
    owners: list[Any] = [case for case, n in zip(asked.cases, asked.counts) for _ in range(n)]
    winning = np.flatnonzero(judged.won & np.array(asked.offered, dtype=bool)).tolist()
    for constraint in constraints:
        pairs = [(owners[n].item, asked.items[n]) for n in winning]
        values = compare(constraint.measure, pairs, broker.answer)
        kept = []
        for n, value in zip(winning, values):
            if constraint.holds(value):
                kept.append(n)
            else:
                judged.won[n], judged.loss[n] = False, owners[n].start_loss
                refused[n] = True
        winning = kept
    return replace(judged, refused=refused)
