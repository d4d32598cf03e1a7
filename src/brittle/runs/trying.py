"""One text under attack, without a run: nothing is stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from brittle.data.dataset import Dataset
from brittle.data.example import Example
from brittle.goals import Goal
from brittle.levels import LEVELS
from brittle.results import Result, Step
from brittle.runs.job import Job
from brittle.runs.rows import result_of, steps_of
from brittle.runs.runner import search
from brittle.runs.shared_answers import SharedAnswers


def ladder_attacks() -> list[tuple[str, Mapping[str, Any]]]:
    """Return an attack for every level of edits, from gentle to rough."""
    return [("auto", {"levels": level, "random_edits": 0}) for level in LEVELS]


def try_text(
    target: Any,
    text: str,
    attacks: Iterable[tuple[str, Mapping[str, Any]]],
    *,
    label: str | None = None,
    goal: str | Goal | None = None,
    seed: int = 0,
    budget: int | None = None,
) -> list[tuple[Result, list[Step]]]:
    """Attack one text with each attack; return how each ended, with its improvements on the way.

    An attack is its name and its settings, and has the whole budget. What one has asked the next
    one need not ask again.
    """
    labels = () if label is None else (label,)
    dataset = Dataset("sentence", "all", (Example.of(text, label),), labels)
    attempts, shared = [], SharedAnswers()
    for attack, settings in attacks:
        job = Job.of(target, dataset, attack, settings, seed=seed, goal=goal)
        (case,) = job.cases(dataset, ["sentence"], set())
        outcome = search(job, case, budget, shared)
        attempts.append((result_of(outcome, job), list(steps_of(outcome, job))))
    return attempts
