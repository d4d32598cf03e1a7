"""Pages: tables with their JSON, plots, notes, and no path of this machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from brittle.errors import UsageError
from brittle.metrics.paired import contrast
from brittle.metrics.samples import sample_results
from brittle.metrics.summary import rate
from brittle.metrics.words import histogram
from brittle.reports.plots import histogram_figure
from brittle_papers import paper as papers
from brittle_papers.claims import Judge, JudgedClaim
from brittle_papers.page import (
    PaperPage,
    TableCell,
    format_examples,
    format_table,
    load_notes,
    mean_cell,
    write_page,
)
from brittle_papers.paper import Paper, build_page
from brittle_papers.results import PaperResults
from brittle_papers.spec import PaperRequest, PaperSpec

TEXT = PaperSpec(
    title="A title",
    reference="Somebody, *Something*, 2018.",
    protocol="One figure is repeated.",
    scales={"small": {}},
    page=["figure"],
    claims={"a": {"text": "“A claim”"}, "b": {"text": "“Other”", "tests": ["a task"]}, "c": {}},
    sections={"figure": "\n## A figure\n\nOf {n} texts."},
    differences={
        "beam": ("10", "{beam[settings][beam]}"),
        "texts": ("7,600", "{data[test][examples]:,}"),
        "words": ("9", "{words[examples]}"),
        "draws": ("not said", "five"),
    },
)


def test_a_page_with_its_plots(tmp_path: Path) -> None:
    page = PaperPage(TEXT)
    page.add("Some words.", "", format_table(["a", "b"], [["x | y", "2\n3"]]))
    page.add_plot("hotflip-words", histogram_figure(histogram([1, 2, 2])), "words changed")
    (tmp_path / "hotflip-old.svg").write_text("gone")
    (tmp_path / "imdb-other.svg").write_text("stays")
    file = write_page(page, tmp_path, "hotflip")
    assert file.read_text() == (
        "# A title\n\nSome words.\n\n| a | b |\n|---|---:|\n| x \\| y | 2 3 |\n\n"
        "![words changed](hotflip-words.svg)\n"
    )
    assert sorted(f.name for f in tmp_path.iterdir()) == [
        "hotflip-words.svg",
        "hotflip.md",
        "imdb-other.svg",
    ]
    assert (tmp_path / "hotflip-words.svg").read_text().startswith("<svg xmlns=")


def test_a_table_is_also_json() -> None:
    page, figure, difference = PaperPage(TEXT), rate(8, 10, "cases"), contrast([(True, True)] * 3)
    page.add_table(
        "table 2",
        ["model", "paper", "success", "one word", "difference"],
        {
            "plain": ["baseline", "98.16%", figure, TableCell(1200, "one word"), ""],
            "hard": [
                "hardened",
                "–",
                TableCell(figure, "success", "none"),
                "",
                TableCell(difference, "d"),
            ],
            "text": ["only text"] * 5,
        },
    )
    lines = page.text().splitlines()
    assert lines[4] == "| baseline | 98.16% | 80.0% (49.0–94.3; 8 of 10) | 1,200 |  |"
    assert lines[5].startswith("| hardened | – | none |  | +0.0 points (")
    table = page.figures["table 2"]
    assert list(table) == ["plain", "hard"]
    assert list(table["plain"]) == ["value", "low", "high", "count", "of", "one word"]
    assert table["plain"]["count"] == 8 and table["plain"]["one word"] == 1200
    assert table["hard"]["success"]["value"] == 0.8 and table["hard"]["d"]["p"] == 1.0
    page.record(["table 2", "hard"], {"other": figure})
    assert table["hard"]["other"] == table["hard"]["success"]


def test_notes_are_loaded_by_heading(tmp_path: Path) -> None:
    file = tmp_path / "hotflip.notes.md"
    assert load_notes(file) == {}
    file.write_text("At first.\n\n## beam-90\n\nBecause.\n\nAnd so on.\n## empty\n\n## two\nTwo.\n")
    assert load_notes(file) == {"": "At first.", "beam-90": "Because.\n\nAnd so on.", "two": "Two."}


def test_figures_stand_in_notes_by_their_name() -> None:
    page = PaperPage(TEXT)
    figure = rate(8, 10, "cases")
    page.add_table("table 2", ["model", "success", "queries"], {
        "plain": ["baseline", figure, mean_cell(figure, "queries")],
    })  # fmt: skip
    note = page.fill("It is {table 2/plain}, not {table 2/plain/queries}.")
    assert note == "It is 80.0% (49.0–94.3; 8 of 10), not 0.80 (0.49–0.94; n = 10)."
    with pytest.raises(UsageError, match=r"table 2/plane.*Did you mean 'table 2/plain'"):
        page.fill("It is {table 2/plane}.")


def test_examples_of_the_paper_beside_ours() -> None:
    rows = sample_results()
    broken = next(row for row in rows if row.status == "broken")
    held = next(row for row in rows if row.status == "held")
    text = format_examples({"x": "their **text**", "y": "their other"}, [broken, held])
    assert text.splitlines()[2].startswith("| their **text** | ")
    assert (
        f"**{broken.edits[0].new}**" in text and f" → {broken.adversarial_confidence:.0%} " in text
    )
    assert "*held" in text.splitlines()[3]
    many = replace(broken, edits=(), adversarial=broken.original)
    assert broken.original in format_examples({"x": ""}, [many])


def test_a_page_tells_how_it_was_written(monkeypatch: pytest.MonkeyPatch) -> None:
    request = PaperRequest("hotflip", "small", "/home/someone/ag_news", "../data/sst2", 100, 3)
    judges: dict[str, Judge[PaperResults]] = {
        "a": lambda found: JudgedClaim("agrees", "1"),
        "b": lambda found: JudgedClaim("undecided", "2"),
        "c": lambda found: None,
    }
    paper = Paper(
        "hotflip",
        PaperResults,
        parts={"figure": lambda page, found: page.add_section("figure", n=5)},
        judges=judges,
    )
    monkeypatch.setattr(papers, "load_spec", lambda name: TEXT)
    notes = {"": "Read this first.", "b": "Too few cases.", "c": "Of {nothing}."}
    results = {"beam": {"settings": {"beam": 3}}, "data": {"test": {"examples": 7600}}}
    found = PaperResults(request, Path("folder"), results)
    page = build_page(paper, found, notes, seconds=75.0)
    text = page.text()
    command = "brittle papers hotflip --scale small --data ag_news --words ../data/sst2 --cases 100"
    assert f"```text\n{command} --seed 3\n```" in text and "someone" not in text
    assert "Tested by the command above with `--only 'a task'`." in text
    assert "The paper: Somebody, *Something*, 2018." in text and "One figure is repeated." in text
    assert "trained once, with one seed" in text
    assert "1 min 15 s of work" in text and "Read this first." in text
    assert "Of 2 claims, 1 agrees, 0 disagree, 1 is undecided." in text
    assert "  Too few cases." in text and "nothing" not in text
    assert text.index("## Findings") < text.index("## A figure\n\nOf 5 texts.")
    assert text.index("## A figure") < text.index("## What differs")
    assert text.endswith(
        "| beam | 10 | 3 |\n| texts | 7,600 | 7,600 |\n| draws | not said | five |\n"
    )
    assert page.figures["findings"]["b"]["verdict"] == "undecided"
