"""One name is one attack in every command: the defaults are the published candidates."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

import brittle
from brittle.attacks import ATTACKS, changed_settings, default_settings, with_present_names
from brittle.data import as_dataset
from brittle.errors import UsageError
from brittle.runs.job import Job
from brittle.studies.grid.study import GridStudy
from brittle.studies.transfer.study import TransferStudy
from brittle.testing import FakeTarget

WEIGHTS = {"good": 2.0, "bad": -2.0}
FILMS = [("a good film", "positive"), ("a bad story", "negative")]


def test_every_attack_has_the_published_candidates_by_default() -> None:
    presets = {name: default_settings(name).get("candidates") for name in ATTACKS}
    assert set(presets.values()) == {None, "paper"}
    assert presets["pwws"] == presets["genetic"] == presets["salient-swap"] == "paper"
    assert presets["auto"] is None


def test_only_settings_that_differ_from_the_defaults_are_named() -> None:
    assert changed_settings("pwws", {"candidates": "paper", "share": 0.2}) == {"share": 0.2}
    assert changed_settings("PWWS", {"candidates": "careful"}) == {"candidates": "careful"}
    assert changed_settings("python:no_such_module:attack", {"a": 1}) == {"a": 1}
    former = with_present_names({"candidates": None, "share": 1})
    assert former == {"candidates": "paper", "share": 1}
    assert with_present_names({"share": 1}) == {"share": 1}


def test_studies_attack_as_a_run_does(tmp_path: Path) -> None:
    targets = [FakeTarget(WEIGHTS, name="a"), FakeTarget(WEIGHTS, spread=0.1, name="b")]
    study = brittle.transfer(targets, FILMS, "pwws", folder=tmp_path, name="study")
    (run,) = {brittle.Run(tmp_path / "study" / study.runs["a"]).manifest["settings"]["candidates"]}
    assert run == "paper" and study.settings == {}
    grid = brittle.grid(targets, FILMS, "pwws,list", folder=tmp_path, name="grid")
    runs = list((tmp_path / "grid").rglob("*.sqlite"))
    settings = [brittle.Run(path).manifest["settings"]["candidates"] for path in runs]
    assert settings == ["paper"] * 4 and grid.attacks == ("pwws", "list")
    careful = brittle.grid(targets, FILMS, "pwws", folder=tmp_path, candidates="careful")
    assert careful.settings == {"pwws": {"candidates": "careful"}}


def test_studies_that_stored_the_published_candidates_are_the_same_studies(tmp_path: Path) -> None:
    targets = [FakeTarget(WEIGHTS, name="a"), FakeTarget(WEIGHTS, spread=0.1, name="b")]
    brittle.transfer(targets, FILMS, "pwws", folder=tmp_path, name="study")
    brittle.grid(targets, FILMS, "pwws,key", folder=tmp_path, name="grid")
    paper = {"candidates": "paper"}
    for name, settings in (("study", paper), ("grid", {"pwws": paper, "key": {}})):
        path = tmp_path / f"{name}.study.json"
        stored: dict[str, Any] = json.loads(path.read_text())
        stored["facts"]["settings"] = settings
        path.write_text(json.dumps(stored))
    assert TransferStudy.load(tmp_path / "study.study.json").settings == {}
    assert GridStudy.load(tmp_path / "grid.study.json").settings == {"pwws": {}, "key": {}}
    brittle.transfer(targets, FILMS, "pwws", folder=tmp_path, name="study")
    brittle.grid(targets, FILMS, "pwws,key", folder=tmp_path, name="grid")
    with pytest.raises(UsageError, match=r"other settings: settings \{\}"):
        brittle.transfer(
            targets, FILMS, "pwws", folder=tmp_path, name="study", candidates="careful"
        )


def test_published_runs_keep_the_names_that_they_had_before_presets() -> None:
    def name(settings: dict[str, str]) -> str:
        return Job.of(FakeTarget(WEIGHTS), as_dataset(FILMS), "pwws", settings).default_name()

    assert name({}) == name({"candidates": "paper"}) != name({"candidates": "careful"})
    # This was the name of this run when it had no candidates.
    assert name({}) == "fake-pwws-examples-aea420"


def test_a_run_from_before_presets_goes_on(tmp_path: Path) -> None:
    target = FakeTarget(WEIGHTS)
    options: dict[str, Any] = {"name": "former", "folder": tmp_path}
    run = brittle.attack(target, FILMS, "pwws", limit=1, **options)
    with sqlite3.connect(run.path) as db:
        ((manifest,),) = db.execute("SELECT value FROM meta WHERE key = 'manifest'")
        stored = json.loads(manifest)
        stored["settings"] |= {"candidates": None}
        del stored["settings"]["senses"]
        db.execute("UPDATE meta SET value = ? WHERE key = 'manifest'", [json.dumps(stored)])
    with pytest.raises(UsageError, match="To continue it, add --candidates paper"):
        brittle.attack(target, FILMS, "pwws", candidates="careful", **options)
    whole = brittle.attack(target, FILMS, "pwws", **options)
    assert len(whole.results()) == 2
