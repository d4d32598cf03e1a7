"""The command of a stored run: it parses, and makes the same run again."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import brittle
from brittle.cli import main
from brittle.runs.command import command_of, try_command_of
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
        ({"about_target": {"spec": "a.joblib"}}, "--seed 0 --trust-pickle a.joblib"),
        ({"left_out": {"no text": 2}}, "--data mr --skip-bad --seed 0"),
        ({"left_out": {}}, "--data mr --seed 0"),
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


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        ({"spec": "zoo:toy", "scores": "auto"}, 'brittle try zoo:toy "your sentence"'),
        (
            {"spec": "my model.pkl", "scores": "logits"},
            "brittle try 'my model.pkl' \"your sentence\" --scores logits "
            "--trust-pickle 'my model.pkl'",
        ),
        ({"spec": "a", "labels": {"p": "1"}}, 'brittle try a "your sentence" --labels p=1'),
        ({"spec": "a", "wanted_mask": "[gone]"}, 'brittle try a "your sentence"'),
        ({}, None),
    ],
)
def test_what_to_try_next(about: dict[str, Any], expected: str | None) -> None:
    assert try_command_of({"about_target": about}) == expected


def test_the_commands_that_a_run_of_a_pickle_names_work(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    joblib = pytest.importorskip("joblib")
    texts, labels = ["a good film", "a bad story", "good", "bad"], ["b", "a", "b", "a"]
    joblib.dump(make_pipeline(TfidfVectorizer(), LinearSVC()).fit(texts, labels), "my.joblib")
    with (folder / "films.csv").open("a") as file:
        file.write(",b,w\n")
    flags = "--text review --label stars --skip-bad --scores logits --name a-run-of-a-long-name"
    own = ["--data", "films.csv", *flags.split(), "--trust-pickle", "my.joblib"]
    assert main(["attack", "my.joblib", "auto", *own]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    [tried] = [line for line in lines if line.startswith("brittle try")]
    assert main(shlex.split(tried)[1:]) == 0
    capsys.readouterr()
    command = brittle.open_run("a-run-of-a-long-name").command
    assert command is not None
    assert main([*shlex.split(command)[1:], "--name", "again", "--quiet"]) == 0


def test_lines_to_copy_are_whole_in_a_narrow_terminal(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "a-run-with-a-name-that-is-so-long-that-two-commands-do-not-stand-on-one-line"
    target = "python:own_scorer:score"
    own = ["--data", "films.csv", "--text", "review", "--label", "stars", "--labels", "b,a"]
    assert main(["attack", target, "auto", *own, "--name", name]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert f"brittle report {name}" in lines and f"brittle show {name} --all" in lines
    assert not any(line.startswith("Report:") for line in lines)
