"""Malformed stored files end in exit 2 with their name, and hide no others: mutations by seed.

The mutations are those of benchmarks/hostile, where `torture.py --only stored` tries more of them.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

from hostile.part import ended
from hostile.stored import STUDIES, Format, tried, write_stored

FORMATS = (
    *STUDIES,
    *("renamed study", "run", "run of pictures", "answers", "key", "archive", "rules", "arrays"),
)
QUICK, WHOLE = 4, 40


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("stored")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        patch.setenv("BRITTLE_CACHE", str(folder / "cache"))
        yield folder


@pytest.fixture(scope="module")
def formats(folder: Path) -> Mapping[str, Format]:
    return write_stored(folder)


def problems(stored: Format, folder: Path, seeds: range) -> list[str]:
    ends = [(seed, *tried(stored, folder, Random(f"{stored.file}:{seed}"))) for seed in seeds]
    return [f"{seed}: {what}: {problem}" for seed, what, problem in ends if problem is not None]


@pytest.mark.parametrize("name", FORMATS)
def test_malformed_files_are_named(name: str, formats: Mapping[str, Format], folder: Path) -> None:
    assert set(formats) == set(FORMATS)
    assert problems(formats[name], folder, range(QUICK)) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_many_malformed_files_are_named(
    name: str, formats: Mapping[str, Format], folder: Path
) -> None:
    assert problems(formats[name], folder, range(QUICK, WHOLE)) == []


def dig(value: Any, *keys: Any) -> Any:
    """Follow keys into JSON; None is the first key, whatever it is."""
    for key in keys:
        value = value[next(iter(value)) if key is None else key]
    return value


Change = Callable[[dict[str, Any]], None]
MALFORMED: list[tuple[str, str, Change]] = [
    ("moved", "before.* misses a case", lambda study: dig(study, "before", None).clear()),
    ("moved", "a label too many", lambda study: dig(study, "after", None, None).append(0)),
    ("moved", "a label that is none", lambda study: dig(study, "after", None, None).insert(0, "x")),
    ("moved", "a winner of no class", lambda s: dig(s, "winners", None, 0).update(label=99)),
    ("moved", "a run elsewhere", lambda s: s["runs"].update({s["sources"][0]["name"]: "../x"})),
    ("moved", "a name elsewhere", lambda study: study.update(name="../../etc/passwd")),
    ("moved", "a member twice", lambda study: study["targets"].append(study["targets"][0])),
    ("moved", "labels of numbers", lambda study: study.update(labels=[1, 2])),
    (
        "all",
        "a case that is none",
        lambda s: dig(s, "cells", None, None, "rows", 0).update(case="x"),
    ),
    (
        "all",
        "an unknown status",
        lambda s: dig(s, "cells", None, None, "rows", 0).update(status="?"),
    ),
    (
        "all",
        "texts as queries",
        lambda s: dig(s, "cells", None, None, "rows", 0).update(queries="3"),
    ),
    ("all", "a run elsewhere", lambda s: dig(s, "cells", None, None).update(run="../../x.sqlite")),
    ("all", "more right than scored", lambda s: s["right"].update({next(iter(s["right"])): 10**9})),
    ("all", "an attack without cells", lambda study: study["attacks"].append("pwws")),
    ("all", "draws won of none", lambda s: dig(s, "cells", None, None, "rows", 0).update(won=3)),
    ("far", "a target without a row", lambda study: dig(study, "cases", 0, "rows").popitem()),
    ("far", "a distance below 0", lambda s: dig(s, "cases", 0, "rows", None).update(distance=-1.0)),
    ("far", "no settings", lambda study: study["settings"].clear()),
    ("far", "an accuracy above 1", lambda s: s.update(accuracy=dict.fromkeys(s["targets"], 7.0))),
]


def changed_study(study: dict[str, Any], change: Change) -> dict[str, Any]:
    """Apply a change that sees facts and results as fields of the study."""
    fields = study | study["facts"] | study["results"]
    change(fields)
    parts = {part: {key: fields[key] for key in study[part]} for part in ("facts", "results")}
    return {key: fields[key] for key in study} | parts


@pytest.mark.parametrize(
    ("name", "change"),
    [pytest.param(name, change, id=f"{name}: {what}") for name, what, change in MALFORMED],
)
def test_studies_whose_parts_do_not_fit(
    name: str, change: Change, formats: Mapping[str, Format], folder: Path
) -> None:
    path = folder / formats[name].file
    original = path.read_text("utf-8")
    path.write_text(json.dumps(changed_study(json.loads(original), change)), "utf-8")
    try:
        for words in (["show", name], ["report", name, "--out", "out.html"]):
            end = ended(words, folder)
            assert (end.code, end.problem) == (2, None), end.err
            assert path.name in end.err and "Traceback" not in end.err
        end = ended(["list", "studies"], folder)
        assert end.code == 0 and all(other in end.out for other in formats[name].others)
        assert "Left out: " in end.err and path.name in end.err
    finally:
        path.write_text(original, "utf-8")


DAMAGES = [
    "UPDATE results SET tried = 'x', won = 'y'",
    "UPDATE results SET queries = 'many'",
    "UPDATE results SET queries = -5",
    "UPDATE results SET confidence = x'ff00'",
    "UPDATE results SET status = 'finished'",
    "UPDATE results SET status = x'00'",
    "UPDATE results SET words = NULL",
    "UPDATE steps SET query = 'x'",
    "UPDATE steps SET loss = 'x'",
    "UPDATE steps SET edits = '[[1, 2]]'",
    "UPDATE examples SET fields = '[[\"text\"]]'",
    "UPDATE examples SET fields = '[[\"text\", 5]]'",
    *(
        f"UPDATE meta SET value = json_set(value, '$.{entry}', json('{value}')) WHERE key = '{key}'"
        for key, entry, value in (
            ("manifest", "settings", "[1]"),
            ("manifest", "labels", "5"),
            ("manifest", "labels", "[null]"),
            ("manifest", "label_map", '["x"]'),
            ("manifest", "versions", '"x"'),
            ("manifest", "keep", '{"fluency": 3}'),
            ("manifest", "confidence", '"high"'),
            ("manifest", "budget", "{}"),
            ("manifest", "examples", '"all"'),
            ("manifest", "warnings", "7"),
            ("manifest", "kind", '"sound"'),
            ("manifest", "shape", "[1]"),
            ("manifest", "about_target", '{"spec": 5}'),
            ("manifest", "about_target", '{"spec": "x", "runs": "elsewhere"}'),
            ("manifest", "columns", '{"text": 5}'),
            ("totals", "sent", '"x"'),
            ("validity", "reading", "[]"),
            ("validity", "reading.parts", "{}"),
            ("validity", "broken", "null"),
            ("floors", "clean_error", "[]"),
        )
    ),
]


def is_slow(number: int) -> bool:
    """Tell whether a damage is of a kind of which quick tests have another one."""
    return "'manifest'" in DAMAGES[number] and number % 3 > 0


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(damage, marks=[pytest.mark.slow] * is_slow(number))
        for number, damage in enumerate(DAMAGES)
    ],
)
def test_runs_with_values_of_other_types(
    damage: str, formats: Mapping[str, Format], folder: Path
) -> None:
    path = folder / formats["run"].file
    original = path.read_bytes()
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        assert db.execute(damage).rowcount > 0
    try:
        ends = [ended(words, folder) for words in formats["run"].readers]
        assert all((end.code in (0, 2), end.problem) == (True, None) for end in ends)
        assert not any("Traceback" in end.err for end in ends)
        refused = [end for end in ends if end.code == 2]
        assert refused and all(path.name in end.err for end in refused)
        end = ended(["list", "runs"], folder)
        assert end.code == 0 and "other" in end.out
    finally:
        path.write_bytes(original)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="about files of POSIX")
def test_what_is_called_like_a_study_or_a_run_hides_no_others(
    formats: Mapping[str, Format], folder: Path
) -> None:
    runs = folder / "runs"
    for ending in (".study.json", ".sqlite"):
        (runs / f"folder{ending}").mkdir()
        os.mkfifo(runs / f"pipe{ending}")
        (runs / f"link{ending}").symlink_to(folder / "nowhere")
    (runs / "closed.study.json").write_text("{}")
    (runs / "closed.study.json").chmod(0)
    try:
        for what, names in (("studies", STUDIES), ("runs", ("run", "other"))):
            end = ended(["list", what], folder, seconds=20)
            assert (end.code, end.problem) == (0, None), end.err
            assert all(name in end.out for name in names)
    finally:
        (runs / "closed.study.json").unlink()
        for ending in (".study.json", ".sqlite"):
            (runs / f"folder{ending}").rmdir()
            (runs / f"pipe{ending}").unlink()
            (runs / f"link{ending}").unlink()


@pytest.mark.parametrize("sample", ["../../etc/passwd", "*", "", "x" * 12, None, ["a"], 10**12])
def test_answers_name_a_sample_and_no_file(
    sample: Any, formats: Mapping[str, Format], folder: Path
) -> None:
    path = folder / formats["answers"].file
    original = path.read_text("utf-8")
    path.write_text(json.dumps(json.loads(original) | {"sample": sample}), "utf-8")
    try:
        for words in (
            ["validity", "run", path.name],
            ["validity", "run", "--calibration", path.name],
        ):
            end = ended([*words, "--no-floors", "--judge", "python:torture_model:two"], folder)
            assert end.code == 2 and path.name in end.err, end.err
            assert "12 digits from 0 to f" in end.err or "sample is" in end.err
    finally:
        path.write_text(original, "utf-8")
