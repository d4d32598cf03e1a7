"""The page and the card of a run that climbs the ladder of edits."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from markupsafe import Markup

import brittle
from brittle.levels import LEVELS
from brittle.metrics.ladder import Ladder, ladder
from brittle.metrics.samples import sample_ladder
from brittle.reports import render
from brittle.reports.card import card
from brittle.reports.cases import embedded_rows
from brittle.reports.ladder_page import embedded_levels, ladder_figures, ladder_section, level_chips
from brittle.results import Result
from brittle.testing import FakeTarget
from brittle.validity.figures import LevelReading

Make = Callable[..., Any]
EVIL = "</script><img src=x onerror=alert(1)> \"'><b>|`\n😀 שלום"
READ = {"careful": LevelReading(8, 9, 10, "one language model", "film reviews")}
EVERY = tuple(LEVELS)


class Elements(HTMLParser):
    """The elements of a page with their attributes, and its words."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.all: list[tuple[str, dict[str, str | None]]] = []
        self.words = ""
        self._is_shown = True
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.all.append((tag, dict(attrs)))
        self._is_shown = tag not in ("script", "style", "title")

    def handle_endtag(self, tag: str) -> None:
        self._is_shown = True

    def handle_data(self, data: str) -> None:
        self.words += data if self._is_shown else ""

    def rects(self, css: str) -> list[float]:
        """Return the widths of the bars of a class, in percent."""
        found = [own for tag, own in self.all if tag == "rect" and own.get("class") == css]
        return [float(str(own["width"]).removesuffix("%")) for own in found]


def climbed_rows(make_row: Make, **changes: Any) -> list[Result]:
    """Make eight cases: two break by a rewrite, one by any synonym, and five do not break."""
    below = tuple((name, "held") for name in ("rewrite", "careful", "loose"))
    broken = {"random_edits": 5, "random_won": 0}
    text = "a warm film"
    rows = [
        make_row(text, {1: "tepid"}, case="c0", level="any", levels=(*below, ("any", "broken"))),
        make_row(text, {1: "nice"}, case="c1", level="rewrite", levels=(("rewrite", "broken"),)),
        make_row(text, {0: "one"}, case="c2", level="rewrite", levels=(("rewrite", "broken"),)),
        make_row(text, case="c3", status="held", levels=(*below, ("any", "held"))),
        make_row(text, case="c4", status="proved", levels=(("rewrite", "proved"),)),
        make_row(text, case="c5", status="out of budget", levels=(("rewrite", "out of budget"),)),
        make_row(text, case="c6", reason="no candidates", levels=(("rewrite", "no candidates"),)),
        make_row(text, case="c7", reason="already wrong", predicted="negative"),
    ]
    rows[:3] = [replace(row, **broken) for row in rows[:3]]
    rows[1] = replace(rows[1], random_won=2)
    return [replace(row, attack="auto", **changes) for row in rows]


def headings(page: str) -> list[str]:
    return re.findall("<h2>(.*?)</h2>", page)


def drawn(climbed: Ladder, read: Mapping[str, LevelReading]) -> str:
    """Draw the ladder and its figures."""
    return Markup(ladder_section(climbed, read, "")) + Markup(ladder_figures(climbed, read))


def of_level(climbed: Ladder | None, level: str) -> Any:
    assert climbed is not None
    return next(rung for rung in climbed.rungs if rung.level == level)


def test_the_first_screen_is_the_ladder_and_the_failures_follow(
    make_run: Make, make_row: Make
) -> None:
    page = render(make_run(climbed_rows(make_row), attack="auto"))
    assert headings(page)[:3] == ["How rough must an edit be?", "Failures", "How easily it breaks"]
    assert headings(page)[3:5] == ["The figures", "Accuracy"]
    assert headings(page)[-1] == "Settings, seed and command"
    words = Elements(page).words
    for words_shown in (
        "7 of 8 right",
        "2 of 6 broken",
        "1 of 6 broken",
        "of 6: no kind of edit changed the answer",
        "of 3 broken texts that were checked: a random edit breaks them, too",
        "nothing in them can be changed",
        "ended before every kind of edit was tried",
        "every text of this level was tried, and none breaks the case",
        "rewrite 1 of 6",
    ):
        assert words_shown in words
    assert "withstand it" not in words


def test_bars_show_what_is_left_and_what_each_level_takes(make_row: Make) -> None:
    climbed = ladder(climbed_rows(make_row))
    assert climbed is not None
    page = Elements(Markup(ladder_section(climbed, READ, "A finding.")))
    # Of eight: seven right, then five after rewrites, four after any synonym.
    assert page.rects("left") == [87.5, 62.5, 62.5, 62.5, 50.0]
    assert page.rects("lost") == [25.0, 12.5]
    assert "A finding." in page.words
    assert ("a", {"href": "#level=any", "title": "Show what any synonym broke"}) in page.all
    assert not [own for _, own in page.all if own.get("href") == "#level=careful"]


