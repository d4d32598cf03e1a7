import pytest

from brittle.data import Dataset, Example, case_ids
from brittle.errors import UsageError

NUMBERS = Dataset("numbers", "all", tuple(Example.of(str(i), "x") for i in range(50)), ("x",))


def test_larger_limits_extend_smaller_ones() -> None:
    largest = NUMBERS.take(50, seed=3).examples
    for limit in range(1, 50):
        assert NUMBERS.take(limit, seed=3).examples == largest[:limit]
    assert set(largest) == set(NUMBERS.examples)
    assert largest != NUMBERS.examples


def test_a_limit_beyond_the_end_takes_everything() -> None:
    assert NUMBERS.take(1000, seed=3) == NUMBERS.take(50, seed=3)


def test_no_limit_keeps_the_order() -> None:
    assert NUMBERS.take(None, seed=3) is NUMBERS


def test_the_seed_decides_which_examples_are_taken() -> None:
    assert NUMBERS.take(10, seed=0) == NUMBERS.take(10, seed=0)
    assert NUMBERS.take(10, seed=0) != NUMBERS.take(10, seed=1)


def test_the_permutation_is_fixed_for_good() -> None:
    taken = [example.fields[0][1] for example in NUMBERS.take(5, seed=0)]
    assert taken == ["36", "5", "9", "21", "43"]


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_refused(limit: int) -> None:
    with pytest.raises(UsageError, match="Expected at least 1"):
        NUMBERS.take(limit)


def test_repeats_have_the_same_ids_under_a_larger_limit() -> None:
    repeats = Dataset("same", "all", tuple(Example.of(str(i % 3)) for i in range(12)))
    small, large = (case_ids(repeats.take(limit)) for limit in (5, 12))
    assert large[:5] == small
    assert set(large) == set(case_ids(repeats))


def test_the_fingerprint_follows_content_order_and_locks() -> None:
    pair = {"a": "x", "b": "y"}
    several = [
        (Example.of("a"), Example.of("b")),
        (Example.of("b"), Example.of("a")),
        (Example.of("a"), Example.of("b", "x")),
        (Example.of(pair),),
        (Example.of(pair, locked=["a"]),),
    ]
    prints = [Dataset("n", "all", examples).fingerprint for examples in several]
    assert len(set(prints)) == len(prints)
    assert Dataset("other", "test", several[0]).fingerprint == prints[0]


def test_it_has_a_length_and_iterates() -> None:
    assert len(NUMBERS) == 50
    assert list(NUMBERS) == list(NUMBERS.examples)
