"""Failures written for other tools: what stands in the files, and the time limit of a recording."""

from __future__ import annotations

import ast
import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import brittle
from brittle.ci.failures import export_failures, label_of, read_failures
from brittle.ci.recording import Bounds, Recording, judged, write_baseline
from brittle.cli import main
from brittle.errors import RunStopped, UsageError
from brittle.testing import FakeTarget

WEAK = FakeTarget({"good": 2.0})
SETTINGS: dict[str, Any] = {"candidates": "paper", "measures": False}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> brittle.Run:
    """A run with four broken texts, one of them with signs that other formats might read."""
    texts = [f"a good film\x85number\u2028{n}" for n in range(3)] + ['a "good" {{film}} | <b>\n{x}']
    examples = [(text, "positive") for text in texts]
    folder = tmp_path_factory.mktemp("failures")
    return brittle.attack(WEAK, examples, "pwws", folder=folder, name="weak", **SETTINGS)


def test_pytest_gets_rows_and_a_test(run: brittle.Run, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "film-failures.jsonl"
    files = export_failures(run, out, "pytest")
    assert [file.name for file in files] == ["film-failures.jsonl", "test_film_failures.py"]
    failures = read_failures(out)
    assert [it.joined for it in failures] == [row.adversarial for row in run.results()]
    assert {it.label for it in failures} == {"positive"} != {it.read_as for it in failures}
    assert [label_of(WEAK, it.text) for it in failures] == ["negative"] * 4
    ast.parse(files[1].read_text())
    files[1].write_text("# mine")
    assert export_failures(run, out, "pytest") == [out] and files[1].read_text() == "# mine"


def test_only_new_failures_are_written(run: brittle.Run, tmp_path: Path) -> None:
    texts = [(row.original, "positive") for row in run.results()[:3]]
    settings: dict[str, Any] = {"folder": tmp_path, "name": "old", **SETTINGS}
    old = brittle.attack(FakeTarget({"good": 2.0, "a": 9.0}), texts, "pwws", **settings)
    [out, _] = export_failures(run, tmp_path / "f.jsonl", "pytest", old)
    assert len(read_failures(out)) == 3
    with pytest.raises(UsageError, match="has no such broken case"):
        export_failures(run, tmp_path / "f.jsonl", "pytest", run)


def test_a_run_that_names_its_target_brings_the_fixture(tmp_path: Path) -> None:
    target = brittle.Target("python:m:f", opened=WEAK)
    settings: dict[str, Any] = {"folder": tmp_path, "name": "n", **SETTINGS}
    made = brittle.attack(target, [("a good film", "positive")], "pwws", **settings)
    _, test = export_failures(made, tmp_path / "failures.jsonl", "pytest")
    assert "def model():\n    return 'python:m:f'" in test.read_text()


def test_garak_gets_payloads(run: brittle.Run, tmp_path: Path) -> None:
    [out] = export_failures(run, tmp_path / "films.json", "garak")
    payload = json.loads(out.read_text())
    assert payload["payloads"] == [row.adversarial for row in run.results()]
    assert all(isinstance(payload[name], list) for name in ("payload_types", "payloads"))
    with suppress(ModuleNotFoundError):  # its data may be installed without what its code needs
        from garak.payloads import PayloadGroup

        assert PayloadGroup("films", out).payloads == payload["payloads"]


def test_spikee_gets_entries_that_its_judge_reads(run: brittle.Run, tmp_path: Path) -> None:
    [out] = export_failures(run, tmp_path / "films.jsonl", "spikee")
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    needed = {"id", "long_id", "content", "judge_name", "judge_args", "judge_options"}
    assert all(needed <= row.keys() for row in rows) and len({row["id"] for row in rows}) == 4
    assert [row["content"] for row in rows] == [row.adversarial for row in run.results()]
    is_won = re.compile(rows[0]["judge_args"]).search
    assert is_won("Negative.") and not is_won("I would say:\nit is Positive.")


def test_promptfoo_gets_variables_and_an_assertion(run: brittle.Run, tmp_path: Path) -> None:
    [out] = export_failures(run, tmp_path / "films.jsonl", "promptfoo")
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert rows[0]["assert"] == [{"type": "icontains", "value": "positive"}]
    # promptfoo renders variables as templates: what looks like one is quoted.
    assert rows[3]["vars"]["text"].startswith("{% raw %}") and "{{film}}" in rows[3]["vars"]["text"]
    assert rows[0]["vars"]["text"] == run.results()[0].adversarial


def test_checklist_gets_a_suite_in_python(run: brittle.Run, tmp_path: Path) -> None:
    [out] = export_failures(run, tmp_path / "suite.py", "checklist")
    tree = ast.parse(out.read_text())
    [rows] = [
        json.loads(ast.literal_eval(node.value.args[0]))
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "ROWS"
    ]
    assert [row["text"] for row in rows] == [row.adversarial for row in run.results()]


def test_what_cannot_be_a_test(run: brittle.Run, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"expected a name that ends in \.jsonl"):
        export_failures(run, tmp_path / "x.csv", "pytest")
    with pytest.raises(UsageError, match=r"Unknown format 'pytst'\. Did you mean 'pytest'"):
        export_failures(run, tmp_path / "x.csv", "pytst")
    settings: dict[str, Any] = {"folder": tmp_path, "name": "held", **SETTINGS}
    held = brittle.attack(FakeTarget({"a": 9.0}), [("a film", "positive")], "pwws", **settings)
    with pytest.raises(UsageError, match="has no such broken case"):
        export_failures(held, tmp_path / "x.jsonl", "pytest")


def test_the_command_writes_them(
    run: brittle.Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "f.jsonl"
    assert main(["export", str(run.path), str(out), "--as", "pytest", "--quiet"]) == 0
    assert capsys.readouterr().out.split() == [str(out), str(tmp_path / "test_f.py")]


def test_a_recording_stops_at_its_limit_and_goes_on(tmp_path: Path) -> None:
    texts = [(f"a good film number {n}", "positive") for n in range(12)]
    recording = Recording(WEAK, texts, "pwws", tmp_path, {"name": "r", **SETTINGS})
    with pytest.raises(RunStopped, match=r"The time limit of 1e-09 seconds ended the attack"):
        recording.run(1e-9)
    run = recording.run(600)
    assert run.complete and len(run.results()) == 12
    message = write_baseline(run, tmp_path / "deep" / "base.sqlite")
    assert "(12 cases, 100.0% right, 0.0% under attack)" in message
    again = judged(run, Bounds(tmp_path / "deep" / "base.sqlite"), tmp_path / "x.html")
    assert again.outcome == "pass" and not (tmp_path / "x.html").exists()
    bound = judged(run, Bounds(max_broken=0.1), tmp_path / "x.html")
    assert bound.outcome == "fail" and bound.page == str(tmp_path / "x.html")
    with pytest.raises(UsageError, match="Nothing to judge"):
        Bounds()
