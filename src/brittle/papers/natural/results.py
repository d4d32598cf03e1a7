"""What the page of the natural adversaries reads from its tasks."""

from __future__ import annotations

from dataclasses import dataclass

from brittle.papers.results import PaperResults


@dataclass(frozen=True)
class NaturalResults(PaperResults):
    """The results of the tasks; what is loaded is kept."""
