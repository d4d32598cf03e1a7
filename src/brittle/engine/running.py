"""One case under attack: its search, what it asks next, its budget, and what it has found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from brittle.asks import Answer, Ask, Case, Search, Status, Try, Unfit, leaves
from brittle.engine.budget import Question, cut_to_budget
from brittle.engine.outcomes import Improvement, Outcome

FIRST_PART = 4
"""The number of candidates of a path that are asked about first."""


@dataclass
class RunningCase:
    """A case whose search has begun.

    `plan` lists the plain questions of this round, each with the items that the budget allows.
    `parts` are the answers so far to a path, which is asked part by part. `has_offered` tells
    whether a candidate was tried; the original, asked about again, is none.
    """

    case: Case[Any]
    search: Search[None]
    label: int
    toward: int
    steps: list[Improvement]
    queries: int = 1
    ask: Ask[Any] = field(default_factory=lambda: Ask(()))
    plan: list[Question] = field(default_factory=list)
    is_out_of_budget: bool = False
    has_offered: bool = False
    parts: list[Answer] = field(default_factory=list)

    @property
    def path(self) -> Sequence[Any] | None:
        """Return the candidates offered in order, or None if the question is of another kind."""
        return self.ask.items if isinstance(self.ask, Try) and self.ask.in_order else None

    @property
    def tried(self) -> int:
        """Count the candidates of the path that are answered."""
        return sum(len(answer.loss) for answer in self.parts)

    def make_plan(self, budget: int | None) -> None:
        """Plan the questions of this round, within the budget."""
        questions = []
        for leaf in leaves(self.ask):
            items = leaf.items
            if leaf is self.ask and self.path is not None:
                # Most paths win early: ask about a few, then about as many again as were tried.
                items = items[self.tried : self.tried + max(FIRST_PART, self.tried)]
            questions.append((leaf, items))
        left = None if budget is None else budget - self.queries
        self.plan, self.is_out_of_budget = cut_to_budget(questions, left)

    def judge(self, leaf: Try, items: Sequence[Any], answer: Answer) -> Improvement | None:
        """Count the queries of a Try, note its improvements, and return the winner, if any."""
        wins = np.flatnonzero(answer.won)
        count, winner = len(items), -1
        if len(wins):
            winner = int(wins[0]) if leaf.in_order else int(wins[answer.loss[wins].argmax()])
            count = winner + 1 if leaf.in_order else count
        best_loss = self.steps[-1].loss
        self.has_offered = self.has_offered or any(item is not self.case.text for item in items)
        for n in range(count):
            # The original, asked about again, gains nothing but rounding.
            if answer.loss[n] > best_loss and items[n] is not self.case.text:
                best_loss = float(answer.loss[n])
                self.steps.append(self._improvement(n, items, answer))
        found = self._improvement(winner, items, answer) if winner >= 0 else None
        self.queries += count
        return found

    def _improvement(self, n: int, items: Sequence[Any], answer: Answer) -> Improvement:
        return Improvement(self.queries + n + 1, float(answer.loss[n]), items[n], answer.scores[n])

    def unfit(self, unfit: Unfit) -> Outcome:
        """Build the outcome of a case that its search calls unfit."""
        if self.has_offered:
            misuse = "called the case unfit after it had tried candidates"
            return self.outcome("error", f"the attack {misuse}: {unfit}. Let the search end.")
        return self.outcome("skipped", str(unfit))

    def outcome(self, status: Status, reason: str, best: Improvement | None = None) -> Outcome:
        """Build the outcome; without a winner, `best` is the last improvement."""
        steps = tuple(self.steps)
        if best is not None:
            steps = (*(step for step in steps if step.query < best.query), best)
        elif len(steps) > 1:
            best = steps[-1]
        return Outcome(self.case, status, reason, self.queries, steps, best)
