"""One text under attack, without a run: `brittle.ladder`, and `brittle try` on the command line.

Nothing is stored. Without an attack, the text is attacked at every level of edits, from gentle to
rough.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from brittle.data.dataset import Dataset
from brittle.data.example import Example
from brittle.errors import TargetError, UsageError
from brittle.goals import Goal
from brittle.levels import LEVELS
from brittle.progress import Progress, listener, shows_progress
from brittle.reports.attempts import Attempt, attempts_block, attempts_ladder
from brittle.reports.notebook import attempts_html
from brittle.reports.terminal import as_text
from brittle.results import Result
from brittle.runs.job import Job
from brittle.runs.keywords import SharedAnswers
from brittle.runs.options import TRIED_BUDGET, split_flat, with_flat
from brittle.runs.rows import result_of, steps_of
from brittle.runs.runner import for_data, opened_target, search
from brittle.targets.options import Target


@dataclass(frozen=True, repr=False)
class TriedText:
    """How one text stands: a row for each level of edits, or for the attack that was named.

    `attempts` has the improvements on the way as well. Printed, it is what `brittle try` prints; a
    notebook shows it, too.
    """

    attempts: tuple[Attempt, ...]
    is_ladder: bool

    @property
    def results(self) -> list[Result]:
        """How every attempt ended."""
        return [result for result, _ in self.attempts]

    @property
    def level(self) -> str | None:
        """The gentlest level that breaks the text; None if none does, or no level was climbed."""
        ended = zip(LEVELS, self.results) if self.is_ladder else ()
        return next((level for level, row in ended if row.status == "broken"), None)

    @property
    def is_broken(self) -> bool:
        """Whether any attempt breaks the text."""
        return any(row.status == "broken" for row in self.results)

    def rows(self) -> list[dict[str, Any]]:
        """Return every attempt as plain data, with its steps."""
        return [
            asdict(row) | {"steps": [asdict(step) for step in steps]}
            for row, steps in self.attempts
        ]

    def block(self) -> Any:
        """Build what the terminal shows."""
        show = attempts_ladder if self.is_ladder else attempts_block
        return show(self.attempts)

    def __repr__(self) -> str:
        ended = ", ".join(f"{row.status}" for row in self.results)
        return f"TriedText({self.results[0].original[:60]!r}: {ended})"

    def __str__(self) -> str:
        return as_text(self.block())

    def _repr_html_(self) -> str:
        return attempts_html(self.results, self.is_ladder)


@shows_progress("trying")
def ladder(
    target: Any,
    text: str,
    attack: str = "",
    *,
    label: str | None = None,
    goal: str | Goal | None = None,
    budget: int | None = TRIED_BUDGET,
    seed: int = 0,
    progress: Progress[str] = True,
    **settings: Any,
) -> TriedText:
    """Attack one text at every level of edits, or with one attack; nothing is stored.

    `target` is anything that `brittle.attack` takes. `label` is the true label; without it the
    attack tries to change the target's own prediction. Every level, or the attack, has at most
    `budget` queries. Further keywords are settings of the attack, or options of `Target`, such as
    `labels`.

        tried = brittle.ladder("zoo:naive-bayes@mr", "A warm and funny film.")
        print(tried)
        tried.level
    """
    options, settings = split_flat(settings)
    if settings and not attack:
        raise UsageError(
            f"Got {', '.join(settings)} without an attack. Settings belong to an attack: "
            "name one, such as attack='pwws'."
        )
    attacks = [(attack, settings)] if attack else ladder_attacks()
    others = [name for owner, named in options.items() if owner != "target" for name in named]
    if others:
        raise UsageError(
            f"Got {', '.join(others)}, which work only for runs. Use brittle.attack for them."
        )
    dataset = _dataset(text, label)
    named = with_flat(Target.of(target), "target", options["target"])
    named = for_data(named, dataset, attack or "auto")
    with opened_target(named) as opened:
        aims: dict[str, Any] = {"label": label, "goal": goal, "seed": seed, "budget": budget}
        attempts = try_text(opened, text, attacks, **aims, progress=progress)
    return TriedText(tuple(attempts), not attack)


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
    progress: Progress[str] = False,
) -> list[Attempt]:
    """Attack one text with each attack; return how each ended, with its improvements on the way.

    An attack is its name and its settings, and has the whole budget. What one has asked the next
    one need not ask again.
    """
    dataset = _dataset(text, label)
    attempts: list[Attempt] = []
    shared = SharedAnswers()
    for attack, settings in attacks:
        listener(progress)(str(settings.get("levels", attack)))
        job = Job.of(target, dataset, attack, settings, seed=seed, goal=goal)
        (case,) = job.cases(dataset, ["sentence"], set())
        outcome = search(job, case, budget, shared)
        result = result_of(outcome, job)
        if result.status == "error" and result.predicted is None:
            raise TargetError(f"The target does not answer this text. {result.reason}")
        attempts.append((result, list(steps_of(outcome, job))))
    return attempts


def _dataset(text: str, label: str | None) -> Dataset:
    labels = () if label is None else (label,)
    return Dataset("sentence", "all", (Example.of(text, label),), labels)
