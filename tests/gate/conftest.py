"""Rows and runs of two versions of a model, of which the second may be worse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from brittle.metrics.samples import sample_results
from brittle.results import Result

BROKEN, HELD, WRONG = (sample_results()[number] for number in (0, 3, 5))
KINDS = {"b": BROKEN, "h": HELD, "w": WRONG}


def rows(outcomes: str) -> list[Result]:
    """Make a row for each letter: b is broken, h held, w already wrong."""
    return [replace(KINDS[it], case=f"{n:016x}") for n, it in enumerate(outcomes)]


@dataclass
class GivenRun:
    """A run as the gate needs it."""

    name: str
    given: Sequence[Result]
    manifest: dict[str, Any] = field(default_factory=lambda: {"attack": "pwws", "goal": "any"})
    complete: bool = True

    def results(self) -> list[Result]:
        return list(self.given)


@pytest.fixture
def make() -> Callable[..., GivenRun]:
    """Return a function that makes a run from letters, with changed entries of its manifest."""

    def made(name: str, outcomes: str, **changes: Any) -> GivenRun:
        run = GivenRun(name, rows(outcomes))
        run.manifest |= changes
        return run

    return made
