"""The command of a stored run: it parses, and makes the same run again."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

import brittle
from brittle.cli import main
from brittle.runs.exporting import command_of
from brittle.testing import FakeTarget

SCORER = """
def score(texts):
    return [[0.8, 0.2] if "good" in text else [0.1, 0.9] for text in texts]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "own_scorer.py").write_text(SCORER)
    rows = ["a good film,b,x", "a fine story,a,y", "good and warm,b,z"]
    (tmp_path / "films.csv").write_text("review,stars,more\n" + "\n".join(rows) + "\n")
    return tmp_path


def test_the_command_makes_the_same_run_again(folder: Path) -> None:
    words = "attack python:own_scorer:score pwws --data films.csv --text review --label stars"
    flags = "--labels b,a --limit 2 --budget 30 --seed 3 --toward a --confidence 0.7 --share 0.5"
    flags += " --no-inflect --quiet --name first --mask [gone]"
    assert main([*words.split(), *flags.split()]) == 0
    first = brittle.open_run("first")
    assert first.command is not None
    program, *again = shlex.split(first.command)
    assert program == "brittle" and "--share" in again and "--no-stop-words" not in again
    assert main([*again, "--name", "second", "--quiet"]) == 0
    second = brittle.open_run("second")
    skipped = ("started", "about_target")
    kept = [{k: v for k, v in run.manifest.items() if k not in skipped} for run in (first, second)]
    assert kept[0] == kept[1] and first.results() == second.results()
    assert first.command == second.command


def test_a_run_of_live_objects_has_no_command(folder: Path) -> None:
    live = brittle.attack(FakeTarget(), [("good film", "positive")], name="live")
    assert live.command is None


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "brittle attack zoo:toy pwws --data mr --seed 0"),
        ({"split": "dev"}, "brittle attack zoo:toy pwws --data mr --split dev --seed 0"),
        ({"goal": "all(a; b)"}, "--goal 'all(a; b)'"),
        ({"goal": "toward x with confidence 0.9", "confidence": 0.9}, "--confidence 0.9"),
        ({"locked": ["premise"]}, "--locked premise"),
        ({"settings": {"entities": True, "share": 0.25}}, "--entities --share 0.25"),
        ({"about_target": {"spec": "a b", "trust": ["x", "y"]}}, "--trust x --trust y"),
        ({"about_target": {"spec": "a", "labels": {"p": "1"}}}, "--labels p=1"),
        ({"settings": {"candidates": None, "share": 0.5}}, "--seed 0 --share 0.5"),
        ({"settings": {"candidates": "careful"}}, "--seed 0 --candidates careful"),
        ({"keep": {"similarity": [0.9, "MiniLM"]}}, "--seed 0 --keep-meaning 0.9"),
        (
            {
                "settings": {"candidates": "strict"},
                "keep": {"similarity": [0.85, ""], "fluency": [0.2, ""]},
            },
            "--seed 0 --keep-fluent 0.2 --candidates strict",
        ),
        ({"about_target": {}}, None),
        ({"data": "examples"}, None),
        ({"attack": "python:nowhere:own", "settings": {"n": 2}}, "python:nowhere:own --data mr"),
        ({"attack": "myattack"}, None),
    ],
)
def test_what_is_written(changes: dict[str, Any], expected: str | None) -> None:
    manifest = {"attack": "pwws", "settings": {}, "data": "mr", "split": "test", "seed": 0}
    manifest |= {"goal": "untargeted", "about_target": {"spec": "zoo:toy", "scores": "auto"}}
    command = command_of(manifest | changes)
    assert command is None if expected is None else expected in str(command)
