"""The part of the page that is about pictures."""

from __future__ import annotations

from brittle.papers.natural.results import NaturalResults
from brittle.papers.page import Page


def add_pictures(page: Page, found: NaturalResults) -> None:
    """Add the tables, plots and contact sheets of pictures."""
