from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brittle.metrics import Bin, histogram, words_histogram
from brittle.metrics.samples import sample_results


def test_every_number_has_a_bin_of_its_own_while_there_is_room() -> None:
    counted = histogram([1, 3, 3, 5])
    assert counted.bins == (Bin(1, 1, 1), Bin(2, 2, 0), Bin(3, 3, 2), Bin(4, 4, 0), Bin(5, 5, 1))
    assert (counted.of, counted.width) == (4, 1)


def test_bins_begin_at_1_or_at_0() -> None:
    assert histogram([4, 4]).bins[0] == Bin(1, 1, 0)
    assert histogram([0, 2]).bins == (Bin(0, 0, 1), Bin(1, 1, 0), Bin(2, 2, 1))


@pytest.mark.parametrize(
    ("highest", "max_bins", "width", "count"),
    [(40, 40, 1, 40), (41, 40, 2, 21), (81, 40, 5, 17), (200, 40, 5, 40), (201, 40, 10, 21)],
)
def test_wide_ranges_have_wide_bins(highest: int, max_bins: int, width: int, count: int) -> None:
    counted = histogram([1, highest], max_bins)
    assert (counted.width, len(counted.bins)) == (width, count)
    assert counted.bins[-1].low <= highest <= counted.bins[-1].high


@given(st.lists(st.integers(0, 5000), min_size=1), st.integers(1, 50))
def test_every_value_is_counted_in_its_bin(values: list[int], max_bins: int) -> None:
    counted = histogram(values, max_bins)
    assert len(counted.bins) <= max_bins
    for b in counted.bins:
        assert b.count == sum(b.low <= value <= b.high for value in values)
    assert sum(b.count for b in counted.bins) == counted.of == len(values)
    assert {b.high - b.low + 1 for b in counted.bins} == {counted.width}


def test_only_broken_cases_count() -> None:
    counted = words_histogram(sample_results())
    assert counted.bins == (Bin(1, 1, 2), Bin(2, 2, 1))
    assert words_histogram(sample_results()[3:]).bins == ()
