"""`brittle study robustness`: what it prints, writes and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import Brittle

GENERATOR = """
WORDS = ("good", "full", "fair", "bad")

class Films:
    \"\"\"A film of one word, by one number.\"\"\"

    size, item_kind = 1, "text"

    def encode(self, items):
        return [[WORDS.index(str(item).split()[1])] for item in items]

    def decode(self, rows):
        return [f"a {WORDS[min(3, max(0, round(float(row[0]))))]} film" for row in rows]
"""
SEARCH = ("--radius", "4", "--samples", "20", "--step", "0.25")


@pytest.fixture
def films(workdir: Path) -> list[str]:
    (workdir / "cli_films.py").write_text(GENERATOR)
    (workdir / "words.csv").write_text(
        "text,label\na good film,positive\na full film,positive\na bad film,negative\n"
    )
    targets = "python:cli_models:weak,python:cli_models:strong"
    own = ["--generator", "python:cli_films:Films", "--data", "words.csv"]
    return ["study", "robustness", targets, *own, *SEARCH]


def test_targets_are_compared(brittle: Brittle, films: list[str], workdir: Path) -> None:
    shown = brittle(*films, "--name", "films", "--report", "films.html")
    assert shown.code == 0, shown.err
    assert "mean Δz" in shown.out and "3 cases of words.csv" in shown.out
    assert (
        "\nStudy: runs/films.study.json\nReport: films.html\n" in shown.out
    )  # as it was named, not absolute
    assert "python:cli_models:strong" in (workdir / "films.html").read_text()
    data = json.loads(brittle(*films, "--name", "films", "--json", "--quiet").out)
    assert data["cases"] == 3 and data["file"] == "runs/films.study.json"
    figures = {row["target"]: row for row in data["targets"]}
    # "good" is 1.5 from "fair", which the strong target still takes for positive.
    assert figures["python:cli_models:weak"]["found"] == 3
    assert figures["python:cli_models:strong"]["mean"] > 0.4


def test_the_commands_for_studies_take_it(
    brittle: Brittle, films: list[str], workdir: Path
) -> None:
    assert brittle(*films, "--name", "films", "--quiet").code == 0
    assert brittle(*films, "--name", "other", "--seed", "1", "--quiet").code == 0
    shown = brittle("show", "films")
    assert "mean Δz" in shown.out and "3 cases of words.csv" in shown.out
    figures = json.loads(brittle("show", "films", "--json").out)
    assert figures["study"] == "films" and len(figures["targets"]) == 2
    [first, second] = json.loads(brittle("list", "studies", "--json").out)
    assert (first["study"], first["kind"], first["attack"]) == ("films", "robustness", "natural")
    assert (second["targets"], second["texts"]) == (2, 3)
    assert brittle("report", "films").code == 0
    assert "mean Δz" in (workdir / "runs" / "films.study.html").read_text()
    assert brittle("export", "films", "rows.csv", "--texts").code == 0
    assert len((workdir / "rows.csv").read_text().splitlines()) == 1 + 2 * 3
    beside = brittle("compare", "films", "other")
    assert (
        beside.code == 0 and "films" in beside.out and "compare the order of targets" in beside.out
    )
    both = json.loads(brittle("compare", "films", "other", "--json").out)
    assert [study["study"] for study in both] == ["films", "other"]
    assert brittle("runs", "rename", "other", "moved").code == 0
    assert (workdir / "runs" / "moved" / "cases.jsonl").is_file()
    assert brittle("runs", "delete", "moved", "--yes").code == 0
    assert not (workdir / "runs" / "moved").exists()
    assert "expected a transfer study" in brittle("study", "select", "films").err


def test_what_cannot_be_compared_is_refused(brittle: Brittle, films: list[str]) -> None:
    assert "a finite radius that is at least as large" in brittle(*films[:-4], "--step", "9").err
    assert brittle("study", "robustness", "python:cli_models:weak", *films[3:]).code == 2
    assert "python:module:name" in brittle(*films[:4], "nothing", *films[5:]).err
