"""The table of contents of a page, made from the headings of its sections."""

from __future__ import annotations

import re
from collections.abc import Sequence

MIN_ENTRIES = 3
_HEADING = re.compile(r"<h2>(.*?)</h2>", re.DOTALL)
_ANCHOR = re.compile(r'<section[^>]* id="([^"]+)"')


def with_contents(sections: Sequence[str]) -> list[str]:
    """Give every section with a heading an anchor, and put links to all of them behind the first.

    Sections are HTML in which all data is escaped, so a heading is always one of the page's own.

    >>> parts = ["<header></header>"]
    >>> parts += [f"<section><h2>{name}</h2></section>" for name in ("The run", "Cases", "Cases")]
    >>> head, contents, run, cases, again = with_contents(parts)
    >>> run
    '<section id="the-run"><h2>The run</h2></section>'
    >>> again
    '<section id="cases-2"><h2>Cases</h2></section>'
    >>> contents.count("<a "), '<a href="#the-run">The run</a>' in contents
    (3, True)
    """
    names: dict[str, str] = {}
    anchored = [_anchored(section, names) for section in sections]
    if len(names) < MIN_ENTRIES:
        return anchored
    links = "".join(f'<a href="#{anchor}">{name}</a>' for anchor, name in names.items())
    contents = f'<nav class="contents" aria-label="Contents">{links}</nav>'
    return [anchored[0], contents, *anchored[1:]]


def _anchored(section: str, names: dict[str, str]) -> str:
    """Return a section with an id, and note its heading under it."""
    heading = _HEADING.search(section)
    if heading is None or not section.startswith("<section"):
        return section
    name = re.sub("<[^>]*>", "", heading[1])
    own = _ANCHOR.match(section)
    if own is not None:
        names[own[1]] = name
        return section
    slug = anchor = re.sub(r"\W+", "-", name.lower()).strip("-")
    copy = 1
    while anchor in names:
        copy += 1
        anchor = f"{slug}-{copy}"
    names[anchor] = name
    return section.replace("<section", f'<section id="{anchor}"', 1)
