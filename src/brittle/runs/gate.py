"""A gate for CI: is a later run significantly worse than the first one?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from brittle.errors import GateFailed, Incomplete, UsageError
from brittle.formatting import plural
from brittle.metrics.paired import paired
from brittle.reports.summary_lines import answers_texts
from brittle.results import Result
from brittle.runs.run import open_run


class GatedRun(Protocol):
    """What the gate needs of a run."""

    @property
    def name(self) -> str: ...

    @property
    def manifest(self) -> Mapping[str, Any]: ...

    @property
    def complete(self) -> bool: ...

    def results(self) -> list[Result]: ...


@dataclass(frozen=True)
class GateVerdict:
    """A later run against the first: by how much `what` happened, over how many shared cases.

    `by` is a share, positive if the later run is the worse one; `p` is of McNemar's exact test, and
    `is_worse` what it decides at the level. As a string it says why a gate fails.
    """

    run: str
    first: str
    what: str
    by: float
    cases: int
    p: float | None
    level: float
    is_worse: bool

    def require(self) -> None:
        """Raise `GateFailed` if the later run is worse, for a test or a script in CI."""
        if self.is_worse:
            raise GateFailed(str(self))

    def __str__(self) -> str:
        return (
            f"{self.run!r} is worse than {self.first!r}: {self.what} by "
            f"{100 * self.by:.1f} points over {plural(self.cases, 'shared cases')} "
            f"(McNemar's exact test: p = {self.p:.3g}, below {self.level:g})."
            if self.is_worse
            else f"{self.run!r} is not significantly worse than {self.first!r}."
        )


def gate(
    old: GatedRun | str, new: GatedRun | str, *, level: float = 0.05, folder: str | Path = "runs"
) -> GateVerdict:
    """Compare a new run with an old one: is the model significantly easier to break now?

    Runs are `Run` objects, or names of runs in a `folder`. McNemar's exact test decides at the
    `level`.

        verdict = brittle.gate("before", "after")
        print(verdict)
        verdict.require()  # raises GateFailed if the new run is worse
    """
    runs = [open_run(run, folder) if isinstance(run, str) else run for run in (old, new)]
    [verdict] = verdicts(runs, level)
    return verdict


def verdicts(runs: Sequence[GatedRun], level: float = 0.05) -> Iterator[GateVerdict]:
    """Yield a verdict for every later run against the first one; all must be complete.

    Worse is a lower accuracy under attack. Translators have none: of them it is a higher success.
    """
    for run in runs:
        if not run.complete:
            raise Incomplete(f"The run {run.name!r} is not complete: nothing can be concluded.")
    first, *later = runs
    rows, translates = first.results(), answers_texts(first.manifest)
    for run in later:
        if answers_texts(run.manifest) != translates:
            raise UsageError(
                f"Of {first.name!r} and {run.name!r} only one is about a translator: nothing to "
                "test. Compare translators with translators, and classifiers with classifiers."
            )
        pair = paired(rows, run.results())
        contrast, what = pair.accuracy, "accuracy under attack fell"
        if translates:
            contrast, what = pair.success, "attack success rose"
        if contrast.of == 0:
            raise UsageError(_nothing_to_test(run.name, first.name, pair.shared, translates))
        worse = (contrast.difference or 0.0) * (1 if translates else -1)
        is_worse = worse > 0 and contrast.is_significant(level)
        facts = (what, worse, contrast.of, contrast.p, level, is_worse)
        yield GateVerdict(run.name, first.name, *facts)


def check_several(runs: Sequence[GatedRun]) -> None:
    """Refuse a gate that has nothing to compare."""
    if len(runs) < 2:
        raise UsageError("--fail-if-worse compares runs: name two or more.")


def require_no_worse(runs: Sequence[GatedRun], level: float = 0.05) -> None:
    """Fail if a later run is significantly worse than the first one (`--fail-if-worse`)."""
    check_several(runs)
    for verdict in verdicts(runs, level):
        verdict.require()


def _nothing_to_test(run: str, first: str, shared: int, translates: bool) -> str:
    if not shared:
        return f"{run!r} shares no case with {first!r}: nothing to test."
    done = "attacked" if translates else "answered"
    return (
        f"{run!r} shares {plural(shared, 'cases')} with {first!r}, but none of them was "
        f"{done} in both: nothing to test."
    )
