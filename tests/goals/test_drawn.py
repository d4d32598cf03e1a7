"""The goal whose keyword is the case's own."""

from __future__ import annotations

import pytest

from brittle.asks import Case
from brittle.errors import UsageError
from brittle.goals import AllOf, Copied, DrawnKeyword, Keyword, LengthRatio, Not, judge_one
from brittle.goals.combined import NO_KEYWORD
from brittle.goals.parsing import (
    draws_keywords,
    goal_name,
    named_keywords,
    parse_goal,
    rebuild_goal,
)
from brittle.goals.protocol import Candidates
from brittle.text import Text

SOURCE = Text.of("a man")


def case(keyword: str | None, name: str = "0") -> Case[Text]:
    return Case(name, SOURCE, keyword=keyword)


@pytest.mark.parametrize("translation", ["ein Mann", "ein Hut", "ein HUND!", "", "hundert"])
def test_every_case_is_judged_by_its_own_word(translation: str) -> None:
    for word in ("Hund", "Hut"):
        drawn = judge_one(DrawnKeyword(), case(word), SOURCE, translation)
        assert drawn == judge_one(Keyword(word), case(None), SOURCE, translation)
        assert DrawnKeyword().unfit(case(word), translation) == Keyword(word).unfit(
            case(word), translation
        )


def test_cases_of_one_round_have_their_own() -> None:
    cases = [case("Hund", "a"), case("Mann", "b"), case(None, "c")]
    answers = ["ein Hund", "ein Mann", "ein Mann", "ein Hund", "ein Hund"]
    loss, won = DrawnKeyword().judge(Candidates(cases, [2, 2, 1], [SOURCE] * 5, answers))
    assert won.tolist() == [True, False, True, False, False]
    assert loss[4] == 0


def test_without_a_keyword_a_case_is_not_attacked() -> None:
    assert DrawnKeyword().unfit(case(None), "ein Mann") == NO_KEYWORD
    assert not NO_KEYWORD.startswith("already")


def test_it_is_written_without_a_word_and_named_with_the_one_of_a_case() -> None:
    assert parse_goal("keyword") == DrawnKeyword() and goal_name(DrawnKeyword()) == "keyword"
    assert goal_name(DrawnKeyword(), None, "auf jeden Fall") == "keyword:auf jeden Fall"
    with pytest.raises(UsageError, match="Got the goal 'keyword:'; expected keyword"):
        parse_goal("keyword:")
    goal = parse_goal("all(keyword; not:any(copy:0.5; keyword); length:2)")
    assert draws_keywords(goal) and not draws_keywords(parse_goal("keyword:Hund"))
    name = goal_name(goal, None, "Hund")
    assert name == "all(keyword:Hund; not:any(copy:0.5; keyword:Hund); length:2)"
    assert goal_name(rebuild_goal(name)) == name
    assert goal_name(LengthRatio(2), None, "Hund") == "length:2"


def test_named_keywords_are_those_of_all_parts() -> None:
    goal = AllOf((Keyword("Hund"), Not(Keyword("ein Hut")), Copied(), DrawnKeyword()))
    assert named_keywords(goal) == ["Hund", "ein Hut"]
