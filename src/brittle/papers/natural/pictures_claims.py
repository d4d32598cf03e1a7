"""How our intervals judge the paper's findings about pictures."""

from __future__ import annotations

from collections.abc import Mapping

from brittle.papers.claims import Judge
from brittle.papers.natural.results import NaturalResults

JUDGES: Mapping[str, Judge[NaturalResults]] = {}
