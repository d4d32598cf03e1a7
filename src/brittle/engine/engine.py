"""The engine: advances many searches side by side and judges what they offer.

Every round takes the pending questions of all running cases, has the broker answer them as one
batch, judges the answers by the goal, and sends each search its part. Budgets, wins, steps and
statuses are decided here and nowhere else.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import numpy as np

from brittle.asks import Answer, Ask, Attack, Case, Search, Status, Try, assembled, leaves
from brittle.engine.broker import Broker
from brittle.engine.outcomes import Improvement, Outcome
from brittle.engine.rounds import RoundAnswers, error_message, join_answers
from brittle.errors import BrittleError, Interrupted, TargetDown
from brittle.goals import Goal

PART = 4
"""How many candidates of a path are asked at first."""


@dataclass
class _Running:
    case: Case[Any]
    search: Search[None]
    queries: int
    label: int
    toward: int
    best_loss: float
    ask: Ask[Any]
    steps: list[Improvement] = field(default_factory=list)
    plan: list[tuple[Ask[Any], Sequence[Any]]] = field(default_factory=list)
    spent: bool = False
    heard: list[Answer] = field(default_factory=list)

    @property
    def path(self) -> Sequence[Any] | None:
        """Give what is offered in order and by itself, and so can be asked part by part."""
        return self.ask.items if isinstance(self.ask, Try) and self.ask.in_order else None

    @property
    def tried(self) -> int:
        return sum(len(answer.loss) for answer in self.heard)


@dataclass
class Engine:
    """Attack cases, a sliding window of them at a time.

    Up to `admit` new cases join a round that holds fewer than `fill` items and `window` cases.
    After `patience` cases in a row that ended in an error the target counts as down. Cases of a
    size above `longest` are skipped. `name` is the attack's, part of every case's random seed.
    """

    attack: Attack
    goal: Goal
    broker: Broker
    name: str = "attack"
    budget: int | None = None
    seed: int = 0
    window: int = 256
    fill: int = 8192
    admit: int = 32
    patience: int = 25
    longest: int = 5000

    def run(self, cases: Iterable[Case[Any]]) -> Iterator[list[Outcome]]:
        """Yield, round by round, the outcomes of the cases that ended in it."""
        # What was there before is not garbage, and looking through it again and again (a model,
        # word tables) would take much of the engine's time.
        gc.freeze()
        try:
            yield from self._rounds(iter(cases))
        finally:
            gc.unfreeze()

    def _rounds(self, source: Iterator[Case[Any]]) -> Iterator[list[Outcome]]:
        running: list[_Running] = []
        failing = 0
        while True:
            if self.broker.stopping.is_set():
                raise Interrupted("Stopped as asked, after the round that was under way.")
            ended: list[Outcome] = []
            fresh = list(self._admitted(source, running))
            if fresh:
                self._start(fresh, running, ended)
            elif not running:
                return
            if running:
                self._round(running, ended)
            for outcome in ended:
                failing = failing + 1 if outcome.status == "error" else 0
            if ended:
                yield ended
            if failing >= self.patience:
                raise TargetDown(
                    f"The last {failing} cases all ended in an error; the last one: "
                    f"{ended[-1].reason}. Mend the target, then resume with --retry-errors."
                )

    def _admitted(self, source: Iterator[Any], running: list[_Running]) -> Iterator[Any]:
        """Take new cases while there is room; long ones take more of it, for they fill memory."""
        asked = ((len(leaf.items), r.case.text.size) for r in running for leaf in leaves(r.ask))
        full = sum(count * max(1, size // 256) for count, size in asked) >= self.fill
        room = 0 if full or len(running) >= self.window else 64 * self.admit
        while room > 0 and (case := next(source, None)) is not None:
            yield case
            room -= max(64, case.text.size)

    def _start(self, cases: list[Case[Any]], running: list[_Running], ended: list[Outcome]) -> None:
        """Ask about the originals (query 1), skip what need not be attacked, begin the rest."""
        payloads, failures = self.broker.answer("scores", [case.text for case in cases])
        for number, (case, payload) in enumerate(zip(cases, payloads)):
            if number in failures:
                ended.append(Outcome(case, "error", error_message(failures[number]), 1))
                continue
            label = self.goal.reference(payload) if case.label is None else case.label
            toward = -1 if case.toward is None else case.toward
            loss, won = self.goal.judge(np.array([payload]), np.array([label]), np.array([toward]))
            started = replace(case, label=label, start=Answer(np.array([payload]), loss, won))
            first = Improvement(1, float(loss[0]), case.text, payload)
            reason = self.goal.unfit(payload, label, toward)
            if reason is None and not 0 < case.text.size <= self.longest:
                reason = f"too long (above {self.longest})" if case.text.size else "nothing to edit"
            if reason is not None:
                ended.append(Outcome(started, "skipped", reason, 1, (first,)))
                continue
            rng = Random(f"{self.seed}:{case.id}:{self.name}")
            search = self.attack(started, rng)
            r = _Running(started, search, 1, label, toward, first.loss, Ask(()), [first])
            if self._advance(r, None, ended):
                running.append(r)

    def _round(self, running: list[_Running], ended: list[Outcome]) -> None:
        orders: dict[str, list[Any]] = {}
        owners: dict[str, list[tuple[int, int, int]]] = {}
        for r in running:
            self._plan(r)
            for leaf, asked in r.plan:
                orders.setdefault(leaf.question, []).extend(leaf.requests_for(asked))
                if leaf.is_query:
                    owners.setdefault(leaf.question, []).append((r.label, r.toward, len(asked)))
        start = running[0].case.start
        views = {q: self._answers(q, items, owners.get(q), start) for q, items in orders.items()}
        winners: list[tuple[_Running, Improvement]] = []
        still = [r for r in running if self._settle(r, views, winners, ended)]
        self._confirm(winners, ended)
        running[:] = still

    def _answers(
        self,
        question: str,
        items: list[Any],
        owners: list[tuple[int, int, int]] | None,
        start: Answer | None,
    ) -> RoundAnswers:
        """Have one desk answer a round, and judge what it says if that was a query."""
        payloads, failures = self.broker.answer(question, items)
        if owners is None:
            return RoundAnswers(payloads, failures)
        rows = payloads
        if (failures or question != "scores") and start is not None:
            # A row of the right shape for what failed; the cases that asked for it end anyway.
            rows = [start.scores[0] if p is None else getattr(p, "scores", p) for p in payloads]
        label, toward, count = np.array(owners).T
        scores = np.array(rows, dtype=np.float64)
        if not items:
            return RoundAnswers(payloads, failures, (scores, np.empty(0), np.empty(0, dtype=bool)))
        judged = self.goal.judge(scores, np.repeat(label, count), np.repeat(toward, count))
        return RoundAnswers(payloads, failures, (scores, *judged))

    def _plan(self, r: _Running) -> None:
        """Cut what the case asks to its budget: a Try in order, a Probe whole or not at all."""
        r.plan = []
        left = None if self.budget is None else self.budget - r.queries
        for leaf in leaves(r.ask):
            if type(leaf) not in self.attack.asks:
                raise BrittleError(
                    f"Attack {self.name!r} asks {type(leaf).__name__}, which it does not declare. "
                    f"Add it to its `asks`."
                )
            asked = leaf.items
            if leaf is r.ask and r.path is not None:
                # Most paths win early: ask for a few, then for as many again as were tried.
                asked = asked[r.tried : r.tried + max(PART, r.tried)]
            if leaf.is_query and left is not None:
                if len(asked) > left:
                    # The search ends here, so nobody would hear what its other Probes say.
                    r.spent = True
                    r.plan = [part for part in r.plan if isinstance(part[0], Try)]
                    r.plan += [(leaf, asked[:left])] if isinstance(leaf, Try) else []
                    return
                left -= len(asked)
            r.plan.append((leaf, asked))

    def _settle(
        self,
        r: _Running,
        views: dict[str, RoundAnswers],
        winners: list[tuple[_Running, Improvement]],
        ended: list[Outcome],
    ) -> bool:
        """Count and judge the answers of one case; say whether its search goes on."""
        answers: list[Any] = []
        decided = False
        for leaf, asked in r.plan:
            payload, failure = views[leaf.question].next(leaf, len(asked))
            if decided:
                continue
            if failure is not None:
                r.queries += len(asked) if leaf.is_query else 0
                ended.append(self._outcome(r, "error", error_message(failure)))
                decided = True
            elif isinstance(leaf, Try):
                winner = self._judge(r, leaf, asked, payload)
                if winner is not None:
                    winners.append((r, winner))
                    decided = True
            elif leaf.is_query:
                r.queries += len(asked)
            answers.append(payload)
        if decided:
            r.search.close()
            return False
        if r.spent:
            r.search.close()
            ended.append(self._outcome(r, "out of budget", f"budget of {self.budget} queries"))
            return False
        if r.path is None:
            return self._advance(r, assembled(r.ask, iter(answers)), ended)
        r.heard.append(answers[0])
        if r.tried < len(r.path):
            return True
        whole, r.heard = join_answers(r.heard), []
        return self._advance(r, whole, ended)

    def _judge(
        self, r: _Running, leaf: Try, asked: Sequence[Any], answer: Answer
    ) -> Improvement | None:
        """Count a Try, note every improvement on its way, and give the winner if there is one."""
        wins = np.flatnonzero(answer.won)
        count = len(asked)
        chosen = -1
        if len(wins):
            chosen = int(wins[0]) if leaf.in_order else int(wins[answer.loss[wins].argmax()])
            count = chosen + 1 if leaf.in_order else count
        for n in range(count):
            # The original, asked about again, gains nothing but rounding.
            if answer.loss[n] > r.best_loss and asked[n] is not r.case.text:
                r.best_loss = float(answer.loss[n])
                r.steps.append(self._improvement(r, n, asked, answer))
        winner = self._improvement(r, chosen, asked, answer) if chosen >= 0 else None
        r.queries += count
        return winner

    @staticmethod
    def _improvement(r: _Running, n: int, asked: Sequence[Any], answer: Answer) -> Improvement:
        return Improvement(r.queries + n + 1, float(answer.loss[n]), asked[n], answer.scores[n])

    def _confirm(self, winners: list[tuple[_Running, Improvement]], ended: list[Outcome]) -> None:
        """Score every winner again, alone: only what still wins is reported as won."""
        if not winners:
            return
        payloads, failures = self.broker.alone("scores", [best.item for _, best in winners])
        for number, ((r, best), payload) in enumerate(zip(winners, payloads)):
            if number in failures:
                ended.append(self._outcome(r, "unconfirmed", error_message(failures[number]), best))
                continue
            loss, won = self.goal.judge(
                np.array([payload]), np.array([r.label]), np.array([r.toward])
            )
            final = replace(best, loss=float(loss[0]), payload=payload)
            if won[0]:
                ended.append(self._outcome(r, "broken", "", final))
            else:
                reason = "scored again alone, it no longer wins"
                ended.append(self._outcome(r, "unconfirmed", reason, final))

    def _advance(self, r: _Running, answer: Any, ended: list[Outcome]) -> bool:
        try:
            r.ask = r.search.send(answer)
            return True
        except StopIteration:
            ended.append(self._outcome(r, "held", ""))
        except BrittleError:
            raise
        except Exception as error:
            ended.append(self._outcome(r, "error", f"the attack raised {error_message(error)}"))
        return False

    @staticmethod
    def _outcome(
        r: _Running, status: Status, reason: str, best: Improvement | None = None
    ) -> Outcome:
        steps = tuple(r.steps)
        if best is not None:
            steps = (*(step for step in steps if step.query < best.query), best)
        elif len(steps) > 1:
            best = steps[-1]
        return Outcome(r.case, status, reason, r.queries, steps, best)
