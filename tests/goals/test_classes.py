"""Goals judge many rows at once, with each row's own label."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from brittle.asks import Case
from brittle.errors import UsageError
from brittle.goals import (
    AllOf,
    AnyOf,
    Below,
    Candidates,
    Confident,
    Measured,
    Not,
    Targeted,
    Untargeted,
)

SCORES = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.4, 0.4, 0.2]])
CANDIDATES = Candidates(
    [Case("a", "x", 0, 1), Case("b", "y", 0, 2)], [2, 1], ["x", "x", "y"], SCORES
)


def test_untargeted() -> None:
    loss, won = Untargeted().judge(CANDIDATES)
    assert loss == pytest.approx([0.3, 0.9, 0.6])
    assert list(won) == [False, True, False]  # a tie goes to the first class


def test_the_loss_keeps_the_digits_of_a_sure_target() -> None:
    tiny = 1e-20
    loss, _ = Untargeted().judge(Candidates([Case("a", "x", 0)], [1], "x", [[1.0, tiny]]))
    assert loss[0] == tiny


def test_targeted_and_confident_and_all() -> None:
    loss, won = Targeted().judge(CANDIDATES)
    assert loss == pytest.approx([0.2, 0.8, 0.2])
    assert list(won) == [False, True, False]
    _, sure = Confident(Untargeted(), 0.9).judge(CANDIDATES)
    assert not sure.any()
    both = AllOf((Targeted(), Confident(Untargeted(), 0.8)))
    loss, won = both.judge(CANDIDATES)
    assert list(won) == [False, True, False] and loss == pytest.approx([0.2, 0.8, 0.2])


def test_a_class_of_the_goal_s_own_goes_before_the_case_s() -> None:
    loss, won = Targeted(0, "first").judge(CANDIDATES)
    assert loss == pytest.approx([0.7, 0.1, 0.4]) and list(won) == [True, False, True]
    either = AnyOf((Targeted(1, "second"), Targeted(2, "third")))
    loss, won = either.judge(CANDIDATES)
    assert loss == pytest.approx([0.2, 0.8, 0.4]) and list(won) == [False, True, False]
    assert either.unfit(Case("a", "x", 1), SCORES[1]) == "already of the class aimed at"
    assert either.unfit(Case("a", "x", 0), SCORES[1]) == "already there"
    assert either.unfit(Case("a", "x", 0), SCORES[0]) is None


def test_measured_takes_any_function() -> None:
    goal = Measured(lambda row: float(row[2]), 0.15)
    loss, won = goal.judge(CANDIDATES)
    assert list(won) == [False, False, True] and loss == pytest.approx([0.1, 0.1, 0.2])
    assert goal.unfit(Case("a", "x", 0), SCORES[2]) == "already there"


@pytest.mark.parametrize(
    ("goal", "row", "label", "toward", "reason"),
    [
        (Untargeted(), 0, 0, None, None),
        (Untargeted(), 1, 0, None, "already wrong"),
        (Targeted(), 0, 0, 1, None),
        (Targeted(), 1, 0, 1, "already there"),
        (Targeted(), 0, 1, 1, "already of the class aimed at"),
        (Targeted(), 1, 0, 2, "already wrong"),
        (Confident(Untargeted(), 0.99), 1, 0, None, "already wrong"),
        (AllOf((Untargeted(), Targeted())), 1, 0, 1, "already wrong"),
    ],
)
def test_what_need_not_be_attacked(
    goal: Untargeted, row: int, label: int, toward: int | None, reason: str | None
) -> None:
    assert goal.unfit(Case("a", "x", label, toward), SCORES[row]) == reason
    assert goal.answers.reference(SCORES[1]) == 1


def test_any_and_not() -> None:
    loss, won = AnyOf((Targeted(), Untargeted())).judge(CANDIDATES)
    assert list(won) == [False, True, False] and loss == pytest.approx([0.3, 0.9, 0.6])
    loss, won = Not(Untargeted()).judge(CANDIDATES)
    assert list(won) == [True, False, True] and loss == pytest.approx([0.7, 0.1, 0.4])
    assert Not(Untargeted()).unfit(Case("a", "x", 0), SCORES[0]) == "already so"
    assert Not(Untargeted()).unfit(Case("a", "x", 0), SCORES[1]) is None


def test_candidates_come_with_their_cases() -> None:
    rows = [(case.id, item, answer.tolist()) for case, item, answer in CANDIDATES.rows()]
    cases = zip("aab", "xxy", SCORES.tolist())
    assert rows == list(cases)


def test_any_skips_only_what_is_reached_or_cannot_be() -> None:
    """A misclassified example is no win of a goal that aims at a third class."""
    case = Case("a", "x", 0)
    aims = AnyOf((Targeted(2, "c"), Measured(lambda row: float(row[2]), 0.9)))
    assert aims.unfit(case, SCORES[1]) is None, "class 1 is predicted: neither goal is reached"
    assert AnyOf((Targeted(1, "b"), Targeted(2, "c"))).unfit(case, SCORES[1]) == "already there"


def test_a_goal_that_cannot_be_judged_has_no_opposite() -> None:
    class Blind(Untargeted):
        def unfit(self, case: Case[Any], answer: Any) -> str | None:
            return "no reference"

    assert Not(Blind()).unfit(Case("a", "x", 0), SCORES[0]) == "no reference"


@pytest.mark.parametrize("combined", [AllOf, AnyOf])
def test_goals_of_no_goals_are_refused(combined: type) -> None:
    with pytest.raises(UsageError, match="got no goals; expected one or more"):
        combined(())


def test_below_a_threshold_whatever_is_predicted() -> None:
    goal = Below(0, "spam", 0.4)
    loss, won = goal.judge(CANDIDATES)
    assert loss == pytest.approx([0.3, 0.9, 0.6])
    assert list(won) == [False, True, False]  # at the threshold a text is still caught
    assert goal.unfit(Case("a", "x", 0), SCORES[1]) == "already below the threshold"
    assert goal.unfit(Case("a", "x", 0), SCORES[2]) is None
    tiny = Candidates([Case("a", "x", 0)], [1], "x", [[1.0, 1e-20]])
    assert goal.judge(tiny)[0][0] == 1e-20
    for threshold in (0.0, 1.5, float("nan")):
        with pytest.raises(UsageError, match=r"Got the threshold .* above 0, at most 1"):
            Below(0, "spam", threshold)