def test_a_level_that_nobody_read_is_said_to_be_so() -> None:
    section = drawn(sample_ladder(), READ)
    assert (
        'title="valid in 80% of 10 read (one language model, film reviews)">valid in 80%<'
        in section
    )
    assert "valid in 80% of 10 read (one language model, film reviews)" in section
    assert "not read yet" in section
    assert "Texts of any synonym have not been judged yet" in section
    assert "edits that nobody judged count as not valid" in section
    read_all = READ | {"any": READ["careful"]}
    section = drawn(sample_ladder(), read_all)
    assert "Nobody has read" not in section and "nobody read" not in section
    assert "not read yet" not in section


def test_without_readings_there_is_no_estimate() -> None:
    empty = {"careful": LevelReading(0, 0, 0, "nobody", "nothing")}
    for read in ({}, empty):
        section = drawn(sample_ladder(), read)
        assert "Validly broken" not in section and section.count("not read yet") == 2


def test_the_estimate_goes_by_the_readings() -> None:
    def estimate(valid: int) -> int:
        read = {name: LevelReading(valid, 100, 100, "r", "t") for name in ("careful", "any")}
        (share,) = re.findall(r"about (\d+)%", drawn(sample_ladder(), read))
        return int(share)

    # 70 of 92 attacked cases are broken.
    assert [estimate(valid) for valid in (0, 50, 100)] == [0, 38, 76]


def test_hostile_rows_stay_text(make_run: Make, make_row: Make) -> None:
    rows = climbed_rows(make_row, label=EVIL, predicted=EVIL, reason=EVIL)
    rows[0] = replace(rows[0], level=EVIL, original=EVIL, fields=((EVIL, EVIL),), edits=())
    rows[1] = replace(rows[1], levels=((EVIL, "broken"), ("rewrite", "broken")))  # type: ignore[arg-type]
    run = make_run(rows, name=EVIL, target=EVIL, data=EVIL, split=EVIL, warnings=[EVIL])
    page = render(run)
    elements = Elements(page)
    assert not [tag for tag, _ in elements.all if tag == "img"]
    assert not [own for _, own in elements.all if "style" in own or "onerror" in own]
    assert page.count("<script") == page.count("</script>") == 2
    assert len(level_chips_of(rows)) == 1  # the unknown level has no box
    _, metadata, body = card(run).split("---\n", 2)
    assert "\\n" in metadata and "<img" not in body and "&lt;img" in body


def test_a_hostile_reading_or_finding_stays_text() -> None:
    read = {"careful": LevelReading(1, 1, 2, EVIL, EVIL)}
    section = Markup(ladder_section(sample_ladder(), read, EVIL, EVIL, [EVIL]))
    assert "<img" not in section and section.count("&lt;img") == 9


def level_chips_of(rows: list[Result]) -> list[str]:
    climbed = ladder(rows)
    assert climbed is not None
    return [rung.level for rung in level_chips(climbed)]


def test_the_list_can_be_filtered_by_the_levels_that_broke_something(
    make_run: Make, make_row: Make
) -> None:
    rows = climbed_rows(make_row)
    assert level_chips_of(rows) == ["rewrite", "any"]
    levels = embedded_levels(ladder(rows), rows)
    assert levels == {
        "names": ["rewrite", "careful", "loose", "any"],
        "titles": ["rewrite", "careful synonym", "loose synonym", "any synonym"],
        "rows": [3, 0, 0, -1, -1, -1, -1, -1],
    }
    page = render(make_run(rows))
    assert '<option value="gentlest">' in page
    assert '"names":["rewrite","careful","loose","any"]' in page
    statuses = re.findall('value="([a-z ]+)"( checked)?>[a-z ]+ <b>', page)
    assert [name for name, is_checked in statuses if is_checked] == ["broken", "rewrite", "any"]


def test_a_run_without_a_broken_case_shows_all_cases(make_run: Make, make_row: Make) -> None:
    rows = [row for row in climbed_rows(make_row) if row.status != "broken"]
    page = render(make_run(rows))
    assert headings(page)[:2] == ["How rough must an edit be?", "Cases"]
    assert 'value="gentlest"' not in page and 'id="levels"' not in page
    assert '<input type="checkbox" value="held" checked>' in page
    words = Elements(page).words
    assert "flip no right answer" in words and "Already undecided" not in words
    assert "#level=" not in page.split("<script")[0]
    assert "0 of 3 broken" in words


