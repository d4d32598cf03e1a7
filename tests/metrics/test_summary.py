from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest

from brittle.metrics import summary, wilson
from brittle.metrics.samples import sample_results
from brittle.results import Step


def test_every_figure_has_its_denominator() -> None:
    s = summary(sample_results(), planned=8)
    # a8 failed: it has no say in accuracy; a6 was wrong before; a1, a2, a3 are broken.
    assert (s.before.count, s.before.of, s.before.over) == (6, 7, "examples answered")
    assert (s.after.count, s.after.of, s.after.over) == (3, 7, "examples answered")
    assert (s.success.count, s.success.of, s.success.over) == (3, 5, "attacked cases")
    assert (s.queries.value, s.queries.of) == ((24 + 31 + 18 + 40 + 50) / 5, 5)
    assert (s.words.value, s.words.of, s.words.over) == (4 / 3, 3, "broken cases")
    assert s.share.value == pytest.approx((1 / 5 + 2 / 4 + 1 / 4) / 3)
    assert (s.success.low, s.success.high) == wilson(3, 5)
    assert s.complete


def test_statuses_and_reasons_are_counted() -> None:
    s = summary(sample_results())
    assert s.statuses == {
        "broken": 3,
        "held": 1,
        "proved": 0,
        "skipped": 2,
        "out of budget": 1,
        "unconfirmed": 0,
        "error": 1,
        "refused": 0,
        "unparsed": 0,
    }
    assert s.reasons["skipped"] == {"already wrong": 1, "nothing to edit": 1}
    assert s.reasons["error"] == {"TimeoutError: no answer in 30 s": 1}
    assert sum(s.statuses.values()) == s.cases == s.planned


def test_held_cases_count_as_right_and_broken_ones_as_wrong() -> None:
    broken, held = sample_results()[0], sample_results()[3]
    for status in ("held", "out of budget", "unconfirmed"):
        assert summary([replace(held, status=status)]).after.value == 1
    assert summary([broken]).after.value == 0
    already_there = replace(held, status="skipped", reason="already of the class aimed at")
    assert summary([already_there]).after.value == 1
    assert summary([replace(already_there, predicted="negative")]).after.value == 0


@pytest.mark.parametrize("reason", ["no candidates", "too long (above 5000)"])
def test_what_could_not_be_attacked_is_named(reason: str) -> None:
    broken, held = sample_results()[0], sample_results()[3]
    untouched = replace(held, status="skipped", reason=reason)
    s = summary([broken, untouched, untouched])
    # Accuracy before is the same whatever the attack can do; what is not known stands beside it.
    assert (s.before.count, s.before.of, s.after.count, s.after.of) == (3, 3, 2, 3)
    assert s.before.over == "examples answered"
    assert s.after.over == "examples answered" and s.untouched == 2
    assert (s.success.count, s.success.of) == (1, 1)
    # An example that was wrong before is known to be wrong, whatever else holds.
    s = summary([broken, replace(untouched, predicted="negative")])
    assert (s.before.count, s.before.of, s.after.count) == (1, 2, 0)
    assert s.after.over == "examples answered"


def test_a_case_that_failed_half_way_is_left_out_of_both_accuracies() -> None:
    half_way = replace(sample_results()[3], status="error", reason="boom")
    s = summary([half_way, sample_results()[0]])
    assert (s.before.count, s.before.of) == (1, 1)
    assert (s.after.count, s.after.of) == (0, 1)
    assert s.success.of == 1


def test_nothing_has_no_value_but_keeps_its_names() -> None:
    s = summary([], planned=100)
    assert not s.complete
    for figure in (s.before, s.after, s.success, s.queries, s.words, s.share):
        assert (figure.value, figure.low, figure.high, figure.of) == (None, None, None, 0)
        assert figure.over
    json.dumps(asdict(s), allow_nan=False)


def test_all_skipped_has_accuracy_but_no_success() -> None:
    s = summary([r for r in sample_results() if r.status == "skipped"])
    assert s.before.of == 2
    assert s.success.value is None


def test_a_winner_without_words_has_no_share() -> None:
    inserted = replace(sample_results()[0], words=0, words_changed=1)
    s = summary([inserted])
    assert s.words.value == 1
    assert s.share.value is None


def test_the_order_of_rows_changes_nothing() -> None:
    assert summary(sample_results()) == summary(sample_results()[::-1])


def test_by_label_a_case_that_was_driven_away_is_wrong_though_it_held() -> None:
    rows = sample_results()
    held, spent = rows[3], rows[4]
    assert summary(rows).after == summary(rows).after_by_label
    moved = [replace(r, adversarial_label="other") if r is held else r for r in rows]
    assert summary(moved).after.count == summary(rows).after.count
    assert summary(moved).after_by_label.count == summary(rows).after.count - 1
    step = Step(spent.case, 3, 0.5, "other", 0.5, ())
    assert summary(moved, steps=[step]).after_by_label.count == summary(rows).after.count - 2
    unconfirmed = [replace(r, status="unconfirmed") if r.case == held.case else r for r in moved]
    assert summary(unconfirmed).after_by_label == summary(rows).after


def test_by_label_a_broken_case_that_kept_its_label_is_right() -> None:
    rows = sample_results()
    kept = [replace(r, adversarial_label=r.label) if r is rows[0] else r for r in rows]
    assert summary(kept).after == summary(rows).after
    assert summary(kept).after_by_label.count == summary(rows).after.count + 1
    on_the_way = Step(rows[0].case, 3, 0.5, "other", 0.5, ())
    assert summary(kept, steps=[on_the_way]).after_by_label == summary(rows).after


def test_by_label_a_wrong_original_that_was_driven_to_its_label_is_right() -> None:
    rows = sample_results()
    first = replace(rows[0], predicted="other", adversarial_label=rows[0].label)
    steps = [Step(first.case, 1, 0.1, "other", 0.9, ()), Step(first.case, 5, 0.4, "other", 0.6, ())]
    driven = [first, *rows[1:]]
    assert summary(driven).before.count == summary(rows).before.count - 1
    assert summary(driven, steps=steps).after_by_label.count == summary(rows).after.count + 1
    still = [replace(first, adversarial_label="other"), *rows[1:]]
    assert summary(still, steps=steps).after_by_label == summary(rows).after
    untold = [replace(first, status="unconfirmed"), *rows[1:]]
    assert summary(untold, steps=steps).after_by_label == summary(rows).after
