"""The candidates of studies and papers are the published ones; runs of before are known again."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

import brittle
from brittle.attacks.published import as_published, with_present_names
from brittle.data import as_dataset
from brittle.errors import UsageError
from brittle.runs.job import Job
from brittle.testing import FakeTarget

WEIGHTS = {"good": 2.0, "bad": -2.0}
FILMS = [("a good film", "positive"), ("a bad story", "negative")]


def test_only_attacks_with_candidates_have_published_ones() -> None:
    assert as_published("genetic", {}) == {"candidates": "paper"}
    assert as_published("pwws", {"candidates": "words.json"}) == {"candidates": "words.json"}
    assert as_published("key", {"share": 0.1}) == {"share": 0.1}
    assert with_present_names({"candidates": None, "share": 1}) == {
        "candidates": "paper",
        "share": 1,
    }
    assert with_present_names({"share": 1}) == {"share": 1}


def test_studies_attack_as_published(tmp_path: Path) -> None:
    targets = [FakeTarget(WEIGHTS, name="a"), FakeTarget(WEIGHTS, spread=0.1, name="b")]
    study = brittle.transfer(targets, FILMS, "pwws", folder=tmp_path, name="study")
    (run,) = {brittle.Run(tmp_path / "study" / study.runs["a"]).manifest["settings"]["candidates"]}
    assert run == "paper" and study.settings == {}
    grid = brittle.grid(targets, "pwws,list", FILMS, folder=tmp_path, name="grid")
    runs = list((tmp_path / "grid").rglob("*.sqlite"))
    settings = [brittle.Run(path).manifest["settings"]["candidates"] for path in runs]
    assert settings == ["paper"] * 4 and grid.attacks == ("pwws", "list")


def test_published_runs_keep_the_names_that_they_had_before_presets() -> None:
    def name(settings: dict[str, str]) -> str:
        return Job.of(FakeTarget(WEIGHTS), as_dataset(FILMS), "pwws", settings).default_name()

    assert name({}) == name({"candidates": "careful"}) != name({"candidates": "paper"})
    # This was the name of this run when it had no candidates.
    assert name({"candidates": "paper"}) == "fake-pwws-examples-aea420"


def test_a_run_from_before_presets_says_how_it_goes_on(tmp_path: Path) -> None:
    target = FakeTarget(WEIGHTS)
    options = {"name": "former", "folder": tmp_path}
    run = brittle.attack(target, FILMS, "pwws", limit=1, candidates="paper", **options)
    with sqlite3.connect(run.path) as db:
        ((manifest,),) = db.execute("SELECT value FROM meta WHERE key = 'manifest'")
        stored = json.loads(manifest)
        stored["settings"] |= {"candidates": None}
        del stored["settings"]["senses"]
        db.execute("UPDATE meta SET value = ? WHERE key = 'manifest'", [json.dumps(stored)])
    with pytest.raises(UsageError, match="To go on with it, add --candidates paper"):
        brittle.attack(target, FILMS, "pwws", **options)
    whole = brittle.attack(target, FILMS, "pwws", candidates="paper", **options)
    assert len(whole.results()) == 2
