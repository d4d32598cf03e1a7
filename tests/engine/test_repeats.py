"""Items that are asked several times: each answer is sent, kept and counted by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from brittle.asks import ANSWER
from brittle.engine.broker import Broker
from brittle.engine.desks import Desk
from brittle.errors import LimitReached, TargetError
from brittle.text import Text


class Kept:
    """A journal in memory; `tokens` are all that answers took."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, bytes], Any] = {}
        self.tokens: list[tuple[int, int]] = []

    def find(self, question: str, keys: Sequence[bytes]) -> dict[bytes, Any]:
        return {key: self.rows[question, key] for key in keys if (question, key) in self.rows}

    def keep(self, question: str, answers: Any, tokens: tuple[int, int] = (0, 0)) -> None:
        self.rows |= {(question, key): payload for key, payload in answers}
        self.tokens.append(tokens)


def broker(compute: Any, journal: Kept, **settings: Any) -> Broker:
    about: dict[str, Any] = {"repeats": 3, "join": sum, "spent": lambda: (10, 1)}
    desk = Desk(compute, batch=1, costly=True, counted=True, **about)
    return Broker({ANSWER: desk}, journal=journal, **settings)


ITEMS = [Text.of("a"), Text.of("b " * 300)]


def test_every_repeat_is_journalled_and_counted_and_no_answer_is_asked_for_again() -> None:
    calls: list[str] = []

    def compute(items: Sequence[Any]) -> list[int]:
        calls.extend(str(item)[0] for item in items)
        return [len(calls)]

    journal = Kept()
    first = broker(compute, journal)
    payloads, failures = first.answer(ANSWER, ITEMS)
    assert sorted(calls) == list("aaabbb") and sum(payloads) == 21 and not failures
    assert (first.totals.sent, len(journal.rows)) == (6, 6)
    assert (first.totals.tokens_read, first.totals.tokens_written) == (60, 6)
    lost = next(iter(journal.rows))
    del journal.rows[lost]  # as a kill between two repeats would leave it
    assert broker(compute, journal).answer(ANSWER, ITEMS)[1] == {}
    assert len(calls) == 7
    assert broker(compute, journal).answer(ANSWER, ITEMS)[1] == {} and len(calls) == 7
    first.close()


def test_one_failing_repeat_fails_the_item_alone() -> None:
    count = 0

    def compute(items: Sequence[Any]) -> list[int]:
        nonlocal count
        count += 1
        if count == 2:
            raise TargetError("no")
        return [1]

    asker = broker(compute, Kept())
    payloads, failures = asker.answer(ANSWER, ITEMS)
    assert payloads == [None, 3] and list(failures) == [0]
    asker.close()


def test_nothing_is_sent_after_the_limit_of_tokens_and_what_was_answered_is_kept() -> None:
    journal = Kept()
    asker = broker(lambda items: [1], journal, most_tokens=30)
    with pytest.raises(LimitReached, match="--max-tokens") as caught:
        asker.answer(ANSWER, ITEMS)
    assert caught.value.flag == "--max-tokens"
    assert (asker.totals.sent, len(journal.rows), asker.totals.tokens) == (3, 3, 33)
    asker.close()
