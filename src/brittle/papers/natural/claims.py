"""The judges of all findings of the paper: those of paper.toml, then those of texts.toml."""

from __future__ import annotations

from collections.abc import Mapping

from brittle.papers.claims import Judge
from brittle.papers.natural import pictures_claims, texts_claims
from brittle.papers.natural.results import NaturalResults

JUDGES: Mapping[str, Judge[NaturalResults]] = {**pictures_claims.JUDGES, **texts_claims.JUDGES}
