"""Tasks are run once, go on after any end, and are run again when something they need changes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from brittle.errors import BrittleError, RunStopped, UsageError
from brittle.workflow.backends import Workers
from brittle.workflow.running import run_tasks
from brittle.workflow.tasks import Task, TaskContext, load_result, select_tasks, slug


def add(context: TaskContext, *, number: int) -> dict[str, Any]:
    with (context.folder / "log").open("a") as log:
        log.write(f"{context.unique_name.rpartition('-')[0]}\n")
    total = sum(result["total"] for result in context.needs.values()) + number
    return {"total": total, "message": f"makes {total}"}


def fail(context: TaskContext, *, kind: str) -> None:
    raise {"usage": UsageError, "other": BrittleError, "bug": ValueError}[kind]("no luck")


def talk(context: TaskContext) -> dict[str, Any]:
    context.report("half way")
    return {"threads": os.environ.get("OMP_NUM_THREADS"), "process": os.getpid()}


def pause(context: TaskContext, *, seconds: float) -> dict[str, Any]:
    (context.folder / f"{context.unique_name}.began").write_text(str(os.getpid()))
    time.sleep(seconds)
    return {"slept": seconds}


def pairs(context: TaskContext) -> dict[int, Any]:
    return {1: [(1, 2)]}


TASKS = [
    Task("one", add, {"number": 1}),
    Task("two", add, {"number": 2}),
    Task("three", add, {"number": 0}, ("one", "two")),
]


def log(folder: Path) -> list[str]:
    file = folder / "log"
    return file.read_text().split() if file.exists() else []


@pytest.mark.parametrize("workers", [1, 2])
def test_every_task_is_run_once(tmp_path: Path, workers: int) -> None:
    messages: list[str] = []
    results = run_tasks(TASKS, tmp_path, messages.append, Workers(workers))
    assert sorted((result["total"], name) for name, result in results.items()) == [
        (1, "one"),
        (2, "two"),
        (3, "three"),
    ]
    assert sorted(log(tmp_path)) == ["one", "three", "two"] and log(tmp_path)[-1] == "three"
    assert messages[-1].startswith("[3 of 3 tasks done, ")
    assert messages[-1].endswith("] three: makes 3")
    messages.clear()
    assert run_tasks(TASKS, tmp_path, messages.append, Workers(workers)) == results
    assert len(log(tmp_path)) == 3 and messages == []


@pytest.mark.parametrize("workers", [1, 2])
def test_what_is_done_is_counted_on_from_graph_to_graph(tmp_path: Path, workers: int) -> None:
    """A command may run one graph after another, such as a grid: it never counts backwards."""
    messages: list[str] = []
    start, about = time.monotonic() - 60, (messages.append, Workers(workers))
    results = run_tasks(TASKS, tmp_path, *about, start=start)
    four = [TASKS[0], Task("four", add, {"number": 4}, ("one",))]
    results |= run_tasks(four, tmp_path, *about, known=results, start=start)
    last = [*four, Task("five", add, {"number": 5}), Task("six", add, {"number": 6}, ("five",))]
    run_tasks(last, tmp_path, *about, known=results, start=start)
    read = [re.match(r"\[(\d) of (\d) tasks done, 1 min \d+ s\] \w+: ", line) for line in messages]
    counts = [tuple(map(int, one.groups())) for one in read if one]
    assert len(counts) == len(messages) == 12 and counts == sorted(counts)
    assert counts[0] == (0, 3) and counts[-1] == (6, 6)


def test_a_change_reaches_the_tasks_that_need_it(tmp_path: Path) -> None:
    run_tasks(TASKS, tmp_path, print)
    changed = [TASKS[0], Task("two", add, {"number": 5}), TASKS[2]]
    assert run_tasks(changed, tmp_path, print)["three"]["total"] == 6
    assert log(tmp_path)[3:] == ["two", "three"]
    # An equal task has the same key, so nothing is run again.
    assert run_tasks([Task("one", add, {"number": 1}), *changed[1:]], tmp_path, print)
    assert len(log(tmp_path)) == 5


def test_a_missing_or_damaged_result_is_computed_again(tmp_path: Path) -> None:
    run_tasks(TASKS, tmp_path, print)
    TASKS[1].file(tmp_path).write_text('{"key": "12')
    assert load_result(TASKS[1], tmp_path, {}) is None
    assert run_tasks(TASKS, tmp_path, print)["three"]["total"] == 3
    assert log(tmp_path)[3:] == ["two"]
    invalid = replace(TASKS[0], leaves=lambda folder, result: [folder / "lost"])
    run_tasks([invalid, *TASKS[1:]], tmp_path, print)
    assert log(tmp_path)[4:] == ["one"]


def test_one_task_brings_those_it_needs() -> None:
    assert [task.name for task in select_tasks(TASKS, "two")] == ["two"]
    assert [task.name for task in select_tasks(TASKS, "three")] == ["one", "two", "three"]
    assert select_tasks(TASKS, None) == TASKS
    with pytest.raises(UsageError, match=r"Unknown task 'tree'\. Did you mean 'three'\?"):
        select_tasks(TASKS, "tree")


@pytest.mark.parametrize("tasks", [TASKS[::-1], [TASKS[0], TASKS[2]], [TASKS[0], TASKS[0]]])
def test_tasks_in_an_order_that_cannot_be_run_are_refused(
    tmp_path: Path, tasks: list[Task]
) -> None:
    with pytest.raises(ValueError, match="exists twice, or needs a task that does not come"):
        run_tasks(tasks, tmp_path, print)


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_an_error_names_its_task(tmp_path: Path, workers: int) -> None:
    with pytest.raises(UsageError, match="The task 'bad': no luck"):
        run_tasks([Task("bad", fail, {"kind": "usage"})], tmp_path, print, Workers(workers))
    with pytest.raises(RunStopped, match="The task 'bad': no luck"):
        run_tasks([Task("bad", fail, {"kind": "other"})], tmp_path, print, Workers(workers))
    assert run_tasks(TASKS, tmp_path, print, Workers(workers))["three"]["total"] == 3


def test_a_bug_in_a_process_is_reported(tmp_path: Path) -> None:
    with pytest.raises(RunStopped, match="'bad' ended with exit code 1 and no result"):
        run_tasks([Task("bad", fail, {"kind": "bug"})], tmp_path, print, Workers(2))


@pytest.mark.slow
def test_a_process_has_one_thread_and_its_messages_come_back(tmp_path: Path) -> None:
    messages: list[str] = []
    results = run_tasks(
        [Task("talk", talk), Task("more", talk)], tmp_path, messages.append, Workers(2)
    )
    assert results["talk"]["threads"] == "1"
    assert len({os.getpid(), results["talk"]["process"], results["more"]["process"]}) == 3
    assert sum(line.endswith("talk: half way") for line in messages) == 1


def test_the_name_of_a_file() -> None:
    assert slug("train CharCNN-LSTM+hotflip (64)") == "train-CharCNN-LSTM+hotflip-64"


# A shell's background job ignores SIGINT, and Python then installs no handler of its own.
SCRIPT = """
import signal, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from test_tasks import Workers, Task, pause, run_tasks
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    tasks = [Task(name, pause, {{"seconds": 60}}) for name in "ab"]
    run_tasks(tasks, Path({folder!r}), print, Workers(2))
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks at processes in /proc")
@pytest.mark.parametrize("kind", [signal.SIGKILL, signal.SIGINT])
def test_children_end_with_their_parent(tmp_path: Path, kind: signal.Signals) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(tests=str(Path(__file__).parent), folder=str(tmp_path)))
    with started(script) as parent:
        children = [int(file.read_text()) for file in wait_for_files(tmp_path, "*.began", 2)]
        try:
            parent.send_signal(kind)
            parent.wait(20)
            deadline = time.monotonic() + 10
            while any(map(is_alive, children)) and time.monotonic() < deadline:
                time.sleep(0.05)
            assert not any(map(is_alive, children))
        finally:
            for child in filter(is_alive, children):
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
    assert not (tmp_path / "tasks").exists()


@contextmanager
def started(script: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start a script; whatever happens, its process has ended afterwards."""
    process = subprocess.Popen([sys.executable, str(script)], stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def wait_for_files(folder: Path, pattern: str, count: int) -> list[Path]:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        files = [file for file in folder.glob(pattern) if file.read_text()]
        if len(files) == count:
            return files
        time.sleep(0.05)
    raise AssertionError(f"{pattern} did not appear")


def is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_results_are_as_json_holds_them(tmp_path: Path) -> None:
    task = Task("pairs", pairs)
    first = run_tasks([task], tmp_path, print)
    assert first == run_tasks([task], tmp_path, print) == {"pairs": {"1": [[1, 2]]}}
    assert json.loads(task.file(tmp_path).read_text())["task"] == "pairs"


def test_the_file_of_a_task_with_a_long_name(tmp_path: Path) -> None:
    names = [f"attack ensemble:{'zoo:BiLSTM-W-GloVe-4@mr#0,' * 12}{end}" for end in "ab"]
    files = {Task(name, print).file(tmp_path).name for name in names}
    assert len(files) == 2 and max(map(len, files)) < 130
