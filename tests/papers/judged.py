"""Judges one claim of a paper, by its rule or in Python."""

from __future__ import annotations

from brittle_papers.claims import JudgedClaim
from brittle_papers.declared import judgement_of
from brittle_papers.paper import load_paper
from brittle_papers.results import PaperResults
from brittle_papers.spec import load_spec


def judged(key: str, found: PaperResults) -> JudgedClaim | None:
    paper = found.request.paper
    return judgement_of(key, load_spec(paper).claims[key], found, load_paper(paper).judges)
