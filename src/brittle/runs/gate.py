"""A gate for CI: is a new run worse than the one before it, or is more broken than allowed?

The one function that makes a `Verdict`. pytest, `brittle gate`, the Action and MLflow show it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from brittle.errors import GateFailed, Incomplete, UsageError
from brittle.formatting import plural
from brittle.metrics.regression import (
    LEVEL,
    TOLERANCE,
    bound_questions,
    newly_broken,
    paired_questions,
)
from brittle.metrics.summary import is_undone
from brittle.reports.cases import clearest
from brittle.reports.notes import normalised_notes
from brittle.reports.side_by_side import differing_entries
from brittle.reports.summary_lines import answers_texts
from brittle.reports.verdict import Verdict
from brittle.results import Result
from brittle.runs.accepted import AcceptedFailure, read_accepted, split_accepted
from brittle.runs.run import open_run

ONLY_NOTED = ("split", "seed")
"""Entries that may differ, since the shared cases alone are compared."""


class GatedRun(Protocol):
    """What the gate needs of a run."""

    @property
    def name(self) -> str: ...

    @property
    def manifest(self) -> Mapping[str, Any]: ...

    @property
    def complete(self) -> bool: ...

    def results(self) -> list[Result]: ...


def gate(
    old: GatedRun | str | None,
    new: GatedRun | str,
    *,
    level: float = LEVEL,
    tolerance: float = TOLERANCE,
    max_broken: Mapping[str, float] | float | None = None,
    accepted: str | Path | Sequence[AcceptedFailure] = (),
    folder: str | Path = "runs",
) -> Verdict:
    """Compare a new run with an old one: is the model worse, or easier to break?

    Runs are `Run` objects, or names of runs in a `folder`; both must be of the same attack. At most
    a share `level` of unchanged models fails. A pass excludes that a figure fell by `tolerance`.
    `max_broken` bounds the share of broken cases, by level of edits or as one number; with it,
    `old` may be None. `accepted` are known failures, or their file: they do not count, and those
    that no longer fail make the gate fail.

        verdict = brittle.gate("before", "after")
        print(verdict)
        verdict.require()  # raises GateFailed if the new run is worse
    """
    folder = Path(folder)
    opened = open_run(new, folder) if isinstance(new, str) else new
    before = open_run(old, folder) if isinstance(old, str) else old
    known = read_accepted(accepted) if isinstance(accepted, str | Path) else list(accepted)
    if before is not None:
        check_comparable(before, opened)
    return judge(before, opened, level, tolerance, max_broken, known)


def judge(
    old: GatedRun | None,
    new: GatedRun,
    level: float = LEVEL,
    tolerance: float = TOLERANCE,
    max_broken: Mapping[str, float] | float | None = None,
    accepted: Sequence[AcceptedFailure] = (),
) -> Verdict:
    """Return the verdict on two complete runs, or on one and its bounds."""
    if not (0 < level < 0.5 and 0 < tolerance <= 1):
        raise UsageError(
            f"Got level={level:g} and tolerance={tolerance:g}; expected a level from 0 to 0.5 and "
            "a tolerance from 0 to 1 (0.05 is 5 points)."
        )
    for run in (old, new):
        if run is not None and not run.complete:
            raise Incomplete(f"The run {run.name!r} is not complete: nothing can be concluded.")
    bounds = {"any attack": max_broken} if isinstance(max_broken, int | float) else max_broken
    if old is None and not bounds:
        raise UsageError("Nothing to judge: name a baseline, or bounds in max_broken.")
    known = split_accepted(new.results(), accepted)
    verdict = Verdict(
        old.name if old else "",
        new.name,
        level,
        tolerance,
        bounds=bound_questions(known.others, bounds, level) if bounds else (),
        accepted=known.count,
        unused=tuple(map(str, known.unused)),
        notes=(
            *((f"{plural(known.count, 'accepted failures')} left out",) if known.count else ()),
            *(
                f"{run.name}: {one}"
                for run in (old, new)
                if run
                for one in normalised_notes(run.manifest)
            ),
        ),
    )
    return verdict if old is None else _with_baseline(verdict, old, new, known.others)


def _with_baseline(
    verdict: Verdict, old: GatedRun, new: GatedRun, others: Sequence[Result]
) -> Verdict:
    """Add what the comparison with the baseline says; `others` are the rows not accepted."""

    translates = answers_texts(old.manifest)
    if answers_texts(new.manifest) != translates:
        raise UsageError(
            f"Of {old.name!r} and {new.name!r} only one is about a translator: nothing to "
            "test. Compare translators with translators, and classifiers with classifiers."
        )
    rows = old.results()
    questions = paired_questions(rows, others, verdict.level, verdict.tolerance, translates)
    ids, present = {row.case for row in rows}, {row.case for row in new.results()}
    if not questions[-1].cases and not is_undone([*rows, *others]):
        raise UsageError(_nothing_to_test(new.name, old.name, len(ids & present), translates))
    differing = differing_entries(old.manifest, new.manifest)
    notes = [*verdict.notes, *differing.values()]
    if present - ids:
        notes.append(f"{plural(len(present - ids), 'cases')} are not in the baseline: not compared")
    broken = newly_broken(rows, others)
    marks = [run.manifest.get("fingerprint") for run in (old, new)]
    return replace(
        verdict,
        questions=questions,
        newly_broken=tuple(clearest(broken, len(broken))),
        missing=len(ids - present),
        is_same_model=marks[0] is not None and marks[0] == marks[1],
        notes=tuple(notes),
    )


def check_comparable(old: GatedRun, new: GatedRun) -> None:
    """Refuse two runs whose difference may come from the attack and not from the model."""
    entries = differing_entries(old.manifest, new.manifest)
    lines = [line for key, line in entries.items() if key not in ONLY_NOTED]
    if lines:
        raise UsageError(
            f"{old.name!r} and {new.name!r} are not of the same attack. {' '.join(lines)} Attack "
            "both models with the same settings, or write the baseline again."
        )


def verdicts(
    runs: Sequence[GatedRun], level: float = LEVEL, tolerance: float = TOLERANCE
) -> Iterator[Verdict]:
    """Yield a verdict for every later run against the first one; all must be complete.

    As in `brittle compare`, the runs may be of different attacks.
    """
    first, *later = runs
    for run in later:
        yield judge(first, run, level, tolerance)


def check_several(runs: Sequence[GatedRun]) -> None:
    """Refuse a gate that has nothing to compare."""
    if len(runs) < 2:
        raise UsageError("--fail-if-worse compares runs: name two or more.")


def require_no_worse(runs: Sequence[GatedRun], level: float = LEVEL) -> None:
    """Fail if a later run is significantly worse than the first one (`--fail-if-worse`)."""
    check_several(runs)
    for verdict in verdicts(runs, level):
        if verdict.outcome == "fail":
            raise GateFailed(verdict.headline)


def _nothing_to_test(run: str, first: str, shared: int, translates: bool) -> str:
    if not shared:
        return f"{run!r} shares no case with {first!r}: nothing to test."
    done = "attacked" if translates else "answered"
    return (
        f"{run!r} shares {plural(shared, 'cases')} with {first!r}, but none of them was "
        f"{done} in both: nothing to test."
    )
