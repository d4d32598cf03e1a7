from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brittle.metrics import Bin, histogram, words_histogram
from brittle.metrics.samples import sample_results


def test_every_number_has_a_bin_of_its_own_while_there_is_room() -> None:
    found = histogram([1, 3, 3, 5])
    assert found.bins == (Bin(1, 1, 1), Bin(2, 2, 0), Bin(3, 3, 2), Bin(4, 4, 0), Bin(5, 5, 1))
    assert (found.of, found.width) == (4, 1)


def test_bins_begin_at_1_or_at_0() -> None:
    assert histogram([4, 4]).bins[0] == Bin(1, 1, 0)
    assert histogram([0, 2]).bins == (Bin(0, 0, 1), Bin(1, 1, 0), Bin(2, 2, 1))


@pytest.mark.parametrize(
    ("highest", "most", "width", "count"),
    [(40, 40, 1, 40), (41, 40, 2, 21), (81, 40, 5, 17), (200, 40, 5, 40), (201, 40, 10, 21)],
)
def test_wide_ranges_have_wide_bins(highest: int, most: int, width: int, count: int) -> None:
    found = histogram([1, highest], most)
    assert (found.width, len(found.bins)) == (width, count)
    assert found.bins[-1].low <= highest <= found.bins[-1].high


@given(st.lists(st.integers(0, 5000), min_size=1), st.integers(1, 50))
def test_every_value_is_counted_in_its_bin(values: list[int], most: int) -> None:
    found = histogram(values, most)
    assert len(found.bins) <= most
    for b in found.bins:
        assert b.count == sum(b.low <= value <= b.high for value in values)
    assert sum(b.count for b in found.bins) == found.of == len(values)
    assert {b.high - b.low + 1 for b in found.bins} == {found.width}


def test_only_won_cases_count() -> None:
    found = words_histogram(sample_results())
    assert found.bins == (Bin(1, 1, 2), Bin(2, 2, 1))
    assert words_histogram(sample_results()[3:]).bins == ()
