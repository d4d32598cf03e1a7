"""Which case goes to which worker, by hand."""

from __future__ import annotations

from random import Random

import pytest

from brittle.asks import Case
from brittle.runs.workers.driver import LEAST_SHARE, Dealing
from brittle.text import Text


def dealing(count: int, workers: int) -> Dealing:
    cases = (Case(str(n), Text.of("a film")) for n in range(count))
    return Dealing(cases, count, workers)


def test_a_worker_holds_half_of_its_share_and_gets_more_as_it_finishes() -> None:
    deal = dealing(100, 2)
    first = deal.deal(1, 1000, False)
    assert len(first) == 25 and deal.deal(1, 8, False) == []
    for case in first[:20]:
        deal.finish(1, case.id)
    assert len(deal.deal(1, 1000, False)) == 15  # 80 are unfinished, 20 of them are its half share
    assert len(deal.deal(2, 3, False)) == 3 and deal.has_more


@pytest.mark.parametrize(("count", "workers"), [(1, 1), (7, 3), (200, 2), (1000, 7)])
def test_every_case_is_dealt_once_and_the_last_ones_are_shared_out(
    count: int, workers: int
) -> None:
    rng, deal = Random(0), dealing(count, workers)
    held: dict[int, list[str]] = {n: [] for n in range(workers)}
    seen: list[str] = []
    while deal.unfinished:
        number = rng.randrange(workers)
        if held[number] and rng.random() < 0.7:
            deal.finish(number, held[number].pop())
            continue
        cases = deal.deal(number, 8, not held[number])
        held[number] += [case.id for case in cases]
        seen += [case.id for case in cases]
        # However slow the others are, nobody holds more than half a share of what is left.
        share = max(LEAST_SHARE, -(-deal.unfinished // (2 * workers)))
        assert not cases or len(held[number]) <= share
    assert sorted(seen, key=int) == [str(n) for n in range(count)]


def test_the_case_that_kills_its_workers_is_found_and_all_others_are_finished() -> None:
    deal, killer, deaths, finished, guilty = dealing(60, 2), "13", 0, set(), []
    number = 0
    while deal.unfinished:
        number = 1 - number
        cases = [case.id for case in deal.deal(number, 8, True)]
        if killer in cases:
            deaths += 1
            guilty += [case.id for case in deal.take_back(number)]
            continue
        for case in cases:
            deal.finish(number, case)
        assert not finished & set(cases)
        finished |= set(cases)
    assert guilty == [killer] and deaths == 3
    assert finished == {str(n) for n in range(60)} - {killer}


def test_a_worker_that_is_killed_from_outside_loses_nothing() -> None:
    deal = dealing(6, 2)
    lost = {case.id for case in deal.deal(1, 4, True)}
    others = {case.id for case in deal.deal(2, 4, True)}
    assert deal.take_back(1) == [] and deal.unfinished == 6
    assert deal.deal(2, 8, False) == []  # suspects only go to workers with nothing else
    for case in others:
        deal.finish(2, case)
    again = {case.id for case in deal.deal(2, 1, True)}
    assert again == lost
