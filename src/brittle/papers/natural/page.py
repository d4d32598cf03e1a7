"""The page of the natural adversaries: the paper's figures beside ours, pictures, then texts."""

from __future__ import annotations

from brittle.papers.natural.claims import JUDGES
from brittle.papers.natural.pictures_page import add_pictures
from brittle.papers.natural.plan import plan
from brittle.papers.natural.results import NaturalResults
from brittle.papers.natural.texts_page import add_texts
from brittle.papers.page import Page
from brittle.papers.paper import Paper


def add_sections(page: Page, found: NaturalResults) -> None:
    """Add the sections about pictures and those about texts."""
    add_pictures(page, found)
    add_texts(page, found)


PAPER = Paper(
    plan,
    NaturalResults,
    add_sections,
    JUDGES,
    data="mnist",
    takes=("pairs", "translations"),
)
