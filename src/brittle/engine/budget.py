"""The budget of a case: how many of its questions are asked, and when it is out of budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from brittle.asks import Ask, Try

Question = tuple[Ask[Any], Sequence[Any]]
"""A plain question and the items to ask it about."""


def cut_to_budget(questions: list[Question], left: int | None) -> tuple[list[Question], bool]:
    """Cut the questions of a round to the queries that are left; None is no limit.

    A Try is cut in order, and ends the search. A partial Probe is cut in order too, and the search
    goes on if there was anything left before this round. Any other Probe is asked whole or not at
    all. Return the questions to ask, and whether the case is out of budget after this round.
    """
    plan: list[Question] = []
    is_spent = left is not None and left <= 0
    for ask, items in questions:
        if ask.is_query and left is not None:
            if len(items) > left:
                if is_spent or not getattr(ask, "partial", False):
                    # The search ends after this round, so the answers to Probes are of no use.
                    plan = [question for question in plan if isinstance(question[0], Try)]
                    return plan + ([(ask, items[:left])] if isinstance(ask, Try) else []), True
                items = items[:left]
            left -= len(items)
        plan.append((ask, items))
    return plan, False
