from __future__ import annotations

from dataclasses import replace

import pytest

from brittle.metrics import contrast, mcnemar_exact, paired, paired_interval
from brittle.metrics.samples import sample_results


def test_runs_are_compared_case_by_case() -> None:
    a = sample_results()
    b = [replace(r, status="held") if r.case in ("a1", "a2") else r for r in a]
    b = [replace(r, status="broken") if r.case == "a5" else r for r in b[:-1]]
    compared = paired(a, b)
    assert compared.shared == 7
    broken = compared.success
    assert (broken.of, broken.both, broken.only_a, broken.only_b, broken.neither) == (5, 1, 2, 1, 1)
    assert broken.difference == (2 - 3) / 5
    assert broken.p == mcnemar_exact(2, 1)
    right = compared.accuracy
    assert (right.of, right.both, right.only_a, right.only_b, right.neither) == (7, 2, 1, 2, 2)
    assert right.difference == 1 / 7
    assert right.low is not None and right.high is not None
    assert right.low <= right.difference <= right.high


def test_only_cases_attacked_in_both_count_for_success() -> None:
    a = sample_results()
    b = [replace(r, status="skipped", predicted="other") for r in a]
    compared = paired(a, b)
    assert compared.success.of == 0
    assert compared.success.difference is None
    assert compared.accuracy.of == 7
    assert compared.accuracy.only_b == 0


def test_runs_over_other_cases_share_nothing() -> None:
    b = [replace(r, case=f"b{r.case}") for r in sample_results()]
    compared = paired(sample_results(), b)
    assert compared.shared == 0
    assert (compared.accuracy.difference, compared.accuracy.p) == (None, 1.0)


def test_a_run_equals_itself_as_far_as_so_few_cases_can_tell() -> None:
    same = paired(sample_results(), sample_results()).accuracy
    assert (same.difference, same.p) == (0.0, 1.0)
    assert same.low is not None and same.high is not None
    assert same.low == pytest.approx(-same.high) and 0.1 < same.high < 0.4
    many = contrast([(True, True), (False, False)] * 2000)
    assert many.high is not None and 0 < many.high < 0.001


def test_the_originals_are_compared_as_well() -> None:
    a = sample_results()
    b = [replace(r, predicted=r.label, status="held") if r.case == "a6" else r for r in a]
    b = [replace(r, predicted="other", status="skipped") if r.case < "a3" else r for r in b]
    before = paired(a, b).before
    assert (before.of, before.both, before.only_a, before.only_b) == (7, 4, 2, 1)
    assert before.difference == (5 - 6) / 7
    assert (before.low, before.high) == paired_interval(4, 2, 1, 0)
    assert paired(a, b).success.of == 3


def test_a_clear_difference_is_clear() -> None:
    compared = contrast([(False, True)] * 30 + [(True, True)] * 70)
    assert compared.p < 1e-8
    assert compared.low is not None and compared.low > 0.2
