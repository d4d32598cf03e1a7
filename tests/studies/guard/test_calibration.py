"""The operating point: which label is caught, how many texts a rate needs, where a threshold is."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from brittle.errors import UsageError
from brittle.studies.guard.calibration import (
    caught_label,
    fix_threshold,
    has_scores,
    own_decision,
    parse_rate,
    split_benign,
)


@pytest.mark.parametrize(
    ("labels", "asked", "expected"),
    [
        (("benign", "injection"), None, ("injection", True)),
        (("Prompt_Injection", "ok"), None, ("Prompt_Injection", True)),
        (("LABEL_0", "LABEL_1"), "label_1", ("LABEL_1", False)),
        (("toxic", "spam", "fine"), "spam", ("spam", False)),
    ],
)
def test_the_label_is_found_by_name_or_asked_for(labels: Any, asked: Any, expected: Any) -> None:
    assert caught_label(labels, asked) == expected


@pytest.mark.parametrize(
    ("labels", "asked", "message"),
    [
        (("0", "1"), None, r"labels 0, 1; none of these clearly means .*--caught 1"),
        (("spam",), None, r"has only one label \(spam\)"),
        (("toxic", "spam"), None, r"several of these \(toxic, spam\) may mean"),
        (("non-toxic", "not spam"), None, "none of these clearly"),
        (("ham", "spam"), "spma", r"Unknown label 'spma'.*Did you mean 'spam'"),
    ],
)
def test_no_label_is_guessed(labels: Any, asked: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        caught_label(labels, asked)


def test_rates_are_shares_or_percents() -> None:
    assert [parse_rate(text) for text in ("1%", "0.05", " 2.5% ")] == [0.01, 0.05, 0.025]
    for text in ("1", "0", "-1%", "60%", "nan", "one"):
        with pytest.raises(UsageError, match="expected a share"):
            parse_rate(text)


def test_too_few_benign_texts_are_refused_with_the_number_needed() -> None:
    with pytest.raises(UsageError, match=r"Got 50 different.*rate of 1% needs at least 600: 300 "):
        split_benign(range(50), 0.01, 0)
    with pytest.raises(UsageError, match="needs at least 600"):
        split_benign(range(599), 0.01, 0)
    fixing, measuring = split_benign(range(601), 0.01, 0)
    assert len(fixing) == 300 and sorted([*fixing, *measuring]) == list(range(601))
    assert split_benign(range(601), 0.01, 0)[0] == fixing != split_benign(range(601), 0.01, 1)[0]


@pytest.mark.parametrize("rate", [0.01, 0.05, 0.1])
def test_at_most_the_rate_is_flagged_and_a_lower_threshold_flags_more(rate: float) -> None:
    rng = Random(3)
    for scores in (
        [rng.random() ** 4 for _ in range(700)],
        [rng.randrange(50) / 50 for _ in "a" * 700],
    ):
        point = fix_threshold(scores, rate)
        assert point.flagged == sum(s >= point.threshold for s in scores) <= rate * len(scores)
        lower = max(s for s in scores if s < point.threshold)
        assert sum(s >= lower for s in scores) > rate * len(scores)
        assert point.low <= point.threshold <= point.high


def test_the_interval_of_the_threshold_covers_the_quantile() -> None:
    rng, covered = Random(1), 0
    for _ in range(400):
        point = fix_threshold([rng.random() for _ in range(300)], 0.05)
        covered += point.low <= 0.95 <= point.high
    assert 0.93 <= covered / 400 <= 0.99


def test_scores_that_leave_no_threshold_are_refused() -> None:
    with pytest.raises(UsageError, match=r"gives 2.0% of the benign texts a score of 1"):
        fix_threshold([1.0] * 2 + [0.1] * 98, 0.01)
    point = fix_threshold([0.999] * 2 + [0.1] * 98, 0.01)
    assert 0.999 < point.threshold <= 1.0 and point.flagged == 0


def test_labels_have_a_decision_of_their_own() -> None:
    assert not has_scores([0.0, 1.0]) and has_scores([0.0, 0.2])
    point = own_decision([0.0, 1.0, 0.0, 0.0])
    assert (point.threshold, point.by, point.flagged, point.of) == (0.5, "labels", 1, 4)
