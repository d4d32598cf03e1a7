"""Every table and figure of the papers is listed once, and stands where the list says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from brittle.errors import UsageError
from brittle_papers import PAPERS
from brittle_papers.coverage import (
    STATES,
    CoverageItem,
    CoveragePlace,
    PaperCoverage,
    _coverage_of,
    build_coverage,
    command_of,
    load_coverage,
)
from brittle_papers.spec import load_spec
from papers.parsed import parse_command

PAGES = Path(__file__).parents[2] / "docs" / "papers"
REMEDY = "Run `python scripts/write_reference.py`, read the difference, and commit the page."
PLACES = [place for paper in load_coverage() for item in paper.items for place in item.places]
ITEMS = [
    pytest.param(item, id=f"{paper.paper}, {item.name}")
    for paper in load_coverage()
    for item in paper.items
]


def test_five_papers_are_covered_and_a_second_page_has_no_list_of_its_own() -> None:
    listed = [name for name in PAPERS if load_spec(name).coverage]
    assert len(load_coverage()) == len(listed) == 5
    assert {name for name in PAPERS if name not in listed} == {
        "attention-translation",
        "natural-texts",
    }
    assert {Path(place.page).name for place in PLACES} == {*PAPERS}


@pytest.mark.parametrize("paper", load_coverage(), ids=lambda paper: paper.paper)
def test_every_number_of_a_table_and_a_figure_is_listed_once(paper: PaperCoverage) -> None:
    tables = [f"Table {number}" for number in range(1, paper.tables + 1)]
    figures = [f"Figure {number}" for number in range(1, paper.figures + 1)]
    assert [item.name for item in paper.items] == [*tables, *figures]


@pytest.mark.parametrize("item", ITEMS)
def test_what_is_repeated_stands_on_a_page_and_what_is_not_has_a_reason(item: CoverageItem) -> None:
    assert item.shows and item.state in STATES
    if item.state in ("reproduced", "partly"):
        assert item.places
    if item.state == "missing":
        assert not item.places
    if item.state != "reproduced":
        assert item.remark.endswith("."), "one sentence on what is missing"


@pytest.mark.parametrize(
    "place", dict.fromkeys(PLACES), ids=lambda place: f"{place.page}, {place.heading}"
)
def test_a_place_is_a_part_of_its_page_and_a_heading_of_the_committed_one(
    place: CoveragePlace,
) -> None:
    parts = load_spec(Path(place.page).name).page
    assert place.part in {part if isinstance(part, str) else part["part"] for part in parts}
    page = (PAGES / f"{place.page}.md").read_text("utf-8")
    assert page.splitlines().count(f"## {place.heading}") == 1


def test_a_table_or_figure_that_a_heading_names_is_listed_there() -> None:
    for paper in load_coverage():
        for item in paper.items:
            for place in item.places:
                kind, number = item.name.split()
                named = re.search(rf"{kind}s? ([\d,a–c and]+)\)", place.heading)
                numbers = re.findall(r"\d+", named[1]) if named else []
                # The paper prints the number 3 on two figures, and has no Figure 4.
                assert not numbers or number in numbers or "Figure 3" in item.shows, item.name


@pytest.mark.parametrize("item", ITEMS)
def test_the_commands_of_the_list_are_commands(item: CoverageItem) -> None:
    for place in item.places:
        written = command_of(PAGES / f"{place.page}.md")
        asked, page = parse_command(written), Path(place.page)
        assert (asked.paper, asked.scale) == (page.name, page.parent.name or "small")
    if item.command:
        parse_command(item.command)


def test_the_page_is_that_of_the_lists() -> None:
    assert (PAGES / "coverage.md").read_text("utf-8") == build_coverage(PAGES), REMEDY


def test_a_wrong_state_and_a_page_without_a_command_are_errors(tmp_path: Path) -> None:
    items = {"Table 1": {"shows": "a table", "state": "repeated"}}
    with pytest.raises(UsageError, match="reproduced"):
        _coverage_of("imdb", {"paper": "a paper", "tables": 1, "figures": 0, "items": items})
    (tmp_path / "page.md").write_text("# A page\n", "utf-8")
    with pytest.raises(ValueError, match=r"page\.md names no command"):
        command_of(tmp_path / "page.md")
