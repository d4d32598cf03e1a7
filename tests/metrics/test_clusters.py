"""Rows of one text are not independent: intervals are those of texts, however often each is."""

from __future__ import annotations

import pytest

from brittle.metrics.summary import mean_by_text, rate, rate_by_text

OUTCOMES = [(f"c{n}", n % 3 == 0) for n in range(60)]


def test_texts_that_are_there_once_have_wilsons_interval() -> None:
    assert rate_by_text(OUTCOMES, "texts") == rate(20, 60, "texts")


def test_copies_of_the_same_texts_make_no_interval_narrower() -> None:
    once, often = rate_by_text(OUTCOMES, "texts"), rate_by_text(OUTCOMES * 25, "texts")
    assert often.value == once.value and (often.count, often.of) == (500, 1500)
    assert None not in (once.low, once.high, often.low, often.high)
    naive = rate(500, 1500, "texts")
    width = (often.high or 0) - (often.low or 0)
    assert width == pytest.approx((once.high or 0) - (once.low or 0), rel=0.1)
    assert width > 3 * ((naive.high or 0) - (naive.low or 0))


def test_texts_with_more_rows_weigh_more() -> None:
    figure = mean_by_text([("a", 1.0), ("a", 0.0), ("a", 0.0), ("b", 1.0)], "rows")
    assert figure.value == 0.5 and figure.of == 4
    assert (figure.low, figure.high) == (pytest.approx(1 / 3), 1.0)
    assert mean_by_text([], "rows").value is None
