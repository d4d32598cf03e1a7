"""Questions of the driver's that a worker answers, for a text may end the process that asks.

The diagnosis and the drawing of keywords ask about originals before the first case is attacked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from brittle.engine.desks import Failures, compute_by_halves
from brittle.runs.workers.driver import Driver


@dataclass(frozen=True)
class WorkerAsker:
    """Answers as a broker does, by a worker of a driver that does not deal cases yet.

    If the worker dies, another one is asked about each half, until what it died of is alone.
    """

    driver: Driver

    @property
    def most_sent(self) -> int | None:
        return self.driver.broker.most_sent

    @property
    def left(self) -> int | None:
        return self.driver.broker.left

    def answer(self, question: str, items: Sequence[Any]) -> tuple[list[Any], Failures]:
        return self._ask(question, items, alone=False)

    def alone(self, question: str, items: Sequence[Any]) -> tuple[list[Any], Failures]:
        return self._ask(question, items, alone=True)

    def _ask(self, question: str, items: Sequence[Any], alone: bool) -> tuple[list[Any], Failures]:
        def compute(part: Sequence[Any]) -> list[tuple[Any, Exception | None]]:
            payloads, failures = self.driver.ask(question, part, alone)
            return [(payload, failures.get(n)) for n, payload in enumerate(payloads)]

        answers, deaths = compute_by_halves(compute, items)
        pairs = [(None, deaths[n]) if n in deaths else pair for n, pair in enumerate(answers)]
        failures = {n: failure for n, (_, failure) in enumerate(pairs) if failure is not None}
        return [payload for payload, _ in pairs], failures
