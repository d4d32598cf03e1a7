"""The ladder of a run, against counts by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from brittle.metrics.ladder import Ladder, ladder, validly_broken
from brittle.metrics.samples import sample_ladder, sample_results
from brittle.results import Result


def climbed() -> list[Result]:
    """Return the sample rows as a run of auto would have them."""
    a1, a2, a3, a4, a5, *rest = sample_results()
    return [
        replace(a1, level="rewrite", levels=(("rewrite", "broken"),), random_edits=5, random_won=2),
        replace(
            a2,
            level="any",
            levels=(("rewrite", "no candidates"), ("careful", "proved"), ("any", "broken")),
            random_edits=4,
            random_won=0,
        ),
        replace(
            a3,
            level="typo",
            levels=(("rewrite", "not English"), ("typo", "broken")),
            random_edits=0,
        ),
        replace(a4, levels=(("rewrite", "proved"), ("careful", "held"), ("any", "held"))),
        replace(a5, levels=(("rewrite", "out of budget"),)),
        *rest,
    ]


def test_every_level_counts_what_it_breaks_and_what_is_left() -> None:
    found = ladder(climbed())
    assert found is not None
    assert [(rung.level, rung.broken) for rung in found.rungs] == [
        ("rewrite", 1),
        ("careful", 0),
        ("any", 1),
        ("typo", 1),
    ]
    # Six of seven answers are right before the attack.
    assert (found.before.count, found.before.of) == (6, 7)
    assert [rung.standing.count for rung in found.rungs] == [5, 5, 4, 3]
    assert found.after.count == 3 and {rung.standing.of for rung in found.rungs} == {7}
    rewrite, careful, *_ = found.rungs
    assert (rewrite.tried, rewrite.proved, rewrite.empty) == (3, 1, 2)
    assert (careful.tried, careful.proved, careful.empty) == (2, 1, 0)
    assert (found.held, found.unfinished, found.broken, found.attacked) == (1, 1, 3, 5)
    assert (found.checked, found.undecided, found.not_english) == (2, 1, 1)


def test_runs_of_other_attacks_have_no_ladder() -> None:
    assert ladder(sample_results()) is None and ladder([]) is None


def test_the_estimate_covers_the_truth() -> None:
    """Draw studies with known shares: 95 % intervals hold the truth about as often as they say."""
    rng = np.random.default_rng(1)
    shares, valid = np.array([0.3, 0.5, 0.2]), np.array([0.9, 0.2])
    truth = float((shares[:2] * valid).sum())
    held = 0
    base = sample_ladder()
    for seed in range(200):
        counts = rng.multinomial(400, shares)
        rungs = tuple(replace(rung, broken=int(count)) for rung, count in zip(base.rungs, counts))
        drawn: Ladder = replace(base, rungs=rungs, attacked=400)
        read = {rung.level: (int(rng.binomial(80, share)), 80) for rung, share in zip(rungs, valid)}
        figure = validly_broken(drawn, read, seed)
        assert figure.low is not None and figure.high is not None
        held += figure.low <= truth <= figure.high
    assert 0.9 <= held / 200 <= 0.99


def test_levels_that_nobody_read_count_as_not_valid() -> None:
    found = sample_ladder()
    assert validly_broken(found, {}).value is None
    assert validly_broken(found, {"careful": (0, 0)}).value is None
    only = validly_broken(found, {"careful": (50, 100)})
    assert only.value == pytest.approx(40 * 0.5 / 92)
