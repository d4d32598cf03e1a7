"""One table, drawn in five ways; no value becomes markup, a formula, or steers a terminal."""

from __future__ import annotations

import csv
import io
import math

from rich.console import Console

from brittle.formatting import percent
from brittle.reports.figures import Bar
from brittle.reports.table import Cell, Column, Row, Table

HOSTILE = '<script>alert("1")</script> \x1b[31m \u202e | =1+1'
COLUMNS = (
    Column("attack ↓ target →"),
    Column("share", "right", percent, key="value"),
    Column(HOSTILE, is_name=True, fold=True),
)
ROWS = (
    ("=pwws", Cell(0.5, small=("0.1–0.9", "8 of 8"), strong=True, css="a3"), HOSTILE),
    Row(["none"], css="attack"),
    Row(["key", math.nan, Cell(text="", css="ae", title=HOSTILE)], style="bold", css="differs"),
)
TABLE = Table(COLUMNS, ROWS, "Two attacks", ("A _note_here.",), "classes", corner=True, indent=2)


def drawn(table: Table, width: int) -> str:
    console = Console(width=width, file=io.StringIO())
    with console.capture() as captured:
        console.print(table)
    return captured.get()


def test_in_the_terminal() -> None:
    lines = [line.rstrip() for line in drawn(TABLE, 120).splitlines()]
    assert lines[0] == "  Two attacks" and lines[-1] == "  A _note_here."
    assert lines[2].startswith("  =pwws                50.0%  <script>")
    assert lines[3].split() == ["0.1–0.9"] and lines[4].split() == ["8", "of", "8"]
    assert lines[6].split() == ["key", "–"]
    assert "\x1b" not in "".join(lines) and "\u202e" not in "".join(lines)


def test_on_a_page() -> None:
    page = " ".join(TABLE.html().split())
    assert page.startswith('<table class="classes"> <thead><tr> <td class="corner">attack')
    assert '<th scope="col" class="n">share</th>' in page
    assert '<th scope="row"><bdi>=pwws</bdi></th>' in page
    assert '<td class="n a3"><b>50.0%</b><small>0.1–0.9</small><small>8 of 8</small></td>' in page
    assert '<tr class="attack"><th colspan="3" scope="rowgroup"><bdi>none</bdi></th>' in page
    assert '<tr class="differs">' in page and '<td class="ae" title="&lt;script&gt;' in page
    assert "<script" not in page and "\x1b" not in page and "\u202e" not in page


def test_in_markdown() -> None:
    head, line, first, *_, note = TABLE.markdown().splitlines()
    assert head.startswith("| attack ↓ target → | share | &lt;script&gt;")
    assert line == "| --- | --- | --- |"
    assert first.startswith("| =pwws | **50.0%** (0.1–0.9, 8 of 8) | &lt;script&gt;")
    assert first.count(" | ") == 2 and note == "A \\_note_here."


def test_as_csv_and_for_programs() -> None:
    safe, exact = (list(csv.reader(io.StringIO(TABLE.csv(one), newline=""))) for one in (0, 1))
    assert safe[0] == exact[0] == ["attack ↓ target →", "value", HOSTILE]
    assert [row[:2] for row in safe[1:]] == [["'=pwws", "0.5"], ["key", ""]]
    assert [row[:2] for row in exact[1:]] == [["=pwws", "0.5"], ["key", ""]]
    assert TABLE.records() == [
        {"attack ↓ target →": "=pwws", "value": 0.5, HOSTILE: HOSTILE},
        {"attack ↓ target →": "key", "value": None, HOSTILE: None},
    ]


def test_a_drawing_in_a_cell_is_on_pages_alone() -> None:
    table = Table((Column("name"), Column("bar")), [(Cell("a", small=("b",)), Bar(0.5))])
    assert "<small><bdi>b</bdi></small>" in table.html() and '<svg class="bar"' in table.html()
    assert table.records() == [{"name": "a", "bar": None}]
    assert "Bar(" not in drawn(table, 80) + table.markdown() + table.csv()


def test_names_can_be_copied_from_a_narrow_terminal() -> None:
    rows = [{"name": "a-long-name", "about": "some words to read", "empty": ""}]
    table = Table.of(rows, keeps_words=True)
    assert drawn(table, 30).splitlines()[1].rstrip() == "a-long-name  some words"
    lines = [line.rstrip() for line in drawn(table, 12).splitlines()]
    assert lines[0] == "a-long-name" and " ".join(lines[1:]).split()[0] == "about:"
