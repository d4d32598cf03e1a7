from __future__ import annotations

from dataclasses import replace
from random import Random

from brittle.metrics.samples import sample_results
from brittle.metrics.summary import robust_to_words
from brittle.results import Result


def test_bounds_by_hand() -> None:
    broken, _, _, held, budget, wrong, empty, error = sample_results()
    bare = replace(wrong, case="n", reason="no candidates", predicted=wrong.label)
    rows = [
        replace(broken, case="1"),  # broken with one word
        replace(broken, case="2", words_changed=2, proved_words=1, single_swaps=2),
        replace(broken, case="3", words_changed=3, proved_words=0, single_swaps=90),  # one suffices
        replace(broken, case="4", words_changed=3),  # nothing is known of one or two words
        replace(held, case="5", proved_words=2, status="proved", single_swaps=3),
        replace(held, case="6", proved_words=1, single_swaps=7),
        replace(budget, case="7"),
        replace(wrong, case="8"),
        replace(empty, case="9"),
        replace(bare, case="10"),
        error,
    ]
    one, two = robust_to_words(rows)
    # Proved: 2, 5, 6; open besides: 4 and 7. With two words 2 and 6 are no longer proved, and 2 is
    # broken. The two texts without a word to swap (9 and 10) are in none of the rates.
    assert (one.words, one.proved.count, one.unbroken.count, one.unknown) == (1, 3, 5, 2)
    assert (two.words, two.proved.count, two.unbroken.count, two.unknown) == (2, 1, 4, 3)
    assert one.proved.of == two.unbroken.of == 7 and one.untested == two.untested == 2
    assert one.proved.over == "attacked cases"
    assert (one.single_swaps.value, one.single_swaps.of) == (4.0, 3)  # of 2, 5 and 6


def test_nothing_is_said_where_nothing_was_noted() -> None:
    assert robust_to_words(sample_results()) == robust_to_words([]) == []
    zero = [replace(row, proved_words=0) for row in sample_results()]
    assert robust_to_words(zero) == []


def test_the_proved_are_among_those_that_are_not_broken() -> None:
    """Whatever a search notes truly: random rows of which the truth is known."""
    random = Random(0)
    for _ in range(200):
        rows: list[Result] = []
        for n in range(12):
            needed = random.choice((1, 2, 3, None))  # the fewest words that break the case
            noted = random.choice((None, random.randint(0, 3)))
            if noted is not None:
                noted = min(noted, 3 if needed is None else needed - 1)
            breaks = needed is not None and random.random() < 0.5
            row = sample_results()[0 if breaks else 3]
            if noted == 0 and needed != 1:
                noted = None
            changed = max(needed or 0, random.randint(1, 4))
            rows.append(replace(row, case=str(n), proved_words=noted, words_changed=changed))
        for bounds in robust_to_words(rows):
            assert bounds.proved.count is not None and bounds.unbroken.count is not None
            assert bounds.proved.count <= bounds.unbroken.count
