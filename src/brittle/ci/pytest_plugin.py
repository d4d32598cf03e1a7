"""The pytest plugin: the fixture `brittle`, its options, and the outcome "cannot tell".

It is loaded by every pytest that is started where brittle is installed, so that it imports nothing
but pytest until a test asks for the fixture.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from brittle.ci.recording import Bounds
    from brittle.reports.verdict import Verdict
    from brittle.runs.run import Run

OUTCOME = "brittle.outcome"
"""The name of the property in JUnit files: pass, fail, cannot tell, or baseline written."""
CANNOT_TELL = "cannot tell"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, each of which begins with --brittle."""
    group = parser.getgroup("brittle", "robustness of models")
    update = "write the baselines of the tests that are run, instead of comparing with them"
    group.addoption("--brittle-update", action="store_true", help=update)
    strict = "fail a test that has too few cases to tell (default: skip it, and say how many)"
    group.addoption("--brittle-strict", action="store_true", help=strict)
    limit = "stop each attack after so many seconds; the next call goes on with it"
    group.addoption("--brittle-time-limit", type=float, metavar="SECONDS", help=limit)


@pytest.fixture
def brittle(request: pytest.FixtureRequest) -> Robustness:
    """Attack a model in a test, and compare it with its baseline."""
    return Robustness(request)


class Robustness:
    """The fixture `brittle`: checks of a model that end a test as passed, failed or skipped."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._node = request.node
        self._config = request.config
        self._opened: dict[int, tuple[Any, Any]] = {}

    def assert_robust(
        self,
        model: Any,
        examples: Any,
        *,
        attack: Any = "auto",
        against: str | Path | None = None,
        max_broken: Mapping[str, float] | float | None = None,
        level: float = 0.05,
        tolerance: float = 0.05,
        accepted: str | Path | None = None,
        time_limit: float | None = None,
        **settings: Any,
    ) -> None:
        """Attack the model on the examples, then fail if it got worse or too much is broken.

        `against` is the file of the baseline, which `pytest --brittle-update` writes. `max_broken`
        bounds the share of broken cases, as a number or by level of edits. Further keywords are
        those of `brittle.attack`, such as limit=200. Paths are relative to pytest's root folder.
        """
        from brittle.ci.recording import Bounds, Recording, write_baseline
        from brittle.errors import RunStopped

        __tracebackhide__ = True
        baseline = None if against is None else self._path(against)
        known = None if accepted is None else self._path(accepted)
        bounds = Bounds(baseline, max_broken, level, tolerance, known)
        is_update = self._config.getoption("--brittle-update") and baseline is not None
        if baseline is not None and not is_update and not baseline.exists():
            self._end("fail", self._how_to_write(str(against)))
        folder = self._folder()
        found = self._path(examples) if isinstance(examples, str) else None
        data = str(found) if found is not None and found.exists() else examples
        recording = Recording(model, data, attack, folder, settings)
        seconds = time_limit or self._config.getoption("--brittle-time-limit")
        try:
            run = recording.run(seconds)
        except RunStopped as error:
            self._end(CANNOT_TELL, str(error))
        if is_update and baseline is not None:
            message = write_baseline(run, baseline)
            self._end("baseline written", message)
        self._judge(run, bounds, folder / "report.html", str(against or ""))

    def assert_label(self, model: Any, text: str | Mapping[str, str], label: str) -> None:
        """Fail unless the model gives this label to a text; nothing is searched."""
        from brittle.ci.failures import label_of

        __tracebackhide__ = True
        if id(model) not in self._opened:
            from brittle.opening import as_target

            self._opened[id(model)] = (model, as_target(model))
        got = label_of(self._opened[id(model)][1], text)
        if got != label:
            pytest.fail(f"{got!r} instead of {label!r}: {text}", pytrace=False)

    def _judge(self, run: Run, bounds: Bounds, page: Path, against: str) -> None:
        """End the test as the verdict says, with its figures as properties."""
        from brittle.ci.recording import judged

        __tracebackhide__ = True
        verdict = judged(run, bounds, page)
        for one in verdict.questions:
            self._note(one.name, f"{one.old:.4f} -> {one.new:.4f} (p = {one.p:.3g})")
        for bound in verdict.bounds:
            self._note(f"broken by {bound.name}", f"{bound.share:.4f}")
        self._note("run", run.path)
        if verdict.outcome == "pass":
            self._note("outcome", "pass")
            return
        root = self._config.rootpath
        verdict = verdict.with_page(str(page.relative_to(root)))
        self._end(verdict.outcome, _message(verdict, str(run.path.relative_to(root)), against))

    def _end(self, outcome: str, message: str) -> NoReturn:
        """End the test: a failure fails, all else is skipped, unless --brittle-strict is given."""
        __tracebackhide__ = True
        self._note("outcome", outcome)
        is_strict = self._config.getoption("--brittle-strict") and outcome == CANNOT_TELL
        if outcome == "fail" or is_strict:
            pytest.fail(message, pytrace=False)
        pytest.skip(message)

    def _note(self, name: str, value: Any) -> None:
        self._node.user_properties.append((f"brittle.{name}", str(value)))

    def _path(self, path: str | Path) -> Path:
        return self._config.rootpath / path

    def _folder(self) -> Path:
        """Return where the runs of this test are kept, so that it can resume; others do not."""
        name = re.sub(r"[^\w.-]+", "-", self._node.nodeid).strip("-")
        folder = self._config.rootpath / ".brittle" / name[-120:]
        folder.mkdir(parents=True, exist_ok=True)
        ignored = folder.parent / ".gitignore"
        if not ignored.exists():
            ignored.write_text("*\n")
        return folder

    def _how_to_write(self, baseline: str) -> str:
        return (
            f"There is no baseline at {baseline}. Write it with the model that is in use now:\n"
            f'    pytest --brittle-update "{self._node.nodeid}"\n'
            "then look at its figures, and commit the file."
        )


def _message(verdict: Verdict, run: str, against: str) -> str:
    """Return the verdict and what can be done about it, from pytest's root folder."""
    old = f" --against {against}" if against else ""
    lines = [str(verdict), ""]
    if verdict.outcome == "fail":
        lines += [
            "Keep the failures as tests that need no attack:",
            f"    brittle export {run} tests/failures.jsonl --as pytest{old}",
            "Accept a failure that is known, by its case:",
            f'    brittle accept {run} CASE --why "…" --file tests/accepted.toml',
            "If the change is wanted, write the baseline again: pytest --brittle-update",
        ]
    return "\n".join(lines).rstrip()


def pytest_report_teststatus(
    report: pytest.TestReport | pytest.CollectReport,
) -> tuple[str, str, str] | None:
    """Show a test that cannot tell as that, and not as skipped."""
    outcome = dict(getattr(report, "user_properties", ())).get(OUTCOME)
    if outcome == CANNOT_TELL and report.skipped:
        return CANNOT_TELL, "?", "CANNOT TELL"
    if outcome == "baseline written" and report.skipped:
        return "baseline written", "b", "BASELINE WRITTEN"
    return None


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say of each test that cannot tell how many cases would tell, and name the baselines."""
    for outcome in (CANNOT_TELL, "baseline written"):
        reports = terminalreporter.stats.get(outcome, [])
        if reports:
            terminalreporter.section(f"brittle: {outcome}")
        for report in reports:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
            terminalreporter.line(f"{report.nodeid}\n{str(reason).removeprefix('Skipped: ')}\n")
