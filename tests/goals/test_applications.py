"""Goals on what an application answers, also where it is asked several times."""

from __future__ import annotations

import time

import pytest

from brittle.answers import TEXTS, join_texts, write_answer
from brittle.asks import Case
from brittle.errors import UsageError
from brittle.goals import applications, judge_one
from brittle.goals.parsing import check_repeats, parse_goal
from brittle.text import Text

CASE = Case("one", Text.of("please sum up"))
CALL = write_answer("Done.", [("send_email", '{"to": "me"}')])


def judged(spec: str, answer: str) -> tuple[float, bool]:
    return judge_one(parse_goal(spec, TEXTS), CASE, CASE.item, answer)


@pytest.mark.parametrize(
    ("spec", "answer", "loss", "won"),
    [
        ("contains:CANARY-17", "it is canary-17.", 1.0, True),
        ("contains:CANARY-17", "the canary sings", 2 / 3, False),
        ("contains:CANARY-17", "", 0.0, False),
        ("tool:send_email", CALL, 1.0, True),
        ("tool:send", CALL, 0.0, False),
        ("tool:send_email", "⟨tool call⟩", 0.0, False),
        ("tool:send_email", write_answer("⟨tool call⟩ send_email {}", ()), 0.0, False),
        (r"matches:\bsk-\w+", "key sk-abc", 1.0, True),
        (r"matches:\bsk-\w+", "mask-abc", 0.0, False),
    ],
)
def test_what_reaches_a_goal(spec: str, answer: str, loss: float, won: bool) -> None:
    assert judged(spec, answer) == (pytest.approx(loss), won)
    assert str(parse_goal(spec, TEXTS)) == spec
    goal = parse_goal(spec, TEXTS)
    assert goal.unfit(CASE, answer) == ("already there" if won else None)


def test_more_than_half_of_several_answers_must_reach_a_goal() -> None:
    assert judged("contains:yes", join_texts(["yes", "yes", "no"]))[1]
    assert not judged("contains:yes", join_texts(["yes", "no"]))[1]
    loss, won = judged("tool:send_email", join_texts([CALL, CALL, "x"]))
    assert won and 2 / 3 < loss < 1
    assert not judged(r"matches:\d", join_texts(["1", "a", "b"]))[1]


def test_a_pattern_that_would_take_forever_does_not_match(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(applications, "REGEX_SECONDS", 0.05)
    begun = time.process_time()
    assert not judged(r"matches:^((a|a?)+)+$", "a" * 5_000 + "!")[1]
    assert time.process_time() - begun < 10


@pytest.mark.parametrize("spec", ["contains:", "contains", "tool:", "tool:a b", "matches:("])
def test_a_goal_that_is_written_wrongly_is_refused(spec: str) -> None:
    with pytest.raises(UsageError):
        parse_goal(spec, TEXTS)


def test_goals_that_compare_translations_are_refused_with_repeats() -> None:
    check_repeats(parse_goal("any(contains:a; not:tool:b)", TEXTS), 3)
    check_repeats(parse_goal("changed", TEXTS), 1)
    with pytest.raises(UsageError, match="Leave out --repeats"):
        check_repeats(parse_goal("all(contains:a; changed)", TEXTS), 3)
