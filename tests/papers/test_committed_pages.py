"""The committed pages are what paper.toml and the figures beside them give: words and tables."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from brittle.metrics.paired import Contrast
from brittle.metrics.summary import Figure
from brittle_papers.claims import FORMATS
from brittle_papers.page import format_table, load_notes
from brittle_papers.spec import PaperSpec, Table, load_spec

PAGES = Path(__file__).parents[2] / "docs" / "papers"
FILES = sorted(PAGES.rglob("*.json"))
PENDING = {
    "attention.json",
    "attention-translation.json",
    "full/transfer.json",
    "natural-texts.json",
    "transfer.json",
}
"""Pages of runs before the rules for verdicts changed: they say so, until they are written anew."""
NOTICE = "This page was written before the rules for verdicts changed."
CONDITIONAL = {"left-out", "scratch-left-out"}
"""Sections of pages from which something is missing. The scale full has no ensembles and rules."""
IN_WORDS = {"deletes_to_inserts", "marked_accuracy", "first_prefix"}
"""Methods whose cells say more than their figure."""


def name_of(file: Path) -> str:
    return str(file.relative_to(PAGES))


@pytest.fixture(params=FILES, ids=name_of)
def file(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


def page_of(file: Path) -> tuple[PaperSpec, str, dict[str, Any]]:
    return (
        load_spec(file.stem),
        file.with_suffix(".md").read_text("utf-8"),
        json.loads(file.read_text("utf-8")),
    )


def pattern(section: str) -> str:
    """Return what finds a section whatever was put into it."""
    parts = re.split(r" ?\{[^{}]*\}", section.strip())
    return "[^\n]*?".join(map(re.escape, parts))


def test_the_words_of_a_page_are_those_of_its_file(file: Path) -> None:
    spec, text, _ = page_of(file)
    for words in (f"# {spec.title}", f"The paper: {spec.reference}", spec.protocol):
        assert words in text
    if name_of(file) in PENDING:
        return
    for name, (paper, _) in spec.differences.items():
        assert f"| {name} | {paper} | " in text or "full" in file.parts
    for key, section in spec.sections.items():
        if key not in CONDITIONAL and "full" not in file.parts:
            assert re.search(pattern(section), text), key


def test_a_page_says_whether_it_was_written_before_the_rules_changed(file: Path) -> None:
    _, text, figures = page_of(file)
    assert (NOTICE in text) == (name_of(file) in PENDING)
    for key, finding in figures["findings"].items():
        assert finding["claim"] in text and finding["evidence"] in text, key


def test_findings_stand_with_their_claims_and_notes(file: Path) -> None:
    spec, text, figures = page_of(file)
    if name_of(file) in PENDING:
        return
    for key, finding in figures["findings"].items():
        claim, evidence, verdict = (finding[name] for name in ("claim", "evidence", "verdict"))
        assert claim == spec.claims[key]["text"]
        if spec.claims[key].get("is_check"):
            assert f": {claim}. Here: {evidence}." in text, key
        else:
            assert f"| {claim} | {evidence} | **{verdict}** |" in text.replace("\\|", "|"), key
    assert [*figures["findings"]] == [key for key in spec.claims if key in figures["findings"]]
    for key, note in load_notes(file.with_suffix(".notes.md")).items():
        first = note.splitlines()[0]
        if key in figures["findings"] and figures["findings"][key]["verdict"] == "agrees":
            continue
        assert re.search(pattern(first), text) or "full" in file.parts, key


def test_tables_are_written_from_their_figures(file: Path) -> None:
    spec, text, figures = page_of(file)
    lines = text.splitlines()
    for key, table in spec.tables.items():
        if "columns" not in table or key not in figures:
            continue
        rows = figures[key]
        shown = [c for c in table["columns"] if "head" in c and has_figure(c, rows)]
        head = pattern(format_table([c["head"] for c in shown], []).splitlines()[0])
        starts = [n for n, line in enumerate(lines) if re.fullmatch(head, line)]
        assert starts, key
        (start,) = starts
        named = rows if "over" in table else table["rows"]
        if name_of(file) in PENDING:  # rows that the table has got since are not there yet
            named = [name for name in named if name in rows]
        for n, name in enumerate(named):
            cells = lines[start + 2 + n].split(" | ")
            texts = {**table.get("rows", {}).get(name, {}), "row": name}
            for column, cell in expected(shown, rows.get(name, {}), texts):
                own = cells[shown.index(column)].strip(" |")
                assert own == cell, (key, name, column["head"])


def has_figure(column: Table, rows: Mapping[str, Any]) -> bool:
    """Tell whether a column was shown: one of a task that was not run has no figures."""
    return "when" not in column or any(column["key"] in row for row in rows.values())


def expected(
    columns: list[Table], row: Mapping[str, Any], texts: Mapping[str, Any]
) -> Iterator[tuple[Table, str]]:
    """Yield the columns whose cells follow from the file and the figures, with those cells."""
    for column in columns:
        key = column.get("key", "")
        if "text" in column:
            if "otherwise" not in column:
                yield column, column["text"].format(**texts).replace("|", "\\|")
        elif column.get("blank") == texts["row"]:
            yield column, ""
        elif column["figure"]["is"] not in IN_WORDS and (not key or key in row):
            stored = row[key] if key else row
            if isinstance(stored, int) or "of" in stored:
                yield column, FORMATS[column.get("format", "value")](figure(stored))


def figure(stored: Any) -> Any:
    if isinstance(stored, int):
        return stored
    if "difference" in stored:
        return Contrast(both=0, only_a=0, only_b=0, neither=0, **stored)
    return Figure(**{n: stored[n] for n in ("value", "low", "high", "count", "of")}, over="")
