"""Stored files that are malformed: every command that reads one ends with its name, exit code 2.

Good files of every format are written, then mutated one value or some bytes at a time. A command
may also succeed: not every mutation matters to it.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from hostile.mutations import (
    Mutated,
    mutate_archive,
    mutate_arrays,
    mutate_bytes,
    mutate_database,
    mutate_json,
    mutate_lines,
)
from hostile.part import Ended, Part, ended, timed, verdict
from hostile.workspace import TARGET, write_rules, write_workspace

PICTURES = """
import numpy as np

def bright(pictures):
    share = np.asarray(pictures).reshape(len(pictures), -1).mean(axis=1)
    return np.stack([1 - share, share], axis=1)

bright.labels = ["0", "1"]
"""
SHARE_OF_BYTES = 0.3
QUICK = ("--limit", "6", "--quiet", "--workers", "1")
FILMS = ("--data", "films.csv", *QUICK)


@dataclass(frozen=True)
class Format:
    """A format of stored files: one good file, who mutates it, and who reads it.

    `listing` is a command that reads all files of the format; `others` must stand in what it
    prints, whatever this file holds. `scratch` are files and folders that are removed before each
    trial: nothing else may change. `asides` may change, and are restored. A message may also say
    one of `named` in place of the file's name.
    """

    file: str
    mutate: Callable[[bytes, Random], Mutated]
    readers: Sequence[Sequence[str]]
    listing: Sequence[str] = ()
    others: Sequence[str] = ()
    scratch: Sequence[str] = ()
    asides: Sequence[str] = ()
    named: Sequence[str] = ()


def stored_files(folder: Path, count: int, seed: int) -> Part:
    """Mutate stored files in turn; `count` trials over all formats."""
    with timed(Part("stored files", count)) as part:
        formats = write_stored(folder)
        names = list(formats)
        for number in range(count):
            name = names[number % len(names)]
            what, problem = tried(formats[name], folder, Random(f"{seed}:{number}"))
            part.check(f"{name} ({number}): {what}", problem)
    return part


def tried(stored: Format, folder: Path, rng: Random) -> tuple[str, str | None]:
    """Mutate a file, have it read, and restore it; return what was changed, and what is wrong."""
    path = folder / stored.file
    original = path.read_bytes()
    by_bytes = rng.random() < SHARE_OF_BYTES
    what, mutated = (mutate_bytes if by_bytes else stored.mutate)(original, rng)
    kept = {aside: (folder / aside).read_bytes() for aside in stored.asides}
    path.write_bytes(mutated)
    before = _digests(folder)
    try:
        problems = [_problem(words, stored, folder) for words in stored.readers]
        problems.append(_listing_problem(stored, folder))
        if stored.scratch and (changed := _digests(folder) ^ before):
            names = sorted(
                {
                    name
                    for name, _ in changed
                    if not name.startswith((*stored.scratch, stored.file[:-5]))
                }
            )
            problems += [f"changed {names[0]}"] if names else []
    finally:
        for log in path.parent.glob(f"{path.name}-*"):
            log.unlink()  # that of a mutated database
        path.write_bytes(original)
        for aside, content in kept.items():
            (folder / aside).write_bytes(content)
    wrong = [problem for problem in problems if problem]
    return what, "; ".join(dict.fromkeys(wrong)) or None


def _problem(words: Sequence[str], stored: Format, folder: Path) -> str | None:
    for name in stored.scratch:
        if (folder / name).is_file():
            (folder / name).unlink()
        shutil.rmtree(folder / name, ignore_errors=True)
    end = ended(words, folder)
    problem = end.problem or verdict(end.code, end.err) or _unnamed(end, stored)
    return None if problem is None else f"{' '.join(words[:2])}: {problem}"


def _unnamed(end: Ended, stored: Format) -> str | None:
    """Return what is wrong with an error message: its exit code, or that it names no file."""
    names = [Path(stored.file).name, *stored.named]
    if end.code == 2 and not any(name in end.err for name in names):
        return f"does not name the file: {end.err.strip()[:160]}"
    return f"exit code 3: {end.err.strip()[:160]}" if end.code == 3 else None


def _listing_problem(stored: Format, folder: Path) -> str | None:
    if not stored.listing:
        return None
    end = ended(stored.listing, folder)
    problem = end.problem or verdict(end.code, end.err)
    if problem is None and (end.code or not all(name in end.out for name in stored.others)):
        problem = f"exit code {end.code}, others are hidden"
    return None if problem is None else f"{' '.join(stored.listing)}: {problem}"


def _digests(folder: Path) -> set[tuple[str, str]]:
    """Return the names of all files with what they hold; caches of Python are left out."""
    return {
        (path.relative_to(folder).as_posix(), hashlib.sha256(path.read_bytes()).hexdigest())
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }


def write_stored(folder: Path) -> Mapping[str, Format]:
    """Write a folder with one good file of every format; return the formats by name."""
    write_workspace(folder)
    here = Path.cwd()
    os.chdir(folder)
    try:
        return _formats(folder)
    finally:
        os.chdir(here)


def _formats(folder: Path) -> dict[str, Format]:
    from brittle.cli import main

    targets = "python:torture_model:one,python:torture_model:two"
    for words in (
        ATTACK,
        ["attack", TARGET, "key", *FILMS, "--name", "other"],
        ["study", "transfer", "pool:pool.txt", "key", *FILMS, "--name", "moved", "--seeds", "1"],
        ["study", "grid", targets, "key", *FILMS, "--name", "all"],
        ["validity", "write", "run", "--people", "1", "--quiet"],
    ):
        assert main(words) == 0, words
    key = next((folder / "runs").glob("run.*.key.json"))
    _write_answers(folder / "answers.json", key)
    validity = ["validity", "read", "run", "answers.json"]
    assert main([*validity, "--other", "python:torture_model:two", "--quiet"]) == 0
    _write_robustness(folder)
    _write_pictures(folder)
    write_rules(folder / "rules.jsonl")
    _write_archive(folder)
    return {
        **{name: _study(name, folder) for name in STUDIES},
        "renamed study": _renamed(folder),
        "run": _run("run", folder, "csv", [ATTACK]),
        "run of pictures": _run("pictures", folder, "npz"),
        "answers": Format(
            "answers.json", mutate_json, [[*validity, "--no-floors"]], asides=("runs/run.sqlite",)
        ),
        "key": Format(
            str(key.relative_to(folder)),
            mutate_json,
            [[*validity, "--no-floors"]],
            asides=("runs/run.sqlite",),
            named=("answers.json", f"the sample {key.name.split('.')[1]}"),
        ),
        "archive": Format(
            "results.zip",
            partial(mutate_archive, manifest="manifest.json"),
            [["papers", "imdb", "--unpack", "results.zip", "--folder", "there"]],
            scratch=("there", "cache"),
        ),
        "rules": Format(
            "rules.jsonl",
            mutate_lines,
            [
                ["rules", "show", "rules.jsonl"],
                ["rules", "export", "rules.jsonl", "--to", "csv"],
                ["attack", TARGET, "rules", "--rules", "rules.jsonl", *FILMS, *AGAIN],
            ],
        ),
        "arrays": Format(
            "pictures.npz",
            mutate_arrays,
            [["attack", "python:torture_pictures:bright", "noise", *ARRAYS]],
            named=("The labels of the data",),  # it is whole, with other labels
        ),
    }


ATTACK = ("attack", TARGET, "pwws", *FILMS, "--candidates", "paper", "--name", "run")
STUDIES = ("moved", "all", "far")
AGAIN = ("--new", "--name", "again")
ARRAYS = ("--data", "pictures.npz", "--limit", "2", "--quiet", *AGAIN)


def _study(name: str, folder: Path) -> Format:
    file = f"runs/{name}.study.json"
    shutil.copyfile(folder / file, folder / "runs" / f"{name}-before.study.json")
    compared = [["compare", name, f"{name}-before"]] if name != "all" else []
    return Format(
        file,
        mutate_json,
        [
            ["show", name],
            ["show", name, "--json"],
            ["report", name, "--out", "out.html"],
            ["export", name, "out.csv"],
            ["export", name, "out.jsonl", "--texts"],
            *compared,
        ],
        listing=["list", "studies"],
        others=[f"{name}-before", *(other for other in STUDIES if other != name)],
    )


def _renamed(folder: Path) -> Format:
    """A study that is renamed, whatever its file holds; or the file is named, and stays."""
    shutil.copyfile(folder / "runs" / "moved.study.json", folder / "runs" / "lone.study.json")
    new = "runs/renamed.study.json"
    words = [["runs", "rename", "runs/lone.study.json", "renamed"]]
    return Format("runs/lone.study.json", mutate_json, words, scratch=(new,))


def _run(name: str, folder: Path, ending: str, resumed: Sequence[Sequence[str]] = ()) -> Format:
    return Format(
        f"runs/{name}.sqlite",
        partial(mutate_database, folder=folder),
        [
            ["show", name],
            ["show", name, "--json"],
            ["report", name, "--out", "out.html"],
            ["report", name, "--out", "card.md"],
            ["export", name, f"out.{ending}"],
            ["export", name, "out.jsonl"],
            ["compare", name, "other"],
            ["validity", "write", name, "--people", "1", "--out", "pages", "--quiet"],
            ["validity", "read", name, "--no-floors"],
            *resumed,
        ],
        listing=["list", "runs"],
        others=["other"],
        named=[f"the run '{name}'", f"The run '{name}'"],
    )


def _write_answers(path: Path, key: Path) -> None:
    """Write what a person might have answered about the items of a key."""
    content = json.loads(key.read_text("utf-8"))
    said = {"label": content["labels"][0], "natural": 4, "meaning": 5}
    answers: dict[str, Any] = {
        "format": "brittle answers",
        "layout": 1,
        "sample": content["sample"],
        "preset": content["preset"],
        "person": 1,
        "answers": dict.fromkeys(content["items"], said),
    }
    path.write_text(json.dumps(answers), "utf-8")


def _write_robustness(folder: Path) -> None:
    import brittle
    from brittle.testing import FakeGenerator, FakeTarget

    words = ("good", "bad", "film", "plot", "dull", "great")
    targets = [
        FakeTarget({"good": 2.0, "bad": -2.0, "dull": -1.0}, name="near"),
        FakeTarget({"great": 2.0, "bad": -3.0, "plot": 1.0}, name="wide"),
    ]
    examples = [(f"{one} {two}", "positive") for one in words[:3] for two in words[3:]]
    generator = FakeGenerator(words)
    settings: dict[str, Any] = {"samples": 20, "step": 0.2, "radius": 4.0, "limit": 6}
    brittle.robustness(targets, examples, generator, name="far", folder=folder / "runs", **settings)


def _write_pictures(folder: Path) -> None:
    from brittle.cli import main

    (folder / "torture_pictures.py").write_text(PICTURES, "utf-8")
    pictures = (np.arange(4 * 6 * 6).reshape(4, 6, 6) * 7 % 250).astype(np.uint8)
    np.savez(folder / "pictures.npz", images=pictures, labels=np.arange(4) % 2)
    words = ["attack", "python:torture_pictures:bright", "noise", "--data", "pictures.npz"]
    assert main([*words, "--quiet", "--name", "pictures"]) == 0


def _count(context: Any, *, number: int) -> dict[str, Any]:
    run = context.folder / f"{context.unique_name}.txt"
    run.write_text("a result " * number, "utf-8")
    return {"run": run.name}


def _named(folder: Path, result: Mapping[str, Any]) -> list[Path]:
    return [folder / str(result["run"])]


def _write_archive(folder: Path) -> None:
    from brittle.workflow.artifacts import pack
    from brittle.workflow.running import run_tasks
    from brittle.workflow.tasks import Task

    tasks = [Task(f"count {n}", _count, {"number": n}, leaves=_named) for n in (3, 4)]
    work = folder / "work"
    work.mkdir()
    run_tasks(tasks, work, lambda message: None)
    pack(tasks, work, folder / "results.zip")
