"""Quick tests that are not quick are named at the end of a run, which does not fail."""

from __future__ import annotations

from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest

import costs
from costs import MAX_CPU_SECONDS, MAX_NAMED, PROPERTY, describe_costly


@pytest.mark.parametrize("marker", [None, pytest.mark.slow])
def test_a_quick_test_notes_its_cost_and_a_slow_one_does_not(
    marker: Any, pytestconfig: pytest.Config
) -> None:
    assert pytestconfig.pluginmanager.is_registered(costs)
    item: Any = SimpleNamespace(user_properties=[], get_closest_marker=lambda name: marker)
    call = costs.pytest_runtest_call(item)
    next(call)
    with suppress(StopIteration):
        next(call)
    assert [name for name, _ in item.user_properties] == ([] if marker else [PROPERTY])


def test_only_those_above_the_limit_are_named_the_most_costly_first() -> None:
    costs = {"a": 0.1, "b": MAX_CPU_SECONDS + 0.5, "c": None, "d": MAX_CPU_SECONDS + 1}
    assert describe_costly(costs.items()) == (
        "warning: 2 of the quick tests took more than 1.5 s of CPU without being marked slow: "
        "d (2.5 s), b (2.0 s)"
    )
    assert describe_costly([("a", 0.1), ("c", None)]) == ""


def test_a_long_list_is_cut() -> None:
    line = describe_costly((f"t{n}", 2.0) for n in range(MAX_NAMED + 3))
    assert line.endswith(f"t{MAX_NAMED - 1} (2.0 s) and 3 more")
