"""Runs written by earlier versions still open, report, verify and resume.

`former/layout-1.sqlite` was written by the version whose statuses were won, lost and spent,
`layout-2.sqlite` by the last version before kinds of items and answers, `layout-3.sqlite` by the
last one before similarity, fluency and proofs: six of the texts below, attacked by random swaps
with a budget of four queries. `layout-2-costly.sqlite` is the run of a costly target that was
stopped after 14 texts, all of them in its journal.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

import brittle
from brittle.errors import UsageError
from brittle.runs.store import VERSION
from brittle.testing import FakeTarget

FORMER = Path(__file__).parent / "former"
WEIGHTS = {"good": 2.0, "great": 1.6, "fine": 1.2, "warm": 1.0}
WEIGHTS |= {"bad": -2.0, "dull": -1.6, "weak": -1.2, "cold": -1.0, "film": 0.3}
TEXTS = [
    ("a good film with a warm heart", "positive"),
    ("a dull story and a weak plot", "negative"),
    ("a great cast in a fine and good picture", "positive"),
    ("the bad jokes are cold and dull", "negative"),
    ("good good good good good great great great fine warm", "positive"),
    ("a bad film", "positive"),
    ("12", "negative"),
    ("a weak start but a warm and good finish", "positive"),
]
STATUSES = ["broken", "skipped", "skipped", "out of budget", "broken", "out of budget"]


@pytest.fixture(params=["layout-1", "layout-2", "layout-3"])
def former(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return Path(shutil.copy(FORMER / f"{request.param}.sqlite", tmp_path))


def test_a_former_run_is_read_without_being_changed(former: Path, tmp_path: Path) -> None:
    before = former.read_bytes()
    run = brittle.open_run(former.stem, tmp_path)
    assert [row.status for row in run.results()] == STATUSES
    assert "broken 2 · out of budget 2 · already wrong 2" in str(run)
    page = run.report(tmp_path / "report.html").read_text()
    assert "is-out-of-budget" in page and "is-won" not in page and "spent" not in page
    rows = run.export(tmp_path / "rows.csv").read_text()
    assert "out of budget" in rows and ",spent," not in rows
    assert former.read_bytes() == before


def test_a_former_run_verifies(former: Path, tmp_path: Path) -> None:
    run = brittle.open_run(former.stem, tmp_path)
    assert run.verify(FakeTarget(WEIGHTS, spread=0.2)) == []
    other = FakeTarget({word: -weight for word, weight in WEIGHTS.items()})
    assert len(run.verify(other)) == 1


def test_settings_that_are_younger_than_a_run_count_as_their_defaults(tmp_path: Path) -> None:
    target = FakeTarget(WEIGHTS, spread=0.2)
    options = {"name": "younger", "folder": tmp_path, "batch": 8}
    run = brittle.attack(target, TEXTS, "random-swap", limit=3, **options, candidates="paper")
    with sqlite3.connect(run.path) as db:
        manifest = json.loads(
            db.execute("SELECT value FROM meta WHERE key = 'manifest'").fetchone()[0]
        )
        share = manifest["settings"].pop("share")
        db.execute("UPDATE meta SET value = ? WHERE key = 'manifest'", [json.dumps(manifest)])
    assert len(
        brittle.attack(target, TEXTS, "random-swap", **options, candidates="paper").results()
    ) == len(TEXTS)
    with pytest.raises(UsageError, match="exists with other settings"):
        brittle.attack(target, TEXTS, "random-swap", share=share / 2, **options, candidates="paper")


def test_runs_on_a_model_whose_settings_were_renamed_go_on(tmp_path: Path) -> None:
    former, now = "LSTM@mr#0?rate=0.1,hidden=8", "LSTM@mr#0?learning_rate=0.1,hidden=8"
    options = {"folder": tmp_path, "candidates": "paper"}
    run = brittle.attack(
        FakeTarget(WEIGHTS, name=now), TEXTS, "random-swap", limit=3, **options, batch=8
    )
    assert "LSTM@mr-0-rate-0.1-hidden-8" in run.name  # as before they were renamed
    with sqlite3.connect(run.path) as db:
        db.execute("UPDATE meta SET value = replace(value, ?, ?)", [now, former])
    again = FakeTarget(WEIGHTS, name=now)
    resumed = brittle.attack(again, TEXTS, "random-swap", **options, batch=8)
    assert resumed.path == run.path and len(resumed.results()) == len(TEXTS)


def test_a_former_run_resumes(former: Path, tmp_path: Path) -> None:
    target = FakeTarget(WEIGHTS, spread=0.2)

    def resumed(budget: int, limit: int | None) -> brittle.Run:
        options = {"name": former.stem, "folder": tmp_path, "budget": budget, "limit": limit}
        return brittle.attack(
            target, TEXTS, "random-swap", share=1.0, batch=8, **options, candidates="paper"
        )

    assert [row.status for row in resumed(4, 6).results()] == STATUSES
    finished = {row.case: row for row in brittle.open_run(former.stem, tmp_path).results()}
    run = resumed(50, 8)
    rows = {row.case: row for row in run.results()}
    assert len(rows) == 8 and "out of budget" not in {row.status for row in rows.values()}
    for case, row in finished.items():
        if row.status != "out of budget":
            assert rows[case] == row
    with sqlite3.connect(former) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (VERSION,)
        assert "won" not in {status for (status,) in db.execute("SELECT status FROM results")}


@pytest.mark.parametrize(
    ("layout", "lacking"),
    [
        (3, {"results": ("similarity", "fluency"), "steps": ("similarity", "fluency")}),
        (4, {"results": ("proved_words", "single_swaps")}),
        (4, {"results": ("single_swaps",)}),
    ],
)
def test_a_layout_that_lacks_some_columns_opens_and_resumes(
    layout: int, lacking: dict[str, tuple[str, ...]], tmp_path: Path
) -> None:
    """Layout 3 was written with proved words and without measures, layout 4 the other way round."""
    target = FakeTarget(WEIGHTS, spread=0.2)
    options = {"folder": tmp_path, "candidates": "paper", "name": "run"}
    run = brittle.attack(target, TEXTS, "pwws", limit=5, **options)
    whole = run.results()
    assert {row.proved_words for row in whole} >= {0, 1}
    assert any(row.single_swaps for row in whole)
    assert any(row.fluency is not None for row in whole)
    with sqlite3.connect(run.path) as db:
        for table, names in lacking.items():
            for name in names:
                db.execute(f"ALTER TABLE {table} DROP COLUMN {name}")
        db.execute(f"PRAGMA user_version={layout}")
    empty = dict.fromkeys(lacking["results"])
    expected = [replace(row, **empty) for row in whole]
    assert brittle.open_run("run", tmp_path).results() == expected
    assert "broken" in str(run) and run.report(tmp_path / "report.html").exists()
    rows = {row.case: row for row in brittle.attack(target, TEXTS, "pwws", **options).results()}
    assert len(rows) == len(TEXTS)
    assert [rows.pop(row.case) for row in expected] == expected
    assert any(None not in (row.proved_words, row.fluency) for row in rows.values())
    with sqlite3.connect(run.path) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (VERSION,)


class CostlyFake(FakeTarget):
    costly = True


def test_a_former_journal_is_used(tmp_path: Path) -> None:
    shutil.copy(FORMER / "layout-2-costly.sqlite", tmp_path)

    def attacked(target: FakeTarget, name: str) -> list[brittle.runs.run.Result]:
        options = {"share": 1.0, "batch": 2, "confidence": 0.6, "folder": tmp_path}
        return brittle.attack(
            target, TEXTS, "random-swap", name=name, **options, candidates="paper"
        ).results()

    resumed, whole = CostlyFake(WEIGHTS, spread=0.2), CostlyFake(WEIGHTS, spread=0.2)
    assert attacked(resumed, "layout-2-costly") == attacked(whole, "anew")
    assert sum(resumed.calls) == sum(whole.calls) - 14
