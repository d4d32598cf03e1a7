"""A run on disk: what is written comes back, one writer, killed halfway loses nothing stored."""

from __future__ import annotations

import json
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from brittle.cli import main
from brittle.data.example import Example, case_ids
from brittle.edits import Edit, edit_rows
from brittle.errors import UsageError
from brittle.results import DAMAGED_EDITS, KeptItem, Result, Step
from brittle.runs import store as module
from brittle.runs.run import Run
from brittle.runs.store import APPLICATION_ID, Store

EXAMPLES = [Example.of("A good film \x00 ❤️", "positive"), Example.of("A bad film", "negative")]
IDS = case_ids(EXAMPLES)


def result(case: str, status: str = "broken") -> Result:
    example = EXAMPLES[IDS.index(case)]
    raw = example.fields[0][1]
    edits = (Edit("text", 0, 1, "A", "One"),)
    return Result(
        case=case,
        attack="pwws",
        target="fake",
        goal="untargeted",
        status=status,  # type: ignore[arg-type]
        reason="because \ud800".encode("utf-8", "replace").decode(),
        fields=example.fields,
        original=raw,
        adversarial="One" + raw[1:],
        edits=edits,
        label=example.label,
        predicted=example.label,
        confidence=0.875,
        adversarial_label="other",
        adversarial_confidence=0.5,
        queries=12,
        words=3,
        words_changed=1,
        characters_changed=3,
        seed=0,
    )


def filled(path: Path) -> Store:
    store = Store.create(path, {"target": "fake", "budget": None})
    store.plan(EXAMPLES, IDS)
    step = Step(IDS[0], 3, 0.25, "positive", 0.75, (Edit("text", 0, 1, "A", "One"),))
    store.add([result(IDS[0])], [step, step], {"sent": 7.0})
    return store


def test_what_is_written_comes_back(tmp_path: Path) -> None:
    with filled(tmp_path / "run.sqlite") as store:
        assert store.results() == [result(IDS[0])]
        assert [step.query for step in store.steps()] == [3, 3]
        assert store.finished() == {IDS[0]} and store.planned() == 2
        assert store.manifest["target"] == "fake" and store.totals == {"sent": 7.0}
    with Store.read(tmp_path / "run.sqlite") as store:
        assert store.results() == [result(IDS[0])]


@pytest.mark.parametrize(
    "edits", ['[["text", 0, 1, "B", "C"]]', '[["gone", 0, 0, "", "C"]]', "[[1]]", "no JSON"]
)
def test_a_damaged_row_does_not_hide_the_others(tmp_path: Path, edits: str) -> None:
    path = tmp_path / "run.sqlite"
    manifest = {"target": "t", "attack": "a", "data": "d", "examples": 2, "started": ""}
    with Store.create(path, manifest) as store:
        store.plan(EXAMPLES, IDS)
        store.add([result(case) for case in IDS], [], {})
    with sqlite3.connect(path) as db:
        db.execute("UPDATE results SET edits = ? WHERE case_id = ?", (edits, IDS[0]))
    db.close()
    run = Run(path)
    damaged, good = run.results()
    assert (damaged.status, damaged.adversarial, damaged.edits) == ("broken", None, ())
    assert damaged.reason == DAMAGED_EDITS and good == result(IDS[1])
    assert "Of 1 case: its stored edits do not fit" in " ".join(str(run).split())
    for argv in (
        ["show", "run"],
        ["report", "run"],
        ["export", "run", "rows.csv"],
        ["list", "runs"],
    ):
        argv = [*argv[:-1], str(tmp_path / argv[-1])] if argv[0] == "export" else argv
        assert main([*argv, "--runs", str(tmp_path)]) == 0


def test_the_layout_is_plain_sqlite(tmp_path: Path) -> None:
    filled(tmp_path / "run.sqlite").close()
    db = sqlite3.connect(tmp_path / "run.sqlite")
    assert db.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
    assert db.execute("SELECT status, queries FROM results").fetchall() == [("broken", 12)]
    db.close()


def test_one_writer_at_a_time_but_readers_may_look(tmp_path: Path) -> None:
    with filled(tmp_path / "run.sqlite"):
        with pytest.raises(UsageError, match="Another process is writing the run 'run'"):
            Store.resume(tmp_path / "run.sqlite")
        with Store.read(tmp_path / "run.sqlite") as reader:
            assert len(reader.results()) == 1
    Store.resume(tmp_path / "run.sqlite").close()


def test_the_journal_keeps_answers(tmp_path: Path) -> None:
    with filled(tmp_path / "run.sqlite") as store:
        store.keep("scores", [(b"a", [0.25, 0.75]), (b"b", [1.0, 0.0])])
        assert store.find("scores", [b"a", b"c"]) == {b"a": [0.25, 0.75]}
        assert store.find("alone:scores", [b"a"]) == {}
        assert store.journalled() == 2


