"""Validity, valid success and judges: by hand, at the edges, and against simulated studies."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from brittle.errors import UsageError
from brittle.metrics import (
    Calibration,
    Figure,
    poststratified,
    product_of_rates,
    rate,
    rate_of_shares,
    rogan_gladen,
    wilson,
)

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "validity_simulation.py"
SLOW = pytest.mark.slow


def simulation() -> ModuleType:
    spec = importlib.util.spec_from_file_location("validity_simulation", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["validity_simulation"] = module  # for its dataclasses
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("number", [0, 10, *(pytest.param(n, marks=SLOW) for n in (14, 21))])
def test_the_intervals_cover_the_truth(number: int) -> None:
    module = simulation()
    study = module.STUDIES[number]
    covered = module.coverage(study, 250, seed=number + 1)
    # 250 studies: three standard deviations of a share of 95% are four points.
    for name in ("validity_covered", "valid_success_covered"):
        assert 0.905 <= covered[name] <= 0.99, (study, covered)


def test_an_interval_that_forgets_one_sample_fails_the_same_simulation() -> None:
    module = simulation()
    study = module.Study(40, 0.5, 30, 0.9)
    rng = np.random.default_rng(5)
    both = [module.estimates(study, rng) for _ in range(400)]
    truth = study.success * study.validity
    covers = [valid.low <= truth <= valid.high for _, valid in both]
    success = [valid.value / validity.value for validity, valid in both]
    forgets = [v.low * s <= truth <= v.high * s for (v, _), s in zip(both, success)]
    assert np.mean(covers) > 0.92 and np.mean(forgets) < 0.85


def test_plain_shares_are_a_plain_rate() -> None:
    figure = rate_of_shares([1, 0, 0, 1, 1], "read")
    assert (figure.value, figure.count, figure.of) == (0.6, 3, 5)
    assert (figure.low, figure.high) == wilson(3, 5)
    assert rate_of_shares([], "read") == Figure(None, None, None, None, 0, "read")


def test_people_who_agree_add_nothing_and_people_who_do_not_add_less_than_items() -> None:
    agreed = rate_of_shares([1.0] * 30 + [0.0] * 30, "read")
    divided = rate_of_shares([1.0] * 20 + [0.5] * 20 + [0.0] * 20, "read")
    more = rate_of_shares([1.0] * 60 + [0.0] * 60, "read")
    widths = [figure.high - figure.low for figure in (agreed, divided, more)]  # type: ignore[operator]
    assert agreed.value == divided.value == more.value == 0.5
    assert widths[0] > widths[1] > widths[2]


def test_nobody_and_everybody() -> None:
    none, all_of_them = rate_of_shares([0.0] * 20, "read"), rate_of_shares([1.0] * 20, "read")
    assert (none.low, none.high) == wilson(0, 20) and (all_of_them.low, all_of_them.high) == wilson(
        20, 20
    )
    product = product_of_rates(rate(10, 20, "attacked"), none, "attacked")
    assert product.value == product.low == 0 and product.high is not None and product.high > 0.05


def test_a_product_with_a_rate_that_is_certain_has_the_other_s_interval() -> None:
    certain = Figure(1.0, 1.0, 1.0, None, 10, "attacked")
    validity = rate(9, 46, "read")
    product = product_of_rates(certain, validity, "attacked")
    assert product.value == validity.value
    assert product.low == pytest.approx(validity.low) and product.high == pytest.approx(
        validity.high
    )


def test_rogan_gladen_by_hand() -> None:
    people = (1.0,) * 50 + (0.0,) * 50
    judge = (True,) * 45 + (False,) * 5 + (False,) * 40 + (True,) * 10
    # Sensitivity 0.9, specificity 0.8: (0.38 + 0.8 − 1) / (0.9 + 0.8 − 1).
    figure = rogan_gladen(Calibration(people, judge), 38, 100, "judged")
    assert figure.value == pytest.approx(0.18 / 0.7)
    below = rogan_gladen(Calibration(people, judge), 10, 100, "judged")
    assert below.value == 0 and below.low == 0 and below.high is not None and below.high < 0.2


def test_a_judge_no_better_than_chance_gives_no_figure() -> None:
    calibration = Calibration((1.0, 1.0, 0.0, 0.0), (True, False, True, False))
    with pytest.raises(UsageError, match=r"no better than chance.*have people read"):
        rogan_gladen(calibration, 10, 20, "judged")
    only_valid = Calibration((1.0, 1.0), (True, True))
    assert rogan_gladen(only_valid, 10, 20, "judged").value is None
    with pytest.raises(UsageError, match="one answer of each"):
        Calibration((1.0,), ())


def test_poststratified_by_hand_and_with_a_judge_that_guesses() -> None:
    people = (1.0,) * 8 + (0.0,) * 2 + (1.0,) * 1 + (0.0,) * 9
    judge = (True,) * 10 + (False,) * 10
    figure = poststratified(Calibration(people, judge), 60, 100, "judged")
    assert figure.value == pytest.approx(0.6 * 0.8 + 0.4 * 0.1)
    guessing = Calibration((1.0, 0.0) * 30, (True, True, False, False) * 15)
    plain = rate_of_shares(guessing.people, "read")
    guessed = poststratified(guessing, 250, 500, "judged")
    assert guessed.value == plain.value == 0.5
    assert guessed.high - guessed.low == pytest.approx(plain.high - plain.low, rel=0.08)  # type: ignore[operator]
    perfect = Calibration((1.0, 0.0) * 30, (True, False) * 30)
    sure = poststratified(perfect, 250, 500, "judged")
    assert sure.high - sure.low < 0.6 * (plain.high - plain.low)  # type: ignore[operator]


def test_a_verdict_that_nobody_read_leaves_it_open() -> None:
    calibration = Calibration((1.0,) * 10, (True,) * 10)
    figure = poststratified(calibration, 50, 100, "judged")
    assert figure.low is not None and figure.high is not None
    assert figure.low < 0.55 and figure.high > 0.9
    assert poststratified(Calibration((), ()), 5, 10, "judged").value is None
