"""Figures of what an attack did inside a target: bars and maps hold their values."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

from brittle.inside.measures import AttendedText, InsideCase, sample_inside
from brittle.reports.plots import standalone_svg
from brittle_papers.attention.figures import (
    MAX_COLUMNS,
    attention_figure,
    change_figure,
    distance_figure,
)


def texts(svg: str) -> list[str]:
    root = ElementTree.fromstring(standalone_svg(svg))
    return ["".join(node.itertext()) for node in root.iter() if node.tag.endswith("}text")]


def test_every_word_has_a_bar_before_and_after() -> None:
    case = sample_inside().cases[0]
    svg = attention_figure([("toy, GS-EC", case)])
    shown = texts(svg)
    assert shown[:3] == ["before", "after", "toy, GS-EC"]
    rows = [shown[n : n + 3] for n in range(3, len(shown), 3)]
    assert rows[0] == ["a", "0.100", "0.100"] and rows[3] == ["funny → comical", "0.400", "0.200"]
    assert rows[5] == ["(elsewhere)", "0.100", "0.100"] and len(rows) == 6
    widths = [float(w) for w in re.findall(r'width="([\d.]+)" height="10"', svg)]
    assert widths[6] == max(widths) and abs(widths[7] - widths[6] / 2) < 0.1
    assert svg.count('class="heading"') == 2  # the title, and the edited word


def test_panels_share_a_scale_and_cases_without_attention_are_left_out() -> None:
    with_attention, without = sample_inside().cases
    assert attention_figure([("none", without)]) == attention_figure([]) == ""
    half = replace(
        with_attention,
        before=AttendedText(with_attention.before.words, (0.05, 0.1, 0.05, 0.2, 0.05), None),
        after=AttendedText(with_attention.after.words, (0.05, 0.1, 0.05, 0.1, 0.1), None),
    )
    svg = attention_figure([("one", with_attention), ("two", half), ("three", without)])
    shown = texts(svg)
    assert "one" in shown and "two" in shown and "three" not in shown
    assert shown.count("(elsewhere)") == 1
    widths = [float(w) for w in re.findall(r'width="([\d.]+)" height="10"', svg)]
    assert abs(widths[12 + 6] - widths[6] / 2) < 0.1


def test_changes_of_a_case_are_in_the_order_of_its_words() -> None:
    inside = sample_inside()
    shown = texts(change_figure(inside.cases[0], inside.layers, "toy"))
    assert shown[:6] == ["toy", "a", "warm", "and", "[comical]", "film"]
    assert shown[6:] == [
        *("embedding", "0.00", "0.00", "0.00", "2.00", "0.00"),
        *("layer 1", "0.10", "0.30", "0.20", "1.50", "0.60"),
    ]


def test_of_a_long_text_the_words_around_the_edit_are_shown() -> None:
    count = 3 * MAX_COLUMNS
    text = AttendedText(tuple(f"w{n}" for n in range(count)))
    pairs = tuple((n, n) for n in range(count))
    for edited, first in ((0, 0), (40, 40 - MAX_COLUMNS // 2), (count - 1, count - MAX_COLUMNS)):
        case = InsideCase("c", text, text, pairs, (edited,), (tuple(map(float, range(count))),))
        words = texts(change_figure(case, ("layer 1",), ""))[:MAX_COLUMNS]
        expected = [f"w{n}" for n in range(first, first + MAX_COLUMNS)]
        expected[edited - first] = f"[w{edited}]"
        assert words == expected


def test_means_by_distance_are_those_of_the_report() -> None:
    inside = sample_inside()
    shown = texts(distance_figure(inside.cases, inside.layers, "toy"))
    assert shown == [
        *("toy", "−3", "−2", "−1", "0", "+1"),
        *("embedding", "0.00", "0.00", "0.00", "2.00", "0.00"),
        *("layer 1", "0.10", "0.30", "0.20", "1.25", "0.60"),
    ]
