"""Verify judges as the run did: by its goal, its case and, where these count, its answers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import numpy as np
import pytest

import brittle
from brittle.answers import SCORES, TEXTS, AnswerKind, Scores
from brittle.asks import Case, Search, Try
from brittle.errors import UsageError
from brittle.goals import Candidates, Targeted, Untargeted
from brittle.testing import FakeTarget, FakeTranslator
from brittle.text import Text

WORDS = {"one": "uno", "two": "due", "three": "tre"}


@dataclass(frozen=True)
class Changed:
    """The translation differs from the first one, and the source from the original."""

    answers: AnswerKind = TEXTS

    def __str__(self) -> str:
        return "changed"

    def judge(self, candidates: Candidates) -> Any:
        won = [
            case.start is not None and answer != case.start.answers[0] and item != case.item
            for case, item, answer in candidates.rows()
        ]
        return np.array(won, dtype=float), np.array(won)

    def unfit(self, case: Case[Any], answer: Any) -> str | None:
        return None


@dataclass(frozen=True)
class Counting:
    """Offers other first words, each at the cost of its length."""

    words: tuple[str, ...] = ("three", "two", "one")
    asks: ClassVar = (Try,)

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        for word in self.words:
            yield from Try([case.text.swap(0, word)], cost=[float(len(word))])


def test_a_goal_sees_the_original_and_its_answer(tmp_path: Path) -> None:
    target = FakeTranslator(WORDS)
    run = brittle.attack(target, ["zero apples"], Counting(), goal=Changed(), folder=tmp_path)
    (row,) = run.results()
    assert (row.status, row.adversarial_answer, row.cost) == ("broken", "due apples", 3.0)
    assert run.verify(target, Changed()) == []


def test_another_target_is_compared_with_its_own_first_answer(tmp_path: Path) -> None:
    target = FakeTranslator(WORDS)
    run = brittle.attack(
        target, ["zero apples"], Counting(), goal="bleu:99,reference=translation", folder=tmp_path
    )
    assert [row.status for row in run.results()] == ["broken"]
    constant = FakeTranslator(dict.fromkeys(("zero", *WORDS), "x"))
    (check,) = run.recheck(constant)
    assert check.now.text == "x apples" and not check.still_wins


def test_a_larger_budget_goes_on_with_a_search_for_a_cheaper_winner(tmp_path: Path) -> None:
    target = FakeTranslator(WORDS)
    options = {"goal": Changed(), "folder": tmp_path, "name": "costs"}
    (first,) = brittle.attack(target, ["a b"], Counting(), budget=2, **options).results()
    assert (first.cost, first.queries) == (5.0, 2)
    (second,) = brittle.attack(target, ["a b"], Counting(), budget=9, **options).results()
    assert (second.cost, second.queries) == (3.0, 4)


def test_a_goal_with_an_equal_kind_of_answers_is_the_same_goal(tmp_path: Path) -> None:
    target, data = FakeTarget({"good": 2.0}), [("a good film", "negative")]
    for kind in (SCORES, Scores()):
        goal = Untargeted(kind)
        run = brittle.attack(target, data, "random-swap", goal=goal, folder=tmp_path, new=True)
        assert run.results()[0].reason == "already wrong"


@pytest.mark.parametrize(
    ("goal", "toward", "message"),
    [
        (Untargeted(), "positive", "Only the goal Targeted"),
        (Targeted(), None, "needs a class to aim at"),
        (Targeted(9, "x"), None, "aims at class 9, but target 'fake' has 2 classes"),
    ],
)
def test_goals_and_classes_that_do_not_fit(
    goal: Any, toward: str | None, message: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=message):
        brittle.attack(
            FakeTarget({"good": 2.0}), ["good"], goal=goal, toward=toward, folder=tmp_path
        )


def test_a_goal_whose_code_changed_is_another_goal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.syspath_prepend(tmp_path)
    target, options = FakeTarget({"good": 2.0}), {"folder": tmp_path, "name": "mine"}
    options["goal"] = "python:changing_goal:probe"
    module = tmp_path / "changing_goal.py"
    for number, body in enumerate(("return False", "return scores[0] > 0.99")):
        sys.modules.pop("changing_goal", None)
        module.write_text(f"def probe(text, scores):\n    {body}\n")
        import importlib
        import linecache

        importlib.invalidate_caches()
        linecache.clearcache()
        if number == 0:
            brittle.attack(target, ["good"], **options)
            continue
        with pytest.raises(UsageError, match="exists with other settings: goal_code"):
            brittle.attack(target, ["good"], **options)


def test_a_helper_says_who_it_is(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class Helped(Counting):
        helpers: tuple[Any, ...] = (object(),)

    with pytest.raises(UsageError, match="without name and fingerprint"):
        brittle.attack(FakeTarget(), ["good"], Helped(), folder=tmp_path)