def test_a_run_in_which_all_levels_are_empty(make_run: Make, make_row: Make) -> None:
    statuses = tuple((name, "no candidates") for name in EVERY)
    rows = [
        make_row("42", case=f"c{n}", reason="no candidates", levels=statuses, attack="auto")
        for n in range(3)
    ]
    run = make_run(rows, attack="auto")
    elements = Elements(render(run))
    assert "No text could be attacked." in elements.words
    assert elements.words.count("not tested: nothing to change") == len(EVERY)
    assert elements.rects("left") == [100.0] * (1 + len(EVERY)) and not elements.rects("lost")
    assert "0 of 0" in card(run)


def test_a_budget_leaves_cases_unfinished(make_run: Make, make_row: Make) -> None:
    rows = climbed_rows(make_row)
    rows += [replace(row, case=f"{row.case}x") for row in rows if row.status == "out of budget"]
    run = make_run(rows, attack="auto", budget=20)
    page = render(run)
    assert '<a href="#status=out of budget,unconfirmed">2</a>' in page
    assert "budget 20 queries" in Elements(page).words
    assert "out of budget 2" in card(run)
    finished = [row for row in rows if row.status != "out of budget"]
    assert "Not finished" not in render(make_run(finished))


def test_a_text_that_is_not_english(make_run: Make, make_row: Make) -> None:
    others = tuple((name, "not English") for name in EVERY[:-1])
    row = make_row(
        "ein schöner Film",
        {1: "schömer"},
        level="typo",
        levels=(*others, ("typo", "broken")),
    )
    run = make_run([row], attack="auto")
    line = "1 text is not English: only typing errors were tried."
    assert line in Elements(render(run)).words and line in card(run)
    assert of_level(ladder([row]), "rewrite").tried == 0


def test_agreement_is_not_called_accuracy(make_run: Make, make_row: Make) -> None:
    run = make_run(climbed_rows(make_row), reference="predictions")
    assert '<li class="left">agreement that is left</li>' in render(run)


def test_warnings_stand_below_the_picture(make_run: Make, make_row: Make) -> None:
    page = render(make_run(climbed_rows(make_row), warnings=["The model answers at random."]))
    picture, warning, failures = map(
        page.index, ('class="rungs"', "answers at random", 'id="cases"')
    )
    assert picture < warning < failures


def test_other_attacks_keep_their_page(make_run: Make) -> None:
    page = render(make_run())
    assert 'class="ladder"' not in page and 'id="levels"' not in page
    assert '"levels":null' in page and headings(page)[0] == "Accuracy"
    assert page.index('class="hero"') < page.index('id="cases"')
    assert "accuracy left" not in card(make_run())


def test_rows_of_other_attacks_have_no_levels(make_run: Make) -> None:
    rows = make_run().results()
    assert embedded_levels(ladder(rows), rows) is None
    assert '"levels":null' in embedded_rows(rows)


def test_the_card_has_the_ladder_as_a_table(
    make_run: Make, make_row: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: Mapping[str, LevelReading] = READ | {"any": LevelReading(1, 5, 10, "two people", "news")}
    monkeypatch.setattr("brittle.reports.ladder.readings", lambda: read)
    text = card(make_run(climbed_rows(make_row), attack="auto"))
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| ")]
    table = {row[0].removeprefix("| "): row for row in rows}
    assert table["none"][2] == "87.5%" and table["none"][4] == "7 of 8 right"
    assert table["rewrite"][2] == "62.5%" and table["rewrite"][4] == "2 of 6"
    assert table["rewrite"][5] == "not read yet"
    said = "valid in 10% of 10 read, label kept in 50% (two people, news)"
    assert table["any synonym"][5] == said
    # One case by any synonym, valid in a tenth; rewrites are not read: 0.1 of 6.
    assert "Validly broken, estimate: **2%**" in text and "of 6 attacked cases" in text
    assert 'name: "accuracy under auto with edits up to any synonym"\n      value: 0.5000' in text
    assert 'name: "validly broken by auto, estimate"\n      value: 0.0167' in text
    assert "withstand" not in text
    assert "of 6 attacked cases, every text of this level was tried: rewrite 1" in text
    assert "1 of 3 broken cases checked break under a random edit, too" in text


def test_a_real_run_has_the_figures_of_its_rows(tmp_path: Path) -> None:
    target = FakeTarget({"good": 1.5, "great": 1.5, "bad": -1.5, "poor": -1.5}, spread=0.2)
    texts = ["a good film", "the great story", "a bad actor", "it is a poor film", "xyz"]
    run = brittle.attack(target, texts, "auto", name="r", folder=tmp_path)
    climbed = ladder(run.results())
    assert climbed is not None and climbed.broken
    elements = Elements(render(run))
    left = [100 * (rung.standing.value or 0) for rung in climbed.rungs]
    assert elements.rects("left")[1:] == pytest.approx(left, abs=0.01)
    counts = [f"{rung.broken} of {climbed.attacked} broken" for rung in climbed.rungs]
    assert all(count in elements.words for count in counts)
