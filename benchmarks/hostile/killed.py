"""Kills: commands that are killed at any moment and called again end as if nobody had done so."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import kills
from hostile.part import Part, timed
from hostile.workspace import TARGET, write_workspace

MODEL = ("train", "LSTM-W-Random-1", "--size", "tiny", "--data", "films.csv", "--quiet")
MOVED = ("study", "transfer", "pool:pool.txt", "pwws", "--data", "films.csv", "--seeds", "1")
MOVED = (*MOVED, "--name", "moved", "--quiet")
Contents = dict[str, bytes]


@dataclass(frozen=True)
class Killable:
    """A command, what it leaves when it was not disturbed, and how its traces are removed."""

    words: tuple[str, ...]
    left: Callable[[Path], Contents]
    clear: Callable[[Path], None]


def _files(*patterns: str) -> Callable[[Path], Contents]:
    """Return the function that loads all files of some names; unfinished ones do not count."""

    def load(folder: Path) -> Contents:
        paths = [path for pattern in patterns for path in sorted(folder.glob(pattern))]
        return {path.name: path.read_bytes() for path in paths}

    return load


def _clear(*names: str) -> Callable[[Path], None]:
    def clear(folder: Path) -> None:
        for name in names:
            if (folder / name).is_dir():
                shutil.rmtree(folder / name)
            else:
                (folder / name).unlink(missing_ok=True)

    return clear


COMMANDS = {
    "train": Killable(MODEL, _files("cache/models/*/model.safetensors"), _clear("cache")),
    "transfer": Killable(
        MOVED,
        _files("runs/moved.study.json"),
        _clear("runs"),
    ),
    "report": Killable(
        ("report", "run", "--out", "page.html", "--quiet"), _files("page.html"), _clear("page.html")
    ),
    "export": Killable(
        ("export", "run", "rows.jsonl", "--quiet"), _files("rows.jsonl"), _clear("rows.jsonl")
    ),
}


def attack_kills(folder: Path, count: int, seed: int) -> Part:
    """Kill an attack on an endpoint that counts: benchmarks/kills.py says what must hold."""
    folder.mkdir(parents=True, exist_ok=True)
    with timed(Part("kills: attack", count)) as part:
        measured = kills.endpoint_part(folder, count, seed)
        part.tried = measured["kills"]
        part.failures += [f"{c}: {measured[c]}" for c in kills.CHECKS if measured.get(c) is False]
    return part


def command_kills(folder: Path, name: str, count: int, seed: int) -> Part:
    """Kill a command again and again; whenever it ends, what it leaves is as if undisturbed."""
    write_workspace(folder, 120)
    command, rng = COMMANDS[name], Random(f"{seed}:{name}")
    with timed(Part(f"kills: {name}", count)) as part:
        if name in ("report", "export"):
            _ended(folder, ("attack", TARGET, "pwws", "--data", "films.csv", "--name", "run"))
        start = time.perf_counter()
        _ended(folder, command.words)
        took, expected = time.perf_counter() - start, command.left(folder)
        command.clear(folder)
        for number in range(count):
            code = _killed(folder, command.words, rng.uniform(0, took), number % 2 == 1, command)
            left = command.left(folder)
            torn = [file for file, content in left.items() if content != expected[file]]
            problem = f"{torn[0]} is torn" if torn else None
            if code not in (0, -signal.SIGKILL):
                problem = f"exit code {code} when it was called again"
            part.check(f"{name} ({number})", problem)
            if left == expected or torn:
                command.clear(folder)
        _ended(folder, command.words)
        if command.left(folder) != expected:
            part.failures.append(f"{name}: not the same as undisturbed")
    return part


def _argv(words: tuple[str, ...]) -> list[str]:
    return [sys.executable, "-m", "brittle.cli", *words]


def _env(folder: Path) -> dict[str, str]:
    return os.environ | {"BRITTLE_CACHE": str(folder / "cache")}


def _ended(folder: Path, words: tuple[str, ...]) -> None:
    subprocess.run(_argv(words), cwd=folder, env=_env(folder), check=True, capture_output=True)


def _killed(
    folder: Path, words: tuple[str, ...], seconds: float, at_write: bool, command: Killable
) -> int:
    """Start a command and kill it: after some seconds, or as soon as it writes a file."""
    before = _newest(folder)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(_argv(words), cwd=folder, env=_env(folder), **quiet) as process:
        end = time.monotonic() + (600.0 if at_write else seconds)
        while process.poll() is None and time.monotonic() < end:
            if at_write and _newest(folder) != before:
                break
            time.sleep(0.001)
        process.kill()
    return process.returncode


def _newest(folder: Path) -> tuple[int, int]:
    """Return how many entries a folder has, and when the newest was changed."""
    times = [entry.stat().st_mtime_ns for entry in os.scandir(folder) if entry.is_file()]
    return len(times), max(times, default=0)


DEADLY = """
import ctypes, os

def dies(how):
    def classify(texts):
        if any("story" in text and " 7" in text for text in texts):
            how()
        return [[0.8, 0.2] if "bad" in text else [0.3, 0.7] for text in texts]
    classify.labels = ["negative", "positive"]
    return classify

crash = dies(lambda: ctypes.string_at(0))
abort = dies(os.abort)
kill = dies(lambda: os.kill(os.getpid(), 9))
leave = dies(lambda: os._exit(0))
"""
DEATHS = tuple((how, workers) for how in ("crash", "abort", "kill", "leave") for workers in (1, 2))


def deadly_texts(folder: Path, count: int, seed: int) -> Part:
    """Attack targets that a text kills: the same command names it, and finishes all other cases."""
    write_workspace(folder, 20)
    (folder / "deadly_model.py").write_text(DEADLY, "utf-8")
    (folder / "story.csv").write_text(
        "text,label\n" + "".join(f"a bad story of {n} scenes,negative\n" for n in range(20)),
        "utf-8",
    )
    with timed(Part("texts that kill", count)) as part:
        for how, workers in DEATHS[:count]:
            part.check(f"{how}, {workers} workers", _deadly(folder, how, workers))
    return part


def _deadly(folder: Path, how: str, workers: int) -> str | None:
    words = ["attack", f"python:deadly_model:{how}", "key", "--data", "story.csv", "--budget", "5"]
    words += ["--workers", str(workers), "--name", f"{how}-{workers}"]
    finished = False
    for _ in range(3):
        argv = _argv(tuple(words))
        ended = subprocess.run(argv, cwd=folder, env=_env(folder), capture_output=True, text=True)
        listed = subprocess.run(
            _argv(("list", "runs", "--json")), cwd=folder, capture_output=True, text=True
        )
        cases = {run["run"]: run["cases"] for run in json.loads(listed.stdout)}
        finished = cases.get(f"{how}-{workers}") == "20/20"
        if (ended.returncode == 0) != finished:
            return f"exit code {ended.returncode} with {cases} cases"
        if finished:
            return None if " 7 scenes" in ended.stderr else "the text is not named"
    is_left_alone = how == "leave" and workers == 1  # the run stops there, with the reason
    return None if is_left_alone and "os._exit(0)" in ended.stderr else "it never ends"
