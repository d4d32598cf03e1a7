"""Which tables and figures of the papers stand on our pages: docs/papers/coverage.md.

`[coverage]` of a paper.toml has the name of the `paper`, how many `tables` and `figures` it has,
and under `items` each of them by its name:

    [coverage.items."Table 2"]
    shows = "error and success after four trainings"
    state = "reproduced"                        # or another of STATES
    places = [{ part = "table 2", heading = "Adversarial training (Table 2)" }]
    remark = "500 of the 7,600 texts are attacked."

A place is a part of a page (see `page` in paper.toml) and the heading under which it stands; `page`
names a page that has not the paper's own name, as full/transfer. The command of a page is read from
the page; `command` is one that makes the item apart from it. All but what is reproduced needs a
`remark`: one sentence on what is missing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from brittle.errors import unknown
from brittle.formatting import NO_VALUE
from brittle_papers import PAPERS
from brittle_papers.page import format_table
from brittle_papers.spec import Table, load_spec

STATES: Mapping[str, str] = {
    "reproduced": "each row, column and panel has a figure of ours. Data, models and sizes may be "
    "others; the page names them under *What differs*",
    "partly": "some rows, columns, panels, data sets or texts of the paper have none",
    "missing": "it could be repeated, and is not",
    "not testable here": "it shows what people said, or it is a drawing without a result",
}
"""What is done about a table or figure, and what that means."""
HEAD = """# Which tables and figures are repeated

Every table and figure of the five papers, and where ours stands. `scripts/write_reference.py` \
writes this page from the `[coverage]` of each `paper.toml`; a test compares it with the pages.

{states}

A table or figure is made by the command of the page that it stands on; above each list these \
commands stand in full. A command in the column *where* makes it, or a part of it, alone.
"""
_COMMAND = re.compile(r"^brittle papers .+$", re.MULTILINE)


@dataclass(frozen=True)
class CoveragePlace:
    """Where a table or figure stands: a part of a page, and its heading there."""

    page: str
    part: str
    heading: str

    def link(self) -> str:
        """Format the place as a link from a page beside it."""
        return f"[{self.page}: {self.heading}]({self.page}.md#{anchor(self.heading)})"


@dataclass(frozen=True)
class CoverageItem:
    """A table or figure of a paper, and what is done about it."""

    name: str
    shows: str
    state: str
    places: Sequence[CoveragePlace] = ()
    command: str = ""
    remark: str = ""

    def row(self) -> list[str]:
        """Return the cells of its row."""
        own = [f"`{self.command}`"] if self.command else []
        return [
            self.name,
            self.shows,
            f"**{self.state}**",
            ", ".join([*(place.link() for place in self.places), *own]) or NO_VALUE,
            self.remark,
        ]


@dataclass(frozen=True)
class PaperCoverage:
    """All tables and figures of a paper, by its name."""

    paper: str
    tables: int
    figures: int
    items: Sequence[CoverageItem]


def load_coverage() -> list[PaperCoverage]:
    """Load the tables and figures of all papers; a second page of a paper has none of its own."""
    specs = {name: load_spec(name).coverage for name in PAPERS}
    return [_coverage_of(name, table) for name, table in specs.items() if table]


def _coverage_of(name: str, table: Table) -> PaperCoverage:
    items = [_item(name, key, entry) for key, entry in table["items"].items()]
    return PaperCoverage(table["paper"], table["tables"], table["figures"], items)


def _item(paper: str, name: str, entry: Table) -> CoverageItem:
    if entry["state"] not in STATES:
        raise unknown("state of a table or figure", entry["state"], STATES)
    places = [CoveragePlace(**{"page": paper, **place}) for place in entry.get("places", ())]
    return CoverageItem(name, **{**entry, "places": places})


def build_coverage(pages: Path) -> str:
    """Build the page; the commands are read from the pages in this folder."""
    papers = load_coverage()
    items = [item for paper in papers for item in paper.items]
    rows = [[paper.paper, *_counts(paper.items)] for paper in papers]
    head = ["paper", "tables and figures", *STATES]
    meanings = "\n".join(f"- **{state}**: {meaning}." for state, meaning in STATES.items())
    counts = format_table(head, [*rows, ["all", *_counts(items)]])
    parts = [HEAD.format(states=meanings), counts]
    for paper in papers:
        parts += [f"## {paper.paper}", *_section(paper, pages)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _counts(items: Sequence[CoverageItem]) -> list[str]:
    """Count the items, all and by state."""
    return [str(len(items)), *(str(sum(i.state == state for i in items)) for state in STATES)]


def _section(paper: PaperCoverage, pages: Path) -> Iterator[str]:
    for page in dict.fromkeys(place.page for item in paper.items for place in item.places):
        yield f"[{page}]({page}.md) is written by `{command_of(pages / f'{page}.md')}`."
    head = ["", "what it shows", "here", "where", "remark"]
    yield format_table(head, [item.row() for item in paper.items], of_words=True)


def command_of(page: Path) -> str:
    """Read the command that wrote a page from the page.

    It is the first line that begins with `brittle papers`.
    """
    command = _COMMAND.search(page.read_text("utf-8"))
    if command is None:
        raise ValueError(
            f"{page.name} names no command that wrote it, such as brittle papers imdb."
        )
    return command[0]


def anchor(heading: str) -> str:
    """Return what a link to a heading ends with.

    >>> anchor("Robustness of 80 classifiers (Figures 4a–c)")
    'robustness-of-80-classifiers-figures-4ac'
    """
    plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())
