"""Stored runs made of plain lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from brittle.edits import characters_changed, diff, words_changed
from brittle.metrics.samples import sample_results, sample_steps
from brittle.results import Result, Step
from brittle.text import Text
from brittle.validity.figures import Floors, Validity


@dataclass
class ListedRun:
    """A stored run over lists."""

    name: str
    rows: list[Result]
    manifest: dict[str, Any]
    totals: dict[str, float] = field(default_factory=dict)
    improvements: list[Step] = field(default_factory=list)
    stored_validity: Validity | None = None
    stored_floors: Floors | None = None
    command: str | None = None
    try_command: str | None = None
    later: dict[str, Any] = field(default_factory=dict)

    def measured(self, name: str) -> Mapping[str, Any]:
        return self.later.get(name, {})

    def as_stored(self) -> ListedRun:
        return self

    def results(self) -> list[Result]:
        return self.rows

    def steps(self) -> list[Step]:
        return self.improvements


MakeRun = Callable[..., ListedRun]
MakeRow = Callable[..., Result]


@pytest.fixture
def make_run() -> MakeRun:
    def make(
        rows: Sequence[Result] | None = None, name: str = "demo", **manifest: Any
    ) -> ListedRun:
        results = sample_results() if rows is None else list(rows)
        defaults = {
            "target": "zoo:toy",
            "attack": "pwws",
            "settings": {"inflect": True},
            "goal": "untargeted",
            "data": "mr",
            "split": "test",
            "limit": 8,
            "seed": 0,
            "budget": None,
            "labels": ["negative", "positive"],
            "reference": "labels",
            "versions": {"brittle": "0.1.0"},
            "started": "2025-01-02T03:04:05",
            "warnings": [],
            "examples": len(results),
        }
        totals = {"seconds": 75.0, "sent": 900, "asked": 1200, "calls": 12}
        return ListedRun(name, results, defaults | manifest, totals, sample_steps())

    return make


@pytest.fixture
def make_row() -> MakeRow:
    def make(
        fields: str | Mapping[str, str], swaps: Mapping[int, str] | None = None, **changes: Any
    ) -> Result:
        text = changed = Text.of(fields)
        for position, word in (swaps or {}).items():
            changed = changed.swap(position, word)
        edits = diff(text, changed)
        values: dict[str, Any] = {
            "case": "c1",
            "attack": "pwws",
            "target": "toy",
            "goal": "untargeted",
            "status": "broken" if edits else "skipped",
            "reason": "",
            "fields": tuple(text.fields().items()),
            "original": text.render(),
            "adversarial": changed.render() if edits else None,
            "edits": edits,
            "label": "positive",
            "predicted": "positive",
            "confidence": 0.9,
            "adversarial_label": "negative" if edits else None,
            "adversarial_confidence": 0.7 if edits else None,
            "queries": 20,
            "words": len(text),
            "words_changed": words_changed(edits),
            "characters_changed": characters_changed(edits),
            "seed": 0,
        }
        return Result(**(values | changes))

    return make
