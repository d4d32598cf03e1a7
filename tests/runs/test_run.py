"""A run as its user sees it: printed, as rows, reported, exported, found by name, checked again."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import brittle
from brittle.data import Example
from brittle.errors import UsageError
from brittle.runs.gate import verdicts as gate
from brittle.runs.run import list_runs
from brittle.runs.store import Store
from brittle.testing import FakeTarget

WEIGHTS = {"good": 2.0, "bad": -2.0}
EXAMPLES = [
    ("a good film", "positive"),
    ("a bad film, “so” they say\nand \x00 <b>good</b>", "positive"),
    ("", "negative"),
    ("a bad film", "negative"),
]
STATUSES = ["broken", "skipped", "skipped", "held"]
COLUMNS = [
    *("case", "attack", "target", "goal", "status", "reason", "original", "adversarial", "label"),
    *("predicted", "confidence", "adversarial_label", "adversarial_confidence", "queries", "words"),
    *("words_changed", "characters_changed", "seed", "fluency", "proved_words", "single_swaps"),
]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> brittle.Run:
    folder = tmp_path_factory.mktemp("runs")
    return brittle.attack(
        FakeTarget(WEIGHTS), EXAMPLES, folder=folder, name="films-1", candidates="paper"
    )


def test_rows_are_in_the_order_of_the_examples(run: brittle.Run) -> None:
    assert [result.original for result in run.results()] == [text for text, _ in EXAMPLES]
    assert [result.status for result in run.results()] == STATUSES
    assert {step.case for step in run.steps()} == {result.case for result in run.results()}
    assert run.complete and run.name == "films-1" and "films-1" in repr(run)


def test_a_row_says_what_was_changed(run: brittle.Run) -> None:
    won, *_, lost = run.results()
    assert won.adversarial == "a full film" and won.words == 3 and won.words_changed == 1
    assert won.characters_changed == 4 and (won.label, won.adversarial_label) == (
        "positive",
        "negative",
    )
    assert [(e.field, e.start, e.stop, e.old, e.new) for e in won.edits] == [
        ("text", 2, 6, "good", "full")
    ]
    assert lost.adversarial_label == "negative" and lost.queries > 1


def test_the_printed_summary(run: brittle.Run) -> None:
    printed = str(run)
    assert "films-1: pwws against fake on examples" in printed
    assert "1 of 2 attacked cases" in printed and "broken 1" in printed
    assert all(len(line) <= 80 for line in printed.splitlines())


def test_a_notebook_shows_html(run: brittle.Run) -> None:
    shown = run._repr_html_()
    assert shown.startswith("<div") and shown.endswith("</div>")
    assert "1 of 2 attacked cases" in shown and "1 broken case" in shown
    assert ">good</del>" in shown and ">full</ins>" in shown
    assert len(repr(run)) < 200 and repr(run).startswith("Run(")


def test_the_data_frame_has_one_row_per_case(run: brittle.Run) -> None:
    pytest.importorskip("pandas")
    frame = run.frame()
    assert list(frame.columns) == COLUMNS and list(frame["status"]) == STATUSES
    assert frame["adversarial"].isna().tolist() == [False, True, True, False]
    assert frame["queries"].sum() == sum(result.queries for result in run.results())


def test_the_report_is_one_file(run: brittle.Run, tmp_path: Path) -> None:
    out = run.report(tmp_path / "new" / "report.html")
    page = out.read_text(encoding="utf-8")
    assert out == tmp_path / "new" / "report.html" and page.lower().startswith("<!doctype html>")
    assert "<b>good</b>" not in page and "http://" not in page.replace("http://www.w3.org", "")


def test_export_to_csv_gives_back_every_text(run: brittle.Run, tmp_path: Path) -> None:
    out = run.export(tmp_path / "sub" / "rows.csv")
    with out.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["original"] for row in rows] == [text for text, _ in EXAMPLES]
    assert [row["status"] for row in rows] == STATUSES and list(rows[0]) == COLUMNS


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_an_export_loads_the_rows_once(
    run: brittle.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    loaded = []
    results = brittle.Run.results
    monkeypatch.setattr(brittle.Run, "results", lambda own: loaded.append(1) or results(own))
    run.export(tmp_path / f"rows.{ending}")
    assert len(loaded) == 1


def test_export_to_jsonl_keeps_fields_and_edits_apart(run: brittle.Run, tmp_path: Path) -> None:
    lines = run.export(tmp_path / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert [dict(row["fields"])["text"] for row in rows] == [text for text, _ in EXAMPLES]
    assert rows[0]["edits"] == [
        {"field": "text", "start": 2, "stop": 6, "old": "good", "new": "full"}
    ]


def test_export_to_parquet(run: brittle.Run, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(run.export(tmp_path / "rows.parquet"))
    assert table.column_names == COLUMNS
    assert table.column("original").to_pylist() == [text for text, _ in EXAMPLES]


def test_export_to_anything_else_is_refused(run: brittle.Run, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"'rows.xls'.*\.csv, \.jsonl or \.parquet"):
        run.export(tmp_path / "rows.xls")


def test_a_run_is_opened_by_name_beginning_or_path(
    run: brittle.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = run.path.parent
    for name in ("films-1", "fil", str(run.path)):
        assert brittle.open_run(name, folder).path == run.path
    with pytest.raises(UsageError, match=r"Unknown run 'filsm-1'\. Did you mean 'films-1'"):
        brittle.open_run("filsm-1", folder)
    two = tmp_path / "runs"
    for name in ("films-1", "films-10"):
        brittle.attack(FakeTarget(WEIGHTS), EXAMPLES[:1], folder=two, name=name, candidates="paper")
    assert brittle.open_run("films-1", two).name == "films-1"
    with pytest.raises(
        UsageError, match="is the start of several names of runs: films-1, films-10"
    ):
        brittle.open_run("films", two)
    monkeypatch.chdir(tmp_path)
    assert brittle.open_run("films-10").path == two / "films-10.sqlite"
    assert [path.stem for path in list_runs()] == ["films-1", "films-10"]


def test_runs_are_listed_newest_last_and_only_they(tmp_path: Path) -> None:
    assert list_runs(tmp_path / "nowhere") == []
    for name in ("b", "a"):
        brittle.attack(
            FakeTarget(WEIGHTS), EXAMPLES[:1], folder=tmp_path, name=name, candidates="paper"
        )
    (tmp_path / "begun.sqlite").touch()
    assert [path.stem for path in list_runs(tmp_path)] == ["b", "a"]


def test_winners_are_scored_again(run: brittle.Run) -> None:
    (check,) = run.recheck(FakeTarget(WEIGHTS))
    assert (check.row.status, check.now.label, check.now.confidence) == ("broken", "negative", 0.5)
    assert check.still_wins
    (check,) = run.recheck(FakeTarget(WEIGHTS | {"full": 3.0}))
    assert check.now.label == "positive" and not check.still_wins


def test_a_winner_is_held_to_the_goal_of_its_run(tmp_path: Path) -> None:
    known = {"good": [0.1, 0.8, 0.1], "full": [0.7, 0.2, 0.1]}

    def classify(texts: list[str]) -> list[list[float]]:
        return [
            known.get(text.split()[0], [0.4, 0.4, 0.2]) if text else [1, 0, 0] for text in texts
        ]

    run = brittle.attack(
        classify,
        ["good film"],
        folder=tmp_path,
        labels=["no", "yes", "other"],
        toward="no",
        confidence=0.6,
        candidates="paper",
    )
    (result,) = run.results()
    assert result.status == "broken"
    for full, still_wins in (
        ([0.6, 0.2, 0.2], True),
        ([0.59, 0.21, 0.2], False),
        ([0.05, 0.05, 0.9], False),  # another class, but not the one aimed at
    ):
        known["full"] = full
        target = brittle.as_target(classify, labels="no,yes,other")
        assert (run.verify(target) == []) is still_wins


def test_winners_with_locked_fields_are_scored_again_whole(tmp_path: Path) -> None:
    pair = Example.of({"premise": "a film", "hypothesis": "good"}, "positive", locked=["premise"])
    run = brittle.attack(FakeTarget(WEIGHTS), [pair], folder=tmp_path, candidates="paper")
    seen: list[Any] = []

    class Seeing(FakeTarget):
        def scores(self, items: Any) -> Any:
            seen.extend(item.fields() for item in items)
            return super().scores(items)

    list(run.recheck(Seeing(WEIGHTS)))
    assert seen == [{"premise": "a film", "hypothesis": "full"}]


def test_a_run_in_the_making_can_be_looked_at(tmp_path: Path) -> None:
    looked: list[tuple[bool, int]] = []

    def look(progress: Any) -> None:
        half = brittle.open_run("run", tmp_path)
        looked.append((half.complete, len(half.results())))
        assert "run: pwws" in str(half) and half.report(tmp_path / "half.html").exists()

    many = [(f"a good film {i}", "positive") for i in range(40)]
    brittle.attack(
        FakeTarget(WEIGHTS), many, folder=tmp_path, name="run", progress=look, candidates="paper"
    )
    assert looked[0][0] is False and looked[-1] == (True, 40)


def test_a_run_on_a_translator_is_verified_on_a_named_function(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "two_translators.py").write_text(
        "def shout(texts): return [text.upper() for text in texts]\n"
        "def repeat(texts): return ['GOOD' for _ in texts]\n"
    )
    shout = "python:two_translators:shout"
    options = {"answers": "text", "goal": "keyword:FULL"}
    run = brittle.attack(
        shout, ["a good film"], "pwws", folder=tmp_path, **options, candidates="paper"
    )
    assert [row.status for row in run.results()] == ["broken"]
    assert run.verify(shout) == []
    assert len(run.verify("python:two_translators:repeat")) == 1
    # A classifier is opened as what it is.
    with pytest.raises(UsageError, match="judges translations, but target 'fake' answers with"):
        run.verify(FakeTarget(WEIGHTS))


def test_what_is_stored_is_loaded_once_and_again_if_the_file_changed(
    run: brittle.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Path] = []
    read = Store.read
    monkeypatch.setattr(Store, "read", lambda path: opened.append(path) or read(path))
    copied = brittle.Run(shutil.copy(run.path, tmp_path / "copied.sqlite"))
    for _ in range(2):
        str(copied)
        copied.report(tmp_path / "copied.html")
    assert len(opened) == 3 and copied.results() is not copied.results()
    with Store.resume(copied.path) as store:
        store.keep_measured("judgements", {"judge": {"one": True}})
        store.forget("broken")
    assert len(copied.results()) == len(EXAMPLES) - 1
    assert copied.measured("judgements") == {"judge": {"one": True}}


def test_the_gate_says_which_run_is_worse(run: brittle.Run) -> None:
    (verdict,) = gate([run, run])
    assert not verdict.is_worse and verdict.by == 0 and verdict.cases == 4
    assert verdict.outcome == "pass"
    assert str(verdict).startswith("PASS: 'films-1' is the same model as 'films-1'.\n")
