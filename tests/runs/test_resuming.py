"""Names by budget, and the part of a larger run that a smaller limit asks for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from brittle import Run, attack
from brittle.errors import UsageError
from brittle.runs.resuming import _shortened, rename_run
from brittle.testing import FakeTarget

FILMS = [f"a good film of {n} scenes and a good many words" for n in range(8)]


def attacked(folder: Path, target: Any = None, **settings: Any) -> Run:
    target = target or FakeTarget({"good": 2.0})
    return attack(target, FILMS, "pwws", folder=folder, **settings)


def test_every_budget_has_a_name_of_its_own(tmp_path: Path) -> None:
    runs = [attacked(tmp_path, budget=budget) for budget in (None, 50, 5, 500)]
    assert len({run.name for run in runs}) == 4
    assert [run.manifest["budget"] for run in runs] == [None, 50, 5, 500]
    assert runs[1].name == f"{runs[0].name}-budget50"
    for run, budget in zip(runs, (None, 50, 5, 500)):
        assert run.name == attacked(tmp_path, budget=budget).name
    # By its name a run is extended, as ever.
    assert attacked(tmp_path, budget=50, name=runs[2].name).manifest["budget"] == 50


def test_a_run_of_before_goes_on_in_its_file(tmp_path: Path) -> None:
    new = attacked(tmp_path, budget=5)
    former = rename_run(new.path, new.name.removesuffix("-budget5"))
    calls = FakeTarget({"good": 2.0})
    assert attacked(tmp_path, calls, budget=5).path == former and not sum(calls.calls)
    assert attacked(tmp_path, budget=6).path != former


def test_answers_that_were_paid_for_are_pointed_at(tmp_path: Path) -> None:
    class Costly(FakeTarget):
        costly = True

    warnings: list[str] = []

    def warn(message: str) -> None:
        warnings.extend([message] if "another budget" in message else [])

    costly = Costly({"good": 2.0})
    first = attacked(tmp_path, costly, budget=20, warn=warn)
    assert not warnings
    for _ in range(2):  # the second time the run is there
        attacked(tmp_path, costly, budget=30, warn=warn)
    attacked(tmp_path, FakeTarget({"good": 3.0}), budget=20, warn=warn)
    (warning,) = warnings
    assert f"--name {first.name}" in warning


@pytest.mark.parametrize("limit", [8, None])
def test_a_smaller_limit_shows_that_part(tmp_path: Path, limit: int | None) -> None:
    whole = attacked(tmp_path, limit=limit)
    alone = attacked(tmp_path / "alone", limit=3)
    silent = FakeTarget({"good": 2.0})
    part = attacked(tmp_path, silent, limit=3)
    key = lambda row: row.case  # noqa: E731 - without a limit the order is that of the data
    assert sorted(part.results(), key=key) == sorted(alone.results(), key=key)
    assert {step.case for step in part.steps()} == {row.case for row in part.results()}
    assert (part.path, sum(part.counts().values()), part.complete) == (whole.path, 3, True)
    assert part.manifest["examples"] == 3 and not sum(silent.calls)
    assert "3 of its 8 cases" in str(part) and "for all 8 cases" in str(part)
    assert part.export(tmp_path / "part.csv").read_text().count("\n") == 4
    # The run itself is as it was.
    assert len(Run(whole.path).results()) == 8 and Run(whole.path).manifest["limit"] == limit


def test_no_part_of_a_run_with_other_settings_or_another_budget(tmp_path: Path) -> None:
    attacked(tmp_path, name="run", budget=50)
    for changed in ({"share": 0.5, "budget": 50}, {"budget": 20}):
        with pytest.raises(UsageError):
            attacked(tmp_path, name="run", limit=3, **changed)
    assert len(attacked(tmp_path, name="run", budget=50, limit=3, new=True).results()) == 3


def test_hashes_are_written_short() -> None:
    assert _shortened("0123456789abcdef" * 4) == "0123456789ab…"
    assert _shortened("pwws") == "'pwws'" and _shortened(None) == "None"
