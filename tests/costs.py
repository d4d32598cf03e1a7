"""Quick tests that are not quick: their CPU time is measured, and the end of a run names them.

Time on a clock says what else the machine does; CPU time says what a test costs. A test is never
failed by it. What a fixture costs is not counted, for it may serve many tests. In a run of few
tests nobody is named: there, the first test that needs a package has the cost of its import.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

import pytest

MAX_CPU_SECONDS = 1.5
"""A quick test that needs more should be marked `slow`, or be made cheaper."""
PROPERTY = "cpu seconds"
MAX_NAMED = 10
FEW_TESTS = 500


def cpu_seconds() -> float:
    """Return what this process has used so far, with its children that have ended."""
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Note the cost of a quick test in its report, which travels from the worker."""
    before = cpu_seconds()
    try:
        yield
    finally:
        if item.get_closest_marker("slow") is None:
            item.user_properties.append((PROPERTY, cpu_seconds() - before))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Give the costly ones, the most costly first."""
    reports = [r for key in ("passed", "failed") for r in terminalreporter.stats.get(key, [])]
    if len(reports) <= FEW_TESTS:
        return
    line = describe_costly((r.nodeid, dict(r.user_properties).get(PROPERTY)) for r in reports)
    if line:
        terminalreporter.write_line(line, yellow=True)


def describe_costly(costs: Iterable[tuple[str, float | None]]) -> str:
    """Return the line that names the tests above the limit, empty if there are none."""
    costly = {name: seconds for name, seconds in costs if (seconds or 0) > MAX_CPU_SECONDS}
    if not costly:
        return ""
    names = sorted(costly, key=lambda name: -(costly[name] or 0))
    shown = ", ".join(f"{name} ({costly[name]:.1f} s)" for name in names[:MAX_NAMED])
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    limit = f"more than {MAX_CPU_SECONDS:g} s of CPU without being marked slow"
    return f"warning: {len(names)} of the quick tests took {limit}: {shown}{more}"
