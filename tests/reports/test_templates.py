"""What holds for every template: values are escaped and visible, and none may be missing."""

from __future__ import annotations

import pytest
from jinja2 import UndefinedError
from markupsafe import Markup

from brittle.reports.page import Section, anchored, environment, render_page
from brittle.reports.study_page import MarkedText, Part, StudyPage, study_page
from brittle.reports.table import Column, Table

HOSTILE = '<script>alert("1")</script> \x1b[31m \u202e'


def test_a_value_is_escaped_and_visible_unless_it_is_part_of_a_page() -> None:
    made = environment().from_string('<p title="{{ text }}">{{ text }}{{ part }}</p>')
    page = made.render(text=f"{HOSTILE}'", part=Markup("<b>x</b>"))
    assert "<script" not in page and "<b>x</b>" in page and page.count("␛[31m ⟨U+202E⟩&#39;") == 2


def test_a_value_that_is_missing_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        environment().from_string("{{ nothing }}").render()


def test_every_template_compiles() -> None:
    names = environment().list_templates()
    assert "base.html.jinja" in names
    for name in names:
        environment().get_template(name)


def test_sections_have_anchors_of_their_own() -> None:
    names = ("The run", "Cases", "Cases", "")
    sections = [Section("parts.card", heading=name) for name in names]
    assert [one.anchor for one in anchored(sections)] == ["the-run", "cases", "cases-2", ""]
    own = Section("parts.card", heading="Failures", anchor="cases")
    assert [one.anchor for one in anchored([own, sections[1]])] == ["cases", "cases-2"]


def test_the_page_of_a_study() -> None:
    table = Table([Column("model"), Column("rate", "right")], [[HOSTILE, 0.5]], "A table")
    text = MarkedText(
        HOSTILE, HOSTILE, "about", [("text", "a good film")], [("text", "a fun film")]
    )
    study = StudyPage(
        HOSTILE,
        facts=[HOSTILE, None],
        notes=[HOSTILE, (HOSTILE, ": empty, ", HOSTILE)],
        headline=[("mean rate", "44%", "over 3 pairs")],
        parts=[Part("Heading", "Lead.", [table], ["a line"], HOSTILE), Part("Texts", shows=[text])],
        settings={"pool": {"a": 1, "b": [HOSTILE, 2]}, "empty": ""},
    )
    page = " ".join(study_page(study).split())
    assert "<script" not in page and "\x1b" not in page and "\u202e" not in page
    assert "a <del>good</del><ins>fun</ins> film" in page
    assert '<h2>Heading</h2><p class="lead">Lead.</p>' in page and "<h3>A table</h3>" in page
    assert "<dt>pool</dt><dd><bdi>a 1, b &lt;script" in page and "<dt>empty" not in page
    assert page.index("mean rate") < page.index("Heading") < page.index("Settings and seed")


def test_a_page_runs_its_own_script_alone() -> None:
    page = render_page("still.html.jinja", "t", script="run();", style="p{}", sections=[])
    assert "script-src 'sha256-" in page and "<script>run();</script>" in page
    assert "script-src" not in render_page("still.html.jinja", "t", sections=[])
