"""The part of the page that is about texts."""

from __future__ import annotations

from brittle.papers.natural.results import NaturalResults
from brittle.papers.page import Page


def add_texts(page: Page, found: NaturalResults) -> None:
    """Add the tables of entailment and of translation; those that were not run are left out."""
