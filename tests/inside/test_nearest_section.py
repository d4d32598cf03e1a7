"""The section on nearest words escapes everything, and is not there without words."""

from __future__ import annotations

from markupsafe import Markup

from brittle.inside.nearest import nearest_section


def test_words_stand_in_the_order_given_and_escaped() -> None:
    section = Markup(nearest_section([("past", "<b>", ["last", "fast"], ["a&b"])], "highway <1>"))
    assert "<bdi>past</bdi> → <bdi>&lt;b&gt;</bdi>" in section
    assert "<td><bdi>last</bdi>, <bdi>fast</bdi></td><td><bdi>a&amp;b</bdi></td>" in section
    assert "at the layer highway &lt;1&gt;" in section and "<b>" not in section


def test_no_words_no_section() -> None:
    assert nearest_section([], "x") is None
