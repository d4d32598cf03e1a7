"""Real worker processes: equal rows, kills of workers and of the driver, Ctrl-C, an endpoint."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import pytest

import brittle
from brittle.asks import Ask, Case, Search, Try
from brittle.errors import Interrupted, LimitReached, UsageError
from brittle.goals.classes import Untargeted
from brittle.runs.runner import RunProgress
from brittle.testing import FakeTarget
from forking import brittle_words

WEIGHTS = {"good": 2.0, "great": 2.0, "bad": -2.0}
FILMS = [
    (f"a good film of {i} great scenes{' and a wonderful story' * (i % 4)}", "positive")
    for i in range(30)
]
MODEL = """
import os, time
from brittle.testing import FakeTarget

class Slow(FakeTarget):
    def scores(self, items):
        time.sleep(float(os.environ.get("SECONDS_A_CALL", "0")))
        return super().scores(items)

model = Slow({"good": 2.0, "great": 2.0, "bad": -2.0}, name="slow")
"""


def rows(run: brittle.Run) -> list[Any]:
    return [astuple(r) for r in run.results()] + [astuple(s) for s in run.steps()]


@pytest.mark.slow
def test_a_killed_worker_process_costs_nothing_but_time(tmp_path: Path) -> None:
    warnings: list[str] = []

    def kill(progress: RunProgress) -> None:
        child = multiprocessing.active_children()[0]
        if not warnings and child.pid is not None:
            warnings.append(f"killed {child.pid}")
            os.kill(child.pid, signal.SIGKILL)

    whole = brittle.attack(
        FakeTarget(WEIGHTS), FILMS, folder=tmp_path, name="whole", candidates="paper"
    )
    options: Any = {"folder": tmp_path, "name": "run", "workers": 2, "warn": warnings.append}
    run = brittle.attack(FakeTarget(WEIGHTS), FILMS, progress=kill, **options, candidates="paper")
    assert rows(run) == rows(whole) and run.complete
    # The worker may have finished its share before it was killed.
    assert all("killed by SIGKILL" in warning for warning in warnings[1:])
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": 0}, "Got 0 workers; expected 1 or more"),
        ({"backend": "rai", "workers": 2}, "Unknown backend 'rai'. Did you mean 'ray'?"),
        (
            {"address": "here:1", "workers": 2},
            "is the address of a Ray cluster, but the backend is 'local'",
        ),
    ],
)
def test_wrong_settings_of_workers(tmp_path: Path, options: Any, message: str) -> None:
    with pytest.raises(UsageError) as wrong:
        brittle.attack(FakeTarget(WEIGHTS), FILMS, folder=tmp_path, **options, candidates="paper")
    assert message in str(wrong.value) and not list(tmp_path.iterdir())


@pytest.mark.parametrize("what", ["target", "attack", "goal"])
def test_a_live_object_that_cannot_be_sent(tmp_path: Path, what: str) -> None:
    class Local(FakeTarget):
        """A class that pickle does not find."""

    options: dict[str, Any] = {"attack": "pwws", "goal": None}
    if what == "goal":
        options["goal"] = local_goal()
    if what == "attack":
        options["attack"] = Shout()
    target = Local(WEIGHTS) if what == "target" else FakeTarget(WEIGHTS)
    with pytest.raises(UsageError, match=f"The {what} .* is a live object that cannot be sent"):
        brittle.attack(target, FILMS[:4], folder=tmp_path, workers=2, **options)


class Shout:
    """An attack that holds a lock, which nobody can send."""

    asks: ClassVar[tuple[type[Ask[Any]], ...]] = (Try,)

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def __call__(self, case: Case[brittle.Text], rng: Random) -> Search[None]:
        words = [str(word).upper() for word in case.text.words]
        yield from Try([case.text.swap(i, word) for i, word in enumerate(words)])


def local_goal() -> Any:
    """Build a goal of a class that pickle does not find."""

    class Local(Untargeted):
        """As its base class."""

    return Local()


# From here on with the command line, and real waits.


@dataclass(frozen=True)
class Workspace:
    """A folder with data and a model that takes its time."""

    folder: Path

    def words(self, *words: str, name: str = "run") -> list[str]:
        target = ("python:slow_model:model", "pwws", "--data", "films.csv", "--name", name)
        return ["attack", *target, *words]

    def start(self, *words: str, seconds: float, name: str = "run") -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "brittle", *self.words(*words, name=name)],
            cwd=self.folder,
            env=os.environ | {"SECONDS_A_CALL": str(seconds)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def complete(self, *words: str, name: str = "run") -> tuple[int, str]:
        """Run the command to its end; return the exit code and what it says on stderr."""
        argv = [*brittle_words(), *self.words(*words, name=name)]
        done = subprocess.run(argv, cwd=self.folder, capture_output=True, text=True)
        return done.returncode, done.stderr

    def run(self, name: str = "run") -> brittle.Run:
        return brittle.open_run(name, self.folder / "runs")

    def finished(self, name: str = "run") -> int:
        try:
            return len(self.run(name).results())
        except brittle.BrittleError:
            return 0


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "slow_model.py").write_text(MODEL)
    lines = [f"{text},{label}" for text, label in FILMS]
    (tmp_path / "films.csv").write_text("\n".join(["text,label", *lines]) + "\n")
    return Workspace(tmp_path)


def wait_until(condition: Callable[[], bool], seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def children(pid: int) -> list[int]:
    """Return the worker processes of a driver."""
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    names = {int(c): Path(f"/proc/{c}/cmdline").read_bytes() for c in text.split()}
    return [child for child, name in names.items() if b"spawn_main" in name]


needs_proc = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")


@pytest.mark.slow
@needs_proc
def test_workers_end_with_a_killed_driver_and_the_same_command_resumes(
    workspace: Workspace,
) -> None:
    assert workspace.complete("--quiet", name="whole")[0] == 0
    driver = workspace.start("--workers", "2", "--batch", "8", seconds=0.05)
    wait_until(lambda: workspace.finished() > 2)
    workers = children(driver.pid)
    assert len(workers) == 2
    driver.kill()
    driver.communicate()
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers), 5.0)
    before = {row.case: row for row in workspace.run().results()}
    assert 2 < len(before) < len(FILMS)
    code, progress = workspace.complete("--workers", "2")
    assert code == 0 and rows(workspace.run()) == rows(workspace.run("whole"))
    assert progress.count(f"{len(FILMS)}/{len(FILMS)} cases") == 1


@pytest.mark.slow
def test_ctrl_c_stops_all_and_prints_the_command_that_resumes(workspace: Workspace) -> None:
    driver = workspace.start("--workers", "2", "--batch", "8", seconds=0.05)
    wait_until(lambda: workspace.finished() > 2)
    # A terminal sends it to the whole group: to the workers too.
    os.killpg(driver.pid, signal.SIGINT)
    _, err = driver.communicate()
    assert driver.returncode == Interrupted.exit_code and "Traceback" not in err
    line = err.strip().splitlines()[-1]
    assert line.startswith("Resume with: brittle attack") and "--workers 2" in line
    assert 2 < workspace.finished() < len(FILMS)
    assert workspace.complete("--workers", "2", "--quiet")[0] == 0
    assert workspace.complete("--quiet", name="whole")[0] == 0
    assert rows(workspace.run()) == rows(workspace.run("whole"))


@dataclass
class Server:
    """An endpoint that notes when it was asked, and by how many at once."""

    url: str = ""
    times: list[float] = field(default_factory=list)
    now: int = 0
    most: int = 0
    lock: Any = field(default_factory=threading.Lock)


@pytest.fixture
def server() -> Iterator[Server]:
    state, fake = Server(), FakeTarget(WEIGHTS)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            with state.lock:
                state.now += 1
                state.most = max(state.most, state.now)
                state.times.append(time.monotonic())
            text = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["text"]
            time.sleep(0.005)
            scores = fake.scores([brittle.Text.of(text)])[0].tolist()
            raw = json.dumps({"scores": scores}).encode()
            with state.lock:
                state.now -= 1
            self.send_response(200)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: Any) -> None:
            return

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    state.url = f"http://127.0.0.1:{http.server_port}/"
    yield state
    http.shutdown()
    http.server_close()
    thread.join()


@pytest.mark.slow
def test_the_limits_and_the_journal_of_an_endpoint_hold_for_all_workers(
    tmp_path: Path, server: Server
) -> None:
    pytest.importorskip("httpx")
    endpoint = tmp_path / "api.toml"
    endpoint.write_text(
        f'url = "{server.url}"\nlabels = ["negative", "positive"]\nconcurrency = 2\n'
        'per_second = 100\njson = { text = "{text}" }\npath = "scores"\n'
    )
    spec, films = f"http:{endpoint}", FILMS[:12]
    alone = brittle.attack(
        spec, films, "random-swap", folder=tmp_path, name="alone", candidates="paper"
    )
    sent = len(server.times)
    server.times, server.most = [], 0
    options: Any = {"folder": tmp_path, "name": "run", "workers": 3}
    with pytest.raises(LimitReached):
        brittle.attack(spec, films, "random-swap", max_sent=40, **options, candidates="paper")
    assert len(server.times) == 40
    run = brittle.attack(spec, films, "random-swap", **options, candidates="paper")
    assert rows(run) == rows(alone)
    # The journal answers what was asked before the limit; only batches that were cut may differ.
    assert len(server.times) == sent and server.most <= 2
    seconds = server.times[-1] - server.times[0]
    assert len(server.times) <= 100 * (seconds + 1.5)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["naive-bayes", "LSTM-W-Random-1"])
def test_200_cases_of_a_zoo_model_have_the_same_rows(tmp_path: Path, model: str) -> None:
    pytest.importorskip("torch" if model.startswith("LSTM") else "safetensors")
    spec = f"zoo:{model}@mr" + ("?size=tiny" if model.startswith("LSTM") else "")
    options: Any = {"limit": 200, "folder": tmp_path}
    alone = brittle.attack(spec, "mr", "pwws", name="alone", **options, candidates="paper")
    shared = brittle.attack(
        spec, "mr", "pwws", name="shared", workers=2, **options, candidates="paper"
    )
    assert rows(shared) == rows(alone) and len(shared.results()) == 200
    assert shared.totals["asked"] == alone.totals["asked"]
