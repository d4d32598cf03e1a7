"""Pages: tables and plots are written, notes are kept, and no path of this machine gets in."""

from __future__ import annotations

from pathlib import Path

from brittle.metrics.histogram import histogram
from brittle.papers.findings import Finding
from brittle.papers.order import PaperRequest, PaperResults
from brittle.papers.page import Page, read_notes, table, write
from brittle.papers.shell import finished
from brittle.reports.plots import histogram_figure


def made(order: PaperRequest, notes: dict[str, str]) -> PaperResults:
    return PaperResults(order, Path("place"), {}, notes, 75.0)


def test_a_page_with_its_plots(tmp_path: Path) -> None:
    page = Page("A title")
    page.add("Some words.", "", table(["a", "b"], [["x | y", "2\n3"]]))
    page.plot("hotflip-words", histogram_figure(histogram([1, 2, 2])), "words changed")
    (tmp_path / "hotflip-old.svg").write_text("gone")
    (tmp_path / "imdb-other.svg").write_text("stays")
    file = write(page, tmp_path, "hotflip")
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


def test_notes_are_read_by_heading(tmp_path: Path) -> None:
    file = tmp_path / "hotflip.notes.md"
    assert read_notes(file) == {}
    file.write_text("At first.\n\n## beam-90\n\nBecause.\n\nAnd so on.\n## empty\n\n## two\nTwo.\n")
    assert read_notes(file) == {"": "At first.", "beam-90": "Because.\n\nAnd so on.", "two": "Two."}


def test_a_finished_page_says_how_it_was_made() -> None:
    order = PaperRequest("hotflip", "small", "/home/someone/ag_news", "../data/sst2", 100, 3)
    page = Page("HotFlip")
    page.add("## A figure")
    findings = [Finding("a", "A claim", "agrees", "1"), Finding("b", "Other", "undecided", "2")]
    notes = {"": "Read this first.", "b": "Too few cases."}
    text = finished(
        page, made(order, notes), findings, {"beam": (10, 3), "draws": (None, 5)}
    ).text()
    command = "brittle papers hotflip --scale small --data ag_news --words ../data/sst2 --cases 100"
    assert f"```text\n{command} --seed 3\n```" in text and "someone" not in text
    assert "1 min 15 s of work" in text and "Read this first." in text
    assert "1 of 2 agree with the paper, 0 disagree, 1 are undecided." in text
    assert "  Too few cases." in text
    assert text.index("## Findings") < text.index("## A figure") < text.index("## What differs")
    assert text.endswith("| beam | 10 | 3 |\n| draws | – | 5 |\n")
    assert page.figures["findings"]["b"]["verdict"] == "undecided"
