"""What papers read from stored rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from brittle.asks import NO_CANDIDATES
from brittle.metrics.samples import sample_results
from brittle_papers.results import PaperResults
from brittle_papers.spec import PaperRequest


def test_a_text_that_cannot_be_edited_counts_as_held(monkeypatch: pytest.MonkeyPatch) -> None:
    broken, *_ = [row for row in sample_results() if row.status == "broken"]
    rows = [replace(broken, case=str(n)) for n in range(3)]
    rows[1] = replace(rows[1], status="skipped", reason=NO_CANDIDATES)
    rows[2] = replace(rows[2], status="skipped", reason="already wrong")

    class Stored:
        def results(self) -> list[Any]:
            return rows

    monkeypatch.setattr(PaperResults, "run", lambda self, task: Stored())
    results = PaperResults(PaperRequest("hotflip", "tiny", "mr"), Path("."), {"words": {}})
    assert [row.status for row in results.rows("words")] == ["broken", "held", "skipped"]
    assert (results.success("words").count, results.success("words").of) == (1, 2)
