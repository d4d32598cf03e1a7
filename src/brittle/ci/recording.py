"""Attack a model, keep the run, and ask the gate: what a test, a step or an evaluator does."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from brittle.errors import RunStopped, UsageError
from brittle.formatting import percent, plural
from brittle.metrics.regression import LEVEL, TOLERANCE
from brittle.metrics.summary import summary
from brittle.reports.side_by_side import side_by_side_page
from brittle.reports.verdict import Verdict
from brittle.runs.gate import gate
from brittle.runs.run import Run
from brittle.runs.runner import attack
from brittle.safety.files import replacing, write_whole


@dataclass(frozen=True)
class Bounds:
    """What a model must keep: no worse than a baseline, and at most so much broken."""

    against: Path | None = None
    max_broken: Mapping[str, float] | float | None = None
    level: float = LEVEL
    tolerance: float = TOLERANCE
    accepted: Path | None = None

    def __post_init__(self) -> None:
        if self.against is None and self.max_broken is None:
            raise UsageError(
                "Nothing to judge: name a baseline with against=…, or bounds with max_broken=…."
            )


@dataclass(frozen=True)
class Recording:
    """What is attacked and how, and the folder where its runs and pages are kept."""

    model: Any
    examples: Any
    attack: Any
    folder: Path
    settings: Mapping[str, Any] = field(default_factory=dict)

    def run(self, time_limit: float | None = None) -> Run:
        """Attack, or resume, or return the finished run; `RunStopped` at the limit in seconds."""
        with _stopping(time_limit) as stopping:
            return attack(
                *(self.model, self.examples, self.attack),
                folder=self.folder,
                progress=False,
                stopping=stopping,
                **self.settings,
            )


@contextmanager
def _stopping(seconds: float | None) -> Iterator[threading.Event]:
    """Yield an event that is set after so many seconds; the batch under way is finished then."""
    event = threading.Event()
    timer = threading.Timer(seconds, event.set) if seconds is not None else None
    if timer is not None:
        timer.daemon = True
        timer.start()
    try:
        yield event
    except RunStopped as error:
        if not event.is_set():
            raise
        raise RunStopped(
            f"The time limit of {seconds:g} seconds ended the attack. Finished cases are kept: the "
            "same test goes on with the others."
        ) from error
    finally:
        if timer is not None:
            timer.cancel()


def judged(run: Run, bounds: Bounds, page: Path) -> Verdict:
    """Ask the gate about a run; unless it passes, write a page with all cases."""
    old = Run(bounds.against) if bounds.against is not None else None
    verdict = gate(
        *(old, run),
        level=bounds.level,
        tolerance=bounds.tolerance,
        max_broken=bounds.max_broken,
        accepted=bounds.accepted or (),
    )
    if verdict.outcome == "pass":
        return verdict
    if old is None:
        run.report(page)
    else:
        page.parent.mkdir(parents=True, exist_ok=True)
        text = side_by_side_page(old, run, bounds.level, verdict.headline)
        write_whole(page, text, errors="replace")
    return verdict.with_page(str(page))


def write_baseline(run: Run, path: Path) -> str:
    """Copy a finished run to where the baseline is kept, and say what it holds."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        replacing(path) as new,
        closing(sqlite3.connect(run.path)) as source,
        closing(sqlite3.connect(new)) as copy,
    ):
        source.backup(copy)
        copy.execute("PRAGMA journal_mode=DELETE")
    found = summary(run.results())
    return (
        f"Baseline written: {path} ({plural(len(run.results()), 'cases')}, "
        f"{percent(found.before.value)} right, {percent(found.after.value)} "
        "under attack). Look at these figures, and commit the file."
    )
