"""A user's function as a goal: what it gets, what it may return, and what it may do wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from brittle.answers import SCORES, TEXTS
from brittle.asks import Case
from brittle.errors import RunStopped, UsageError
from brittle.goals import Candidates, FunctionGoal, judge_one
from brittle.goals.parsing import parse_goal
from brittle.text import Text

CASE = Case("a", Text.of("A good film"), label=1)
MODULE = """
from brittle.goals import Keyword
def shouts(source, translation):
    assert isinstance(source, str)
    return translation.isupper()
def share(source, translation):
    return translation.count("!") / 2
def low(text, scores):
    return "good" in text and max(scores) < 0.6
def fails(source, translation):
    return {}[translation]
def silent(source, translation):
    return None
ready = Keyword("Art")
number = 3
"""


@pytest.fixture(autouse=True)
def my_goals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_own_goals.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))


def test_true_or_false_and_a_loss_that_wins_at_one() -> None:
    shouts = parse_goal("python:my_own_goals:shouts", TEXTS)
    assert isinstance(shouts, FunctionGoal) and str(shouts) == "python:my_own_goals:shouts"
    assert judge_one(shouts, CASE, CASE.item, "JA") == (1.0, True)
    assert judge_one(shouts, CASE, CASE.item, "ja") == (0.0, False)
    assert shouts.unfit(CASE, "JA") == "already there" and shouts.unfit(CASE, "ja") is None
    share = parse_goal("Python: my_own_goals:share", TEXTS)
    loss, won = share.judge(Candidates([CASE], [3], [CASE.item] * 3, ["ja", "ja!", "ja!!!"]))
    assert loss.tolist() == [0.0, 0.5, 1.5] and won.tolist() == [False, False, True]


def test_a_classifier_s_goal_gets_text_and_scores() -> None:
    low = parse_goal("python:my_own_goals:low", SCORES)
    assert low.answers == SCORES
    assert judge_one(low, CASE, CASE.item, np.array([0.45, 0.55])) == (1.0, True)
    assert judge_one(low, CASE, CASE.item, np.array([0.1, 0.9])) == (0.0, False)
    assert FunctionGoal(lambda item, answer: item == 3, "mine").unfit(Case("a", 3), None)


def test_a_goal_object_is_taken_as_it_is() -> None:
    assert str(parse_goal("python:my_own_goals:ready", TEXTS)) == "keyword:Art"


def test_what_goes_wrong_is_said_with_the_texts() -> None:
    fails = parse_goal("python:my_own_goals:fails", TEXTS)
    with pytest.raises(RunStopped, match=r"failed with KeyError: 'ja' on 'A good film' and 'ja'"):
        judge_one(fails, CASE, CASE.item, "ja")
    silent = parse_goal("python:my_own_goals:silent", TEXTS)
    with pytest.raises(
        RunStopped, match=r"returned None on .* expected True or False, or a number"
    ):
        silent.unfit(CASE, "ja")
    nan = FunctionGoal(lambda source, answer: float("nan"), "nan", TEXTS)
    with pytest.raises(RunStopped, match="returned nan"):
        judge_one(nan, CASE, CASE.item, "ja")
    with pytest.raises(UsageError, match="which is 3; expected a function of"):
        parse_goal("python:my_own_goals:number", TEXTS)
    with pytest.raises(UsageError, match="there is no 'nothing'"):
        parse_goal("python:my_own_goals:nothing", TEXTS)
    with pytest.raises(UsageError, match="expected python:MODULE:NAME"):
        parse_goal("python:my_own_goals", TEXTS)
