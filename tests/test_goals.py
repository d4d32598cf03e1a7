"""Goals judge many rows at once, with each row's own label."""

from __future__ import annotations

import numpy as np
import pytest

from brittle.goals import All, Confident, Measured, Targeted, Untargeted

SCORES = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.4, 0.4, 0.2]])
LABEL = np.array([0, 0, 0])
TOWARD = np.array([1, 1, 2])


def test_untargeted() -> None:
    loss, won = Untargeted().judge(SCORES, LABEL, TOWARD)
    assert loss == pytest.approx([0.3, 0.9, 0.6])
    assert list(won) == [False, True, False]  # a tie goes to the first class


def test_the_loss_keeps_the_digits_of_a_sure_target() -> None:
    tiny = 1e-20
    loss, _ = Untargeted().judge(np.array([[1.0, tiny]]), np.array([0]), np.array([-1]))
    assert loss[0] == tiny


def test_targeted_and_confident_and_all() -> None:
    loss, won = Targeted().judge(SCORES, LABEL, TOWARD)
    assert loss == pytest.approx([0.2, 0.8, 0.2])
    assert list(won) == [False, True, False]
    _, sure = Confident(Untargeted(), 0.9).judge(SCORES, LABEL, TOWARD)
    assert not sure.any()
    both = All((Targeted(), Confident(Untargeted(), 0.8)))
    loss, won = both.judge(SCORES, LABEL, TOWARD)
    assert list(won) == [False, True, False] and loss == pytest.approx([0.2, 0.8, 0.2])


def test_measured_takes_any_function() -> None:
    goal = Measured(lambda row: float(row[2]), 0.15)
    loss, won = goal.judge(SCORES, LABEL, TOWARD)
    assert list(won) == [False, False, True] and loss == pytest.approx([0.1, 0.1, 0.2])
    assert goal.unfit(SCORES[2], 0, -1) == "already there"


@pytest.mark.parametrize(
    ("goal", "row", "label", "toward", "reason"),
    [
        (Untargeted(), 0, 0, -1, None),
        (Untargeted(), 1, 0, -1, "already wrong"),
        (Targeted(), 0, 0, 1, None),
        (Targeted(), 1, 0, 1, "already there"),
        (Targeted(), 0, 1, 1, "already of the class aimed at"),
        (Targeted(), 1, 0, 2, "already wrong"),
        (Confident(Untargeted(), 0.99), 1, 0, -1, "already wrong"),
        (All((Untargeted(), Targeted())), 1, 0, 1, "already wrong"),
    ],
)
def test_what_need_not_be_attacked(
    goal: Untargeted, row: int, label: int, toward: int, reason: str | None
) -> None:
    assert goal.unfit(SCORES[row], label, toward) == reason
    assert goal.reference(SCORES[1]) == 1
