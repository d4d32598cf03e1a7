"""Steps are done once, go on after any end, and are done anew when what they rest on changes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from brittle.errors import BrittleError, RunStopped, UsageError
from brittle.workflow.processes import run_tasks
from brittle.workflow.tasks import Task, TaskContext, load_result, select_tasks, slug


def add(work: TaskContext, *, by: int) -> dict[str, Any]:
    with (work.folder / "log").open("a") as log:
        log.write(f"{work.label.rpartition('-')[0]}\n")
    total = sum(need["total"] for need in work.needs.values()) + by
    return {"total": total, "told": f"makes {total}"}


def fail(work: TaskContext, *, wrong: str) -> None:
    raise {"usage": UsageError, "other": BrittleError, "bug": ValueError}[wrong]("no luck")


def chat(work: TaskContext) -> dict[str, Any]:
    work.report("half way")
    return {"threads": os.environ.get("OMP_NUM_THREADS"), "process": os.getpid()}


def pause(work: TaskContext, *, seconds: float) -> dict[str, Any]:
    (work.folder / f"{work.label}.began").write_text(str(os.getpid()))
    time.sleep(seconds)
    return {"slept": seconds}


STEPS = [
    Task("one", add, {"by": 1}),
    Task("two", add, {"by": 2}),
    Task("three", add, {"by": 0}, ("one", "two")),
]


def log(place: Path) -> list[str]:
    file = place / "log"
    return file.read_text().split() if file.exists() else []


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_step_is_done_once(tmp_path: Path, jobs: int) -> None:
    said: list[str] = []
    results = run_tasks(STEPS, tmp_path, said.append, jobs)
    assert sorted((result["total"], name) for name, result in results.items()) == [
        (1, "one"),
        (2, "two"),
        (3, "three"),
    ]
    assert sorted(log(tmp_path)) == ["one", "three", "two"] and log(tmp_path)[-1] == "three"
    assert said[-1].startswith("[step 3 of 3, ") and said[-1].endswith("] three: makes 3")
    said.clear()
    assert run_tasks(STEPS, tmp_path, said.append, jobs) == results
    assert len(log(tmp_path)) == 3 and said == []


def test_a_change_reaches_what_rests_on_it(tmp_path: Path) -> None:
    run_tasks(STEPS, tmp_path, print)
    changed = [STEPS[0], Task("two", add, {"by": 5}), STEPS[2]]
    assert run_tasks(changed, tmp_path, print)["three"]["total"] == 6
    assert log(tmp_path)[3:] == ["two", "three"]
    # Another way to the same result leaves what follows alone.
    assert run_tasks([Task("one", add, {"by": 1}), *changed[1:]], tmp_path, print)
    assert len(log(tmp_path)) == 5


def test_a_result_that_is_gone_or_damaged_is_made_again(tmp_path: Path) -> None:
    run_tasks(STEPS, tmp_path, print)
    STEPS[1].file(tmp_path).write_text('{"key": "12')
    assert load_result(STEPS[1], tmp_path, {}) is None
    assert run_tasks(STEPS, tmp_path, print)["three"]["total"] == 3
    assert log(tmp_path)[3:] == ["two"]
    gone = replace(STEPS[0], is_valid=lambda place, result: False)
    run_tasks([gone, *STEPS[1:]], tmp_path, print)
    assert log(tmp_path)[4:] == ["one"]


def test_one_step_brings_those_it_needs(tmp_path: Path) -> None:
    assert [task.name for task in select_tasks(STEPS, "two")] == ["two"]
    assert [task.name for task in select_tasks(STEPS, "three")] == ["one", "two", "three"]
    assert select_tasks(STEPS, None) == STEPS
    with pytest.raises(UsageError, match=r"Unknown step 'tree'\. Did you mean 'three'\?"):
        select_tasks(STEPS, "tree")


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_goes_wrong_is_told_with_the_step(tmp_path: Path, jobs: int) -> None:
    with pytest.raises(UsageError, match="The step 'bad': no luck"):
        run_tasks([Task("bad", fail, {"wrong": "usage"})], tmp_path, print, jobs)
    with pytest.raises(RunStopped, match="The step 'bad': no luck"):
        run_tasks([Task("bad", fail, {"wrong": "other"})], tmp_path, print, jobs)
    assert run_tasks(STEPS, tmp_path, print, jobs)["three"]["total"] == 3


def test_a_mistake_in_a_process_is_told(tmp_path: Path) -> None:
    with pytest.raises(RunStopped, match="'bad' ended with the code 1 and no result"):
        run_tasks([Task("bad", fail, {"wrong": "bug"})], tmp_path, print, 2)


def test_a_process_has_one_thread_and_its_words_come_back(tmp_path: Path) -> None:
    said: list[str] = []
    found = run_tasks([Task("talk", chat), Task("more", chat)], tmp_path, said.append, 2)
    assert found["talk"]["threads"] == "1"
    assert len({os.getpid(), found["talk"]["process"], found["more"]["process"]}) == 3
    assert sum(line.endswith("talk: half way") for line in said) == 1


def test_the_name_of_a_file() -> None:
    assert slug("train CharCNN-LSTM+hotflip (64)") == "train-CharCNN-LSTM+hotflip-64"


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks at processes in /proc")
@pytest.mark.parametrize("kind", [signal.SIGKILL, signal.SIGINT])
def test_children_end_with_their_parent(tmp_path: Path, kind: signal.Signals) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from test_tasks import Task, pause, run_tasks\n"
        "if __name__ == '__main__':\n"
        "    tasks = [Task(n, pause, {'seconds': 60}) for n in 'ab']\n"
        f"    run_tasks(tasks, Path({str(tmp_path)!r}), print, 2)\n"
    )
    script = tmp_path / "script.py"
    script.write_text(code)
    parent = subprocess.Popen([sys.executable, str(script)], stderr=subprocess.DEVNULL)
    children = [int(file.read_text()) for file in _appear(tmp_path, "*.began", 2)]
    parent.send_signal(kind)
    parent.wait(20)
    deadline = time.monotonic() + 10
    while any(_lives(child) for child in children) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(_lives(child) for child in children)
    assert not (tmp_path / "steps").exists()


def _appear(folder: Path, pattern: str, count: int) -> list[Path]:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        found = [file for file in folder.glob(pattern) if file.read_text()]
        if len(found) == count:
            return found
        time.sleep(0.05)
    raise AssertionError(f"{pattern} did not appear")


def _lives(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_results_are_as_json_holds_them(tmp_path: Path) -> None:
    task = Task("pairs", pairs)
    first = run_tasks([task], tmp_path, print)
    assert first == run_tasks([task], tmp_path, print) == {"pairs": {"1": [[1, 2]]}}
    assert json.loads(task.file(tmp_path).read_text())["step"] == "pairs"


def pairs(work: TaskContext) -> dict[int, Any]:
    return {1: [(1, 2)]}
