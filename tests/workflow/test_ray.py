"""Tasks on a real Ray cluster, whose nodes share no folder with the driver."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from brittle.errors import BrittleError, RunStopped, UsageError
from brittle.runs.run import Run
from brittle.safety import files
from brittle.studies.rules.tasks import MiningData, mine, mine_in_folder
from brittle.training.train import train
from brittle.workflow.backends import Workers, cluster
from brittle.workflow.backends.ray_workers import describe_death
from brittle.workflow.running import run_tasks
from brittle.workflow.tasks import Task, TaskContext
from brittle_papers import tasks as paper_tasks
from brittle_papers.planning import build_task
from papers.data_tasks import data_task

if TYPE_CHECKING:
    from conftest import RayNodes

RAY = Workers(2, "ray")


def make(context: TaskContext, *, size: int) -> dict[str, Any]:
    """Leave a file in the folder and a model in the cache, and remember how often."""
    context.report("half way")
    (context.folder / f"{context.unique_name}.txt").write_text("x" * size)
    model = files.cache_folder() / "models" / f"model-{size}"
    (model / "parts").mkdir(parents=True, exist_ok=True)
    (model / "parts" / "weights").write_text("w" * size)
    memory = context.folder / f"memory-{size}"
    times = int(memory.read_text()) + 1 if memory.exists() else 1
    memory.write_text(str(times))
    return {
        "file": f"{context.unique_name}.txt",
        "model": model.name,
        "times": times,
        "process": os.getpid(),
        "threads": os.environ.get("OMP_NUM_THREADS"),
    }


def left_by_make(folder: Path, result: dict[str, Any]) -> list[Path]:
    return [folder / result["file"], files.cache_folder() / "models" / result["model"]]


def measure(context: TaskContext, *, name: str) -> dict[str, Any]:
    """Return the sizes of what `make` left, and which files they are on this machine."""
    paths = [path for r in context.needs.values() for path in left_by_make(context.folder, r)]
    all_files = [f for p in paths for f in ([p] if p.is_file() else sorted(p.rglob("weights")))]
    sizes = [file.stat().st_size for file in all_files]
    return {"sizes": sizes, "files": [[str(f), f.stat().st_mtime_ns] for f in all_files]}


def is_here(context: TaskContext, *, size: int) -> bool:
    return True


def fail(context: TaskContext, *, kind: str) -> None:
    raise {"usage": UsageError, "other": BrittleError, "bug": ValueError}[kind]("no luck")


def die(context: TaskContext, *, marker: str | None) -> dict[str, Any]:
    """Kill the worker: always, or until there is a marker."""
    if marker is None or not Path(marker).exists():
        if marker is not None:
            Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {}


def pause(context: TaskContext, *, number: int) -> dict[str, Any]:
    """Occupy a worker, so that other tasks go to other nodes."""
    time.sleep(2)
    return {}


def wait_for(context: TaskContext, *, marker: str) -> dict[str, Any]:
    """Take a second if a marker is there, and a minute if not."""
    Path(f"{marker}.{os.getpid()}").touch()
    time.sleep(1 if Path(marker).exists() else 60)
    return {}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path / "cache"))
    (tmp_path / "folder").mkdir()
    return tmp_path / "folder"


def events(messages: list[str]) -> list[str]:
    return [message.split("] ", 1)[1] for message in messages]


@pytest.mark.slow
def test_what_tasks_leave_travels_by_content(ray_nodes: RayNodes, folder: Path) -> None:
    makes = [
        Task("small", make, {"size": 10}, leaves=left_by_make, memory="memory-10"),
        # Above 100 kB Ray keeps a value on the node instead of sending it with the answer.
        Task("large", make, {"size": 300_000}, leaves=left_by_make),
        Task("here", make, {"size": 30}, leaves=left_by_make, here=is_here),
    ]
    needs = tuple(task.name for task in makes)
    tasks = [*makes, *(Task(f"m{n}", measure, {"name": f"m{n}"}, needs) for n in range(4))]
    messages: list[str] = []
    (folder / "memory-10").write_text("7")
    results = run_tasks(tasks, folder, messages.append, RAY)
    assert results["here"]["process"] == os.getpid() != results["small"]["process"]
    assert results["small"]["threads"] == "1" and results["small"]["times"] == 8
    assert (folder / "memory-10").read_text() == "8"
    for name, size in (("small", 10), ("large", 300_000), ("here", 30)):
        file, model = left_by_make(folder, results[name])
        assert file.stat().st_size == (model / "parts" / "weights").stat().st_size == size
        assert f"{name}: half way" in events(messages)
    used = [tuple(map(tuple, results[f"m{n}"]["files"])) for n in range(4)]
    for n in range(4):
        assert results[f"m{n}"]["sizes"] == [10, 10, 300_000, 300_000, 30, 30]
        assert all(str(ray_nodes.folder) in path for path, _ in used[n])
    # On each of two nodes a file was written once, whatever number of tasks have read it.
    assert 1 <= len(set(used)) <= 2
    messages.clear()
    assert run_tasks(tasks, folder, messages.append, RAY) == results and messages == []


@pytest.mark.slow
def test_errors_and_deaths_name_their_task(ray_nodes: RayNodes, folder: Path) -> None:
    with pytest.raises(UsageError, match="The task 'bad': no luck"):
        run_tasks([Task("bad", fail, {"kind": "usage"})], folder, print, RAY)
    with pytest.raises(RunStopped, match="The task 'bad': no luck"):
        run_tasks([Task("bad", fail, {"kind": "other"})], folder, print, RAY)
    with pytest.raises(RunStopped, match=r"(?s)'bad' failed on a node:.*ValueError: no luck"):
        run_tasks([Task("bad", fail, {"kind": "bug"})], folder, print, RAY)
    messages: list[str] = []
    once = Task("once", die, {"marker": str(folder / "marker")})
    assert run_tasks([once], folder, messages.append, RAY) == {"once": {}}
    assert events(messages)[1].startswith("once: starts again: its worker died on its node")
    with pytest.raises(
        RunStopped, match="'always' was stopped after 3 workers died while running it"
    ):
        run_tasks([Task("always", die, {"marker": None})], folder, print, RAY)


def test_how_workers_die_is_said() -> None:
    errors = pytest.importorskip("ray").exceptions
    assert "ran out of memory" in describe_death(errors, errors.OutOfMemoryError("too much"))
    assert "node that died" in describe_death(errors, errors.NodeDiedError("gone"))
    assert "out of memory" in describe_death(errors, errors.WorkerCrashedError())


@pytest.fixture
def films(tmp_path: Path) -> str:
    """Return a folder of data of which words decide the label."""
    words = {"good": ("great", "fine", "fun", "lovely"), "bad": ("dull", "poor", "awful", "sad")}
    for split, count in (("train", 400), ("test", 60)):
        rows = [
            f"it is a {words[label][n % 4]} film about a man of {n % 17} years,{label}"
            for n in range(count // 2)
            for label in words
        ]
        (tmp_path / f"{split}.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    return str(tmp_path)


def paper_plan(films: str) -> list[Task]:
    model = {"data": "data", "size": "tiny", "changed_settings": {"epochs": 60, "patience": 60}}
    attack = {"data": "data", "attack": "genetic", "limit": None, "settings": {}}
    return [
        data_task("data", films),
        build_task("train", paper_tasks.train, model="LSTM-W-Random-1", **model),
        build_task("attack", paper_tasks.attack, target="train", **attack),
    ]


@contextmanager
def killing(nodes: RayNodes, pattern: str) -> Iterator[list[str]]:
    """Kill the node in whose cache a file appears, while the block runs; yield who was killed."""
    killed: list[str] = []

    def kill() -> None:
        while not killed and not is_over.wait(0.02):
            name = nodes.having(pattern)
            if name is not None:
                nodes.kill(name)
                killed.append(name)

    is_over = threading.Event()
    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    try:
        yield killed
    finally:
        is_over.set()
        thread.join()


@pytest.mark.slow
def test_a_node_killed_in_training_and_one_in_attacking_lose_nothing(
    ray_nodes: RayNodes,
    folder: Path,
    films: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("torch")
    ray_nodes.require(2)
    plan = paper_plan(films)
    messages: list[str] = []
    with killing(ray_nodes, "*.partial/*") as killed:
        run_tasks(plan[:2], folder, messages.append, RAY)
    assert killed and "train: starts again: its worker was on a node that died" in str(messages)
    ray_nodes.require(2)
    messages.clear()
    with killing(ray_nodes, "attack-*.sqlite*") as killed:
        results = run_tasks(plan, folder, messages.append, RAY)
    assert killed and "starts again" in str(messages)
    assert {event.split(":")[0] for event in events(messages)} == {"attack"}
    assert capsys.readouterr().out == ""
    # As in this process, with a cache of its own.
    monkeypatch.setenv("BRITTLE_CACHE", str(folder / "other"))
    alone = run_tasks(plan, folder / "alone", print)
    assert alone["train"] == results["train"]
    runs = [Run(base / results["attack"]["run"]).results() for base in (folder, folder / "alone")]
    rows = [[(r.case, r.status, r.adversarial, r.queries) for r in run] for run in runs]
    assert rows[0] == rows[1] and len(rows[0]) == 60
    assert {status for _, status, _, _ in rows[0]} >= {"broken"}


@pytest.mark.slow
def test_a_node_killed_in_mining_loses_nothing(ray_nodes: RayNodes, folder: Path) -> None:
    pytest.importorskip("torch")
    ray_nodes.require(2)
    with pytest.MonkeyPatch.context() as patch:  # other tests of this test run ask it too
        patch.setenv("BRITTLE_CACHE", os.environ["BRITTLE_TESTS_CACHE"])
        trained = train("LSTM-W-Random-1", "mr", size="tiny")
    shutil.copytree(trained, files.cache_folder() / "models" / trained.name)
    model, messages = "zoo:LSTM-W-Random-1@mr?size=tiny", list[str]()
    data = MiningData("mr", 1000)
    # The train split is saved when it is measured; the held-out texts come after it.
    with killing(ray_nodes, "effects-*") as killed:
        rules = mine_in_folder(model, data, folder, messages.append, backend=RAY)
    assert killed and f"mine {model}: starts again: its worker was on a node" in str(messages)
    begun = [event.split(":")[0] for event in events(messages) if event.endswith(": begins")]
    assert begun.count("list replacements") == 1
    assert rules.rules == mine(model, "mr", limit=1000).rules


SCRIPT = """
import os, sys
from pathlib import Path
from workflow.test_ray import Workers, Task, add_to_log, run_tasks, wait_for
backend = Workers(2, "ray", {address!r})
folder = Path({folder!r})
first = Task("first", add_to_log, {{"log": {log!r}}})
tasks = [first, Task("second", wait_for, {{"marker": {marker!r}}}, ("first",))]
run_tasks(tasks, folder, print, backend)
"""


def add_to_log(context: TaskContext, *, log: str) -> dict[str, Any]:
    with Path(log).open("a") as file:
        file.write("first\n")
    return {}


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks at processes in /proc")
def test_a_killed_driver_goes_on_and_leaves_no_worker(ray_nodes: RayNodes, folder: Path) -> None:
    names = {"address": ray_nodes.address, "folder": str(folder)}
    log, marker = folder / "log", folder / "marker"
    script = SCRIPT.format(**names, log=str(log), marker=str(marker))
    command = [sys.executable, "-c", script]
    path = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, sys.path)])
    environment = os.environ | {"PYTHONPATH": path}
    driver = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    try:
        worker = wait_until(lambda: next(folder.glob("marker.*"), None))
    finally:
        driver.kill()
        driver.wait()
    process = Path("/proc") / worker.suffix[1:]
    marker.touch()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=90)
    assert done.returncode == 0, done.stderr
    assert "first" not in done.stdout and "second: done" in done.stdout
    assert log.read_text() == "first\n"
    wait_until(lambda: not process.exists() or "Z (zombie)" in (process / "status").read_text())


def wait_until(condition: Callable[[], Any], seconds: float = 60) -> Any:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.05)
    raise AssertionError("it did not happen")


@pytest.mark.slow
def test_a_node_with_another_version_is_named(
    ray_nodes: RayNodes, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = r"The node .* has other versions: brittle 9\.9\.9, expected 0"
    info = tmp_path / "brittle-9.9.9.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: brittle\nVersion: 9.9.9\n")
    ray_nodes.add("other", path=str(tmp_path))
    try:
        with pytest.raises(UsageError, match=expected):
            cluster.connect(ray_nodes.address)
        # A node that joins when the check is over refuses its first task.
        monkeypatch.setattr(cluster, "check_nodes", lambda cluster: None)
        everywhere = Workers(len(ray_nodes.nodes), "ray")
        tasks = [Task(f"p{n}", pause, {"number": n}) for n in range(len(ray_nodes.nodes))]
        with pytest.raises(UsageError, match=expected):
            run_tasks(tasks, folder, print, everywhere)
    finally:
        ray_nodes.kill("other")


@pytest.mark.parametrize("address", ["nowhere", "ray://127.0.0.1:10001", ":6379", "host:port"])
def test_what_is_no_address(address: str) -> None:
    with pytest.raises(UsageError, match=r"is not an address.* Expected HOST:PORT"):
        cluster.require_answer(address)


def test_an_address_at_which_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray")
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        with pytest.raises(UsageError, match=r"No Ray cluster answers at .* refused"):
            cluster.require_answer(f"127.0.0.1:{port}")
        # One that listens, and says nothing.
        listener.listen()
        monkeypatch.setattr(cluster, "STATUS_SECONDS", 0.5)
        with pytest.raises(UsageError, match=r"no answer in .* Start one with `ray start --head`"):
            cluster.require_answer(f"127.0.0.1:{port}")
