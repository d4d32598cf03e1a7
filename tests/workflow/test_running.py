"""Tasks under way: never more than there is room for, also after deaths; stages run alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from brittle.errors import RunStopped
from brittle.workflow import running
from brittle.workflow.backends.backend import Assignment, Ended
from brittle.workflow.running import run_tasks
from brittle.workflow.tasks import FAILED, Task, TaskContext


def one(context: TaskContext, **arguments: Any) -> dict[str, Any]:
    return {"one": 1}


class FakeWorkers:
    """Two places; the tasks of `dying` die as often as it says, all others end with {}."""

    def __init__(self, dying: dict[str, int]) -> None:
        self.dying = dying
        self.busy: list[Assignment] = []
        self.most = 0

    def capacity(self) -> int:
        return 2

    def start(self, assignment: Assignment) -> None:
        self.busy.append(assignment)
        self.most = max(self.most, len(self.busy))

    def wait(self) -> Sequence[Ended]:
        assignment = self.busy.pop(0)
        name = assignment.task.name
        if self.dying.get(name, 0) > 0:
            self.dying[name] -= 1
            return [Ended(assignment, death="was killed")]
        return [Ended(assignment, {"name": name})]

    def close(self) -> None:
        assert not self.busy or self.dying


def run(
    tasks: list[Task], dying: dict[str, int], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[dict[str, Any], FakeWorkers]:
    workers = FakeWorkers(dying)
    monkeypatch.setattr(running, "open_workers", lambda backend, tell: workers)
    return run_tasks(tasks, folder, lambda message: None), workers


def test_a_death_makes_no_room_for_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = [Task(f"t{n}", one) for n in range(8)]
    results, workers = run(tasks, {"t0": 1, "t3": 2}, tmp_path, monkeypatch)
    assert len(results) == 8 and workers.most == 2


def test_a_task_that_may_fail_fails_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = [Task("bad", one, may_fail=True), Task("good", one), Task("after", one, needs=("bad",))]
    results, _ = run(tasks, {"bad": 3}, tmp_path, monkeypatch)
    assert "3 workers died" in results["bad"][FAILED] and results["after"] == {"name": "after"}
    assert not tasks[0].file(tmp_path).exists()
    with pytest.raises(RunStopped, match="'bad' was stopped after 3 workers died"):
        run([Task("bad", one)], {"bad": 3}, tmp_path, monkeypatch)


def test_a_stage_runs_when_all_others_have_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers = FakeWorkers({})
    monkeypatch.setattr(running, "open_workers", lambda backend, tell: workers)

    def stage(context: TaskContext) -> dict[str, Any]:
        return {"busy": len(workers.busy), "has backend": context.backend is not None}

    tasks = [Task("first", one), Task("stage", stage, is_stage=True), Task("last", one)]
    results = run_tasks(tasks, tmp_path, lambda message: None)
    assert results["stage"] == {"busy": 0, "has backend": True}


def test_known_results_are_not_looked_at_again(tmp_path: Path) -> None:
    known = {"first": {FAILED: "gone"}}
    tasks = [Task("first", one), Task("second", one, needs=("first",))]
    results = run_tasks(tasks, tmp_path, lambda message: None, known=known)
    assert results == known | {"second": {"one": 1}}
