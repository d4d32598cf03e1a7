"""A broken case has an adversary or not: everybody who shows, reads or asks it agrees."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import brittle
from brittle.inside.looking import broken_cases
from brittle.metrics.samples import sample_results
from brittle.reports.cases import clearest
from brittle.results import DAMAGED_EDITS, Result, has_adversary
from brittle.runs.drift import recheck
from brittle.testing import FakeTarget
from brittle.validity.sampling import Source


def doubtful_rows() -> list[Result]:
    """Three broken cases: emptied, unchanged, and one whose text is lost; and one that held."""
    broken, held = sample_results()[0], sample_results()[3]
    [edit] = broken.edits
    whole = replace(edit, start=0, stop=len(broken.original), old=broken.original, new="")
    return [
        broken,
        replace(broken, case="emptied", adversarial="", edits=(whole,)),
        replace(broken, case="unchanged", adversarial=broken.original, edits=()),
        replace(broken, case="lost", adversarial=None, edits=(), reason=DAMAGED_EDITS),
        held,
    ]


@dataclass(frozen=True)
class Listed:
    rows: list[Result]
    name: str = "listed"

    @property
    def manifest(self) -> dict[str, Any]:
        return {"goal": "untargeted", "fingerprint": "other"}

    def results(self) -> list[Result]:
        return self.rows


def test_everybody_means_the_same_by_a_case_with_an_adversary() -> None:
    rows = doubtful_rows()
    run = Listed(rows)
    expected = {"a1", "emptied"}
    assert {row.case for row in rows if has_adversary(row)} == expected
    assert {row.case for row in clearest(rows)} == expected
    assert set(Source("listed", run.manifest, rows).broken()) == expected
    assert {row.case for row in broken_cases(run)} == expected
    assert {check.row.case for check in recheck(run.manifest, rows, FakeTarget())} == expected


def test_nobody_says_it_in_other_words() -> None:
    said = re.compile(r"""["']broken["'] (?:and|or) [^\n]*(?:adversarial\b(?!_)|DAMAGED_EDITS)""")
    root = Path(brittle.__file__).parent
    found = {str(p.relative_to(root)) for p in root.rglob("*.py") if said.search(p.read_text())}
    assert found == {"results.py"}