def test_forgetting_a_status_lets_its_cases_run_again(tmp_path: Path) -> None:
    with filled(tmp_path / "run.sqlite") as store:
        store.add([result(IDS[1], "out of budget")], [], {})
        assert store.forget("out of budget") == 1
        assert store.finished() == {IDS[0]} and len(store.steps()) == 2


def test_items_kept_for_the_report_come_back_with_their_row(tmp_path: Path) -> None:
    kept = (KeptItem("reconstruction", "a film", 0.0, "bad", 0.75), KeptItem("way", "\ud800", 0.5))
    with filled(tmp_path / "run.sqlite") as store:
        row = replace(result(IDS[1], "out of budget"), kept=kept)
        store.add([row], [], {})
        assert {r.case: r.kept for r in store.results()} == {IDS[0]: (), IDS[1]: kept}
        assert store.forget("out of budget") == 1
        store.add([replace(row, kept=())], [], {})
        assert all(r.kept == () for r in store.results())
        store.forget("out of budget")
        store.add([row], [], {})
        store._db.execute("UPDATE meta SET value = '[[1' WHERE key LIKE 'kept:%'")
        assert [r.kept for r in store.results()] == [(), ()]  # one damaged entry hides no row


def test_a_file_that_is_not_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="There is no run at"):
        Store.read(tmp_path / "none.sqlite")
    (tmp_path / "text.sqlite").write_text("not a database, but long enough to be looked at" * 9)
    with pytest.raises(UsageError, match="not a readable run file"):
        Store.read(tmp_path / "text.sqlite")
    sqlite3.connect(tmp_path / "other.sqlite").execute("CREATE TABLE t (x)").connection.close()
    with pytest.raises(UsageError, match="not a run of brittle"):
        Store.read(tmp_path / "other.sqlite")
    newer = filled(tmp_path / "newer.sqlite")
    newer._db.execute("PRAGMA user_version=99")
    newer.close()
    with pytest.raises(UsageError, match="layout 99"):
        Store.read(tmp_path / "newer.sqlite")


def test_a_run_killed_before_its_first_write_is_no_run(tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / "empty.sqlite").close()
    (tmp_path / "empty.sqlite").touch()
    assert not Store.exists(tmp_path / "empty.sqlite")
    assert not Store.exists(tmp_path / "none.sqlite")


def test_what_is_stored_is_soon_in_the_file_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SECONDS_BETWEEN_CHECKPOINTS", 0.0)
    with filled(tmp_path / "run.sqlite") as store:
        store.keep("answer", [(b"key", [1.0])])
        alone = tmp_path / "alone.sqlite"
        shutil.copy(tmp_path / "run.sqlite", alone)
        with Store.read(alone) as copy:
            assert copy.results() == store.results() and copy.journalled() == 1


def test_a_run_that_was_just_created_is_a_run_without_its_log(tmp_path: Path) -> None:
    with Store.create(tmp_path / "run.sqlite", {"target": "fake"}):
        shutil.copy(tmp_path / "run.sqlite", tmp_path / "alone.sqlite")
    assert Store.exists(tmp_path / "alone.sqlite")


def test_a_damaged_answer_of_the_journal_is_asked_for_again(tmp_path: Path) -> None:
    with filled(tmp_path / "run.sqlite") as store:
        store.keep("answer", [(b"whole", [1.0]), (b"damaged", [2.0])])
        store._db.execute("UPDATE answers SET payload = '[' WHERE key = ?", (b"damaged",))
        assert store.find("answer", [b"whole", b"damaged"]) == {b"whole": [1.0]}


def test_the_steps_of_a_long_search_share_their_edits(tmp_path: Path) -> None:
    edits = [Edit("text", 9 * n, 9 * n + 1, 'é"', f"w{n}") for n in range(90)]
    steps = [Step(IDS[0], n, 0.5, "positive", 0.5, tuple(edits[:n])) for n in range(91)]
    with Store.create(tmp_path / "a.sqlite", {}) as store:
        store.plan(EXAMPLES, IDS)
        store.add([result(IDS[0])], steps, {})
        rows = store._db.execute("SELECT edits FROM steps ORDER BY number").fetchall()
        loaded = store.steps()
    assert [row[0] for row in rows] == [json.dumps(edit_rows(step.edits)) for step in steps]
    assert loaded == steps
    long = [edit for step in loaded for edit in step.edits if len(step.edits) > 32]
    assert len({id(edit) for edit in long}) == 90 < len(long) == sum(range(33, 91))
