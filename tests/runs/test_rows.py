"""Rows are made of outcomes: labels by name, edits in place, nothing for what was not found."""

from __future__ import annotations

import numpy as np

from brittle.asks import Answer, Case
from brittle.data.dataset import Dataset
from brittle.data.example import Example
from brittle.engine.running import Improvement, Outcome
from brittle.runs.job import Job
from brittle.runs.rows import result_of, steps_of
from brittle.testing import FakeTarget
from brittle.text import Text

TEXT = Text.of({"a": "one two", "b": "three"}, locked=["b"])
DATA = Dataset("x", "all", (Example.of("x", "positive"),), ("positive",))
JOB = Job.of(FakeTarget(), DATA, "random-swap", {}, seed=3)
START = Answer(np.array([[0.25, 0.75]]), np.array([0.25]), np.array([False]))
CASE = Case("id", TEXT, 1, None, START)


def test_a_won_case() -> None:
    first = Improvement(1, 0.25, TEXT, [0.25, 0.75])
    best = Improvement(5, 0.6, TEXT.swap(1, "2"), [0.6, 0.4])
    outcome = Outcome(CASE, "broken", "", 5, (first, best), best)
    row = result_of(outcome, JOB)
    assert (row.original, row.adversarial) == ("one two\nthree", "one 2\nthree")
    assert row.fields == (("a", "one two"), ("b", "three"))
    assert (row.label, row.predicted, row.confidence) == ("positive", "positive", 0.75)
    assert (row.adversarial_label, row.adversarial_confidence) == ("negative", 0.6)
    assert (row.words, row.words_changed, row.characters_changed) == (2, 1, 3)
    assert (row.queries, row.seed, row.goal, row.attack) == (5, 3, "untargeted", "random-swap")
    steps = list(steps_of(outcome, JOB))
    assert [(s.query, s.label, s.confidence, len(s.edits)) for s in steps] == [
        (1, "positive", 0.75, 0),
        (5, "negative", 0.6, 1),
    ]


def test_a_case_whose_original_failed() -> None:
    row = result_of(Outcome(Case("id", TEXT), "error", "why", 1), JOB)
    assert (row.status, row.reason, row.queries) == ("error", "why", 1)
    assert row.label is row.predicted is row.confidence is row.adversarial is None
    assert row.edits == () and row.words_changed == row.characters_changed == 0


def test_a_deleted_word_counts_as_changed() -> None:
    best = Improvement(2, 0.6, TEXT.delete(0), [0.6, 0.4])
    row = result_of(Outcome(CASE, "broken", "", 2, (best,), best), JOB)
    assert row.adversarial == "two\nthree" and row.words_changed == 1
