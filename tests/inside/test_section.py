"""The section and the terminal's blocks on what was seen inside a target."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from io import StringIO
from typing import Any

from markupsafe import Markup
from rich.console import Console

from brittle.inside.measures import AttendedText, InsideCase, sample_inside
from brittle.inside.section import (
    MAX_ROWS,
    case_block,
    compared_rows,
    inside_section,
    run_block,
    strongest_rows,
)
from brittle.reports.page import still_page


class Balanced(HTMLParser):
    """Counts open elements."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag not in ("meta", "rect", "path", "br") or self.get_starttag_text()[-2:] != "/>":  # type: ignore[index]
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        pass


def printed(block: Any, width: int = 100) -> str:
    console = Console(file=StringIO(), width=width, color_system=None)
    console.print(block)
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_the_section_shows_means_attention_and_changes() -> None:
    section = Markup(inside_section(sample_inside()))
    parser = Balanced()
    parser.feed(section)
    assert parser.open == []
    assert "0.55" in section and "mean over 2 broken cases" in section
    assert "<del><bdi>funny</bdi></del> <ins><bdi>comical</bdi></ins>" in section
    assert '<td class="n">0.400</td>' in section and '<td class="n">0.200</td>' in section
    assert ">elsewhere</small>" in section and "first layer, mean over heads" in section
    assert "<title>layer 1, comical: 1.50</title>" in section
    assert "<title>warm → funny: 0.160</title>" in section
    assert section.count('<svg class="map"') == 1 + 2 + 1 + 1  # means; maps; changes of both
    assert "No attention of the second case." in section
    assert "style=" not in section  # the content policy of the page forbids it
    assert "<script" not in still_page("inside", [section])


def test_words_are_escaped() -> None:
    evil = '<img src=x onerror="alert(1)">'
    text = AttendedText((evil, "film"), (0.5, 0.5), 0.0, ((0.5, 0.5),) * 2)
    other = replace(text, words=("good", "film"))
    case = InsideCase("c<b>", other, text, ((0, 0), (1, 1)), (0,), ((1.0, 0.0),) * 2, 0.5)
    inside = replace(sample_inside(), cases=(case,), notes=("<b>note",), layers=("<i>", "layer"))
    section = Markup(inside_section(inside))
    assert "<img" not in section and "<b>" not in section and "<i>" not in section
    assert "\x1b" not in printed(case_block(replace(inside, run="\x1b[31m"), 80))


def test_inserted_and_deleted_words_have_a_row_of_their_own() -> None:
    before = AttendedText(("a", "b", "c"), (0.1, 0.2, 0.3), 0.4)
    after = AttendedText(("a", "x", "c", "y"), (0.1, 0.2, 0.3, 0.3), 0.1)
    case = InsideCase("c", before, after, ((0, 0), (2, 2)), (1, 3))
    assert compared_rows(case) == [(0, 0), (1, None), (None, 1), (2, 2), (None, 3)]
    section = Markup(inside_section(replace(sample_inside(), cases=(case,), layers=())))
    assert section.count("∅") >= 3


def test_of_a_long_text_the_words_with_most_attention_are_shown() -> None:
    words = tuple(f"w{n}" for n in range(50))
    weights = tuple(n / 1225 for n in range(50))
    before = AttendedText(words, weights, 0.0)
    after = replace(before, words=("x", *words[1:]))
    case = InsideCase("c", before, after, tuple((n, n) for n in range(50)), (0,))
    rows = strongest_rows(case, MAX_ROWS)
    assert rows == [(0, 0), *((n, n) for n in range(51 - MAX_ROWS, 50))]
    section = Markup(inside_section(replace(sample_inside(), cases=(case,), layers=())))
    assert "30 words with less are left out" in section


def test_cases_with_fewest_edits_come_first() -> None:
    first, second = sample_inside().cases
    many = replace(first, case="many", edited=(1, 3))
    inside = replace(sample_inside(), cases=(many, first, second, many, many))
    ids = re.findall(r'class="id">(\w+)<', Markup(inside_section(inside)))
    assert ids == ["a2", "a1", "many"]


def test_the_terminal_shows_means_by_distance() -> None:
    shown = printed(run_block(sample_inside()), 80)
    assert "Re 0.55 (0.3" in shown and "mean over 2 cases" in shown
    lines = shown.splitlines()
    head = next(line for line in lines if "−1" in line)
    layer = next(line for line in lines if line.startswith("layer 1"))
    assert head.split() == ["−3", "−2", "−1", "0", "+1"]
    assert layer.split() == ["layer", "1", "0.10", "0.30", "0.20", "1.25", "0.60"]
    assert "No attention of the second case." in shown


def test_the_terminal_shows_one_case_in_any_width() -> None:
    inside = replace(sample_inside(), cases=sample_inside().cases[:1])
    shown = printed(case_block(inside, 80), 80)
    assert "funny → comical" in shown and "Re 0.80" in shown
    row = next(line for line in shown.splitlines() if line.startswith("funny → comical"))
    assert row.split()[3:] == ["█" * 16, "0.400", "█" * 8, "0.200"]
    assert "layer 1    ·· ░░ ░░ ▓▓ ░░" in shown
    narrow = printed(case_block(inside, 24), 80)
    assert narrow.count("layer 1 ") == 2  # in parts, side by side no longer
    second = replace(sample_inside(), cases=sample_inside().cases[1:])
    assert "attention of the summary" not in printed(case_block(second, 80))
