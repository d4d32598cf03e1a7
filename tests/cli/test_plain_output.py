"""What a person reads: labels that are numbers, one case, and lines without padding."""

from __future__ import annotations

from pathlib import Path

import pytest

from brittle.cli import main
from brittle.cli.console import _without_padding
from brittle.metrics.summary import Figure
from brittle.reports.summary_lines import format_interval

TARGET = """
def one(texts):
    return [0.9 if "good" in text else 0.2 for text in texts]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("plain_models.py").write_text(TARGET)
    Path("one.csv").write_text("text,label\na good film about rain,1\n")
    return tmp_path


def attacked(*words: str) -> list[str]:
    target = ["python:plain_models:one", "--labels", "0,1", "--scores", "single"]
    return ["attack", target[0], "pwws", *target[1:], "--data", "one.csv", *words]


def test_numbers_are_quoted_one_case_has_no_interval_and_no_line_is_padded(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(attacked("--candidates", "paper", "--name", "one", "--report", "one.html")) == 0
    out = capsys.readouterr().out
    assert '"1" 90% → "0" 80%' in out
    assert "1 of 1 word" not in out and "1 cases" not in out and "1 queries" not in out
    success = next(line for line in out.splitlines() if "attack success" in line)
    assert "100.0%" in success and "–" not in success
    assert [line for line in out.splitlines() if line != line.rstrip()] == []
    page = Path("one.html").read_text("utf-8")
    assert r"\"1\"" in page and r"\"0\"" in page
    assert main(["show", "one"]) == 0
    assert [line for line in capsys.readouterr().out.splitlines() if line != line.rstrip()] == []
    spec = attacked()[1]
    flags = ["--labels", "0,1", "--scores", "single"]
    assert main(["try", spec, "a good film about rain", *flags]) == 0
    out = capsys.readouterr().out
    assert 'predicted "1"' in out and 'broken: "0" 80%' in out


def test_of_one_case_there_is_no_interval() -> None:
    assert format_interval(Figure(1.0, 0.2, 1.0, 1, 1, "cases")) == ""
    assert format_interval(Figure(1.0, 0.34, 1.0, 2, 2, "cases")) == "0.34–1"


def test_blanks_that_are_drawn_stay() -> None:
    assert _without_padding("a  \n b \x1b[2m \x1b[0m \n") == "a\n b\x1b[2m\x1b[0m\n"
    drawn = "x\x1b[48;2;0;0;0m \x1b[0m\n"
    assert _without_padding(drawn) == drawn
