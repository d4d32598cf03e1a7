"""The verdict: three outcomes, two questions, what they are over, and how they are said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from math import comb
from typing import Any

import pytest

from brittle.errors import GateFailed, Incomplete, UsageError
from brittle.metrics.intervals import binomial_tail, mcnemar_exact
from brittle.metrics.regression import bound_questions, cases_for, detectable_drop
from brittle.reports.verdict import Verdict, verdict_markdown
from brittle.results import Result
from brittle.runs.gate import gate, judge

Make = Callable[..., Any]


def outcomes(verdict: Verdict) -> dict[str, str]:
    return {one.name: one.outcome for one in verdict.questions}


def test_the_tail_is_that_of_fair_coins() -> None:
    for n, k in product(range(8), range(10)):
        assert binomial_tail(k, n) == pytest.approx(sum(comb(n, i) for i in range(k, n + 1)) / 2**n)
    assert mcnemar_exact(3, 9) == mcnemar_exact(9, 3) == 2 * binomial_tail(9, 12)
    assert binomial_tail(1500, 2500) < 1e-20  # no float overflows


def test_a_drop_of_clean_accuracy_is_not_called_easier_to_break(make: Make) -> None:
    # 25 points of clean accuracy are lost, 15 under attack, and the attack succeeds less often.
    old = make("old", "h" * 60 + "b" * 30 + "w" * 10)
    new = make("new", "w" * 15 + "h" * 45 + "w" * 10 + "b" * 20 + "w" * 10)
    verdict = judge(old, new)
    assert outcomes(verdict) == {
        "clean accuracy": "fail",
        "robustness": "pass",
        "accuracy under attack": "fail",
    }
    reason = verdict.headline
    assert "clean accuracy fell by 25.0 points over 100 shared cases, from 90.0% to 65.0%" in reason
    assert reason.endswith("The attack itself does not succeed more often.")
    assert "under attack" not in reason


def test_a_drop_of_robustness_is_over_the_cases_that_both_have_right(make: Make) -> None:
    verdict = judge(make("old", "h" * 80 + "w" * 20), make("new", "b" * 30 + "h" * 50 + "w" * 20))
    clean, robust, attacked = verdict.questions
    assert (robust.cases, robust.worse, robust.better, robust.drop) == (80, 30, 0, 30 / 80)
    assert (clean.outcome, robust.outcome, attacked.outcome) == ("pass", "fail", "fail")
    assert (clean.cases, attacked.drop, verdict.by, verdict.is_worse) == (100, 0.3, 0.3, True)
    assert "the attack breaks 37.5% instead of 0.0%, 37.5 points more" in verdict.headline
    assert len(verdict.newly_broken) == 30
    with pytest.raises(GateFailed, match="'new' is worse than 'old'"):
        verdict.require()


def test_the_three_questions_share_the_level(make: Make) -> None:
    verdict = judge(make("old", "h" * 40), make("new", "b" * 6 + "h" * 34))
    clean, robust, attacked = verdict.questions
    assert attacked.p == 2 * 0.5**6 == mcnemar_exact(0, 6) and attacked.outcome == "fail"
    assert robust.p == 4 * 0.5**6 and robust.outcome == "cannot tell"
    assert clean.p == 1 and verdict.outcome == "fail"
    assert "accuracy under attack fell by 15.0 points" in verdict.headline
    assert judge(make("old", "h" * 40), make("new", "b" * 5 + "h" * 35)).outcome == "cannot tell"


def test_few_cases_cannot_tell_and_many_can(make: Make) -> None:
    verdict = judge(make("old", "h" * 20), make("new", "b" + "h" * 19))
    assert verdict.outcome == "cannot tell" and not verdict.is_worse
    assert verdict.cases_needed is not None and verdict.cases_needed > 200
    assert "A clear answer needs about " in verdict.headline
    assert "a drop of 5 points is still possible" in verdict.headline
    verdict.require()
    with pytest.raises(GateFailed):
        verdict.require(strict=True)
    many = judge(make("old", "h" * 500 + "b" * 500), make("new", "b" + "h" * 499 + "b" * 500))
    assert many.outcome == "pass" and many.cases_needed is None
    assert "a drop of 5 points or more is excluded" in many.headline
    wide = judge(make("old", "h" * 60), make("new", "b" * 2 + "h" * 58), tolerance=0.3)
    assert wide.outcome == "pass"


def test_a_better_model_passes(make: Make) -> None:
    verdict = judge(make("old", "b" * 100 + "h" * 100), make("new", "h" * 200))
    assert verdict.outcome == "pass" and verdict.by == -0.5


def test_the_same_model_passes_however_few_the_cases(make: Make) -> None:
    same = {"fingerprint": "f"}
    assert judge(make("a", "hhb", **same), make("b", "hhb", **same)).outcome == "pass"
    assert judge(make("a", "hhb"), make("b", "hhb")).outcome == "cannot tell"
    assert judge(make("a", "hhb", **same), make("b", "hbb", **same)).outcome == "cannot tell"


def test_runs_of_other_attacks_are_refused(make: Make) -> None:
    old = make("old", "h" * 9, budget=10)
    for changes in ({"attack": "genetic"}, {"budget": 20}, {"goal": "toward 1"}):
        with pytest.raises(UsageError, match=r"not of the same attack\. Other .* baseline again"):
            gate(old, make("new", "h" * 9, **{"budget": 10} | changes))
    assert gate(old, make("new", "h" * 9, budget=10, seed=3)).notes[0].startswith("Other seed")
    with pytest.raises(UsageError, match="shares no case"):
        gate(old, replace(make("new", "h" * 9, budget=10), given=[]))
    with pytest.raises(Incomplete, match="'new' is not complete"):
        gate(old, replace(make("new", "h", budget=10), complete=False))
    with pytest.raises(UsageError, match="Nothing to judge"):
        gate(None, old)


def test_cases_that_are_gone_keep_it_from_passing(make: Make) -> None:
    old, new = make("old", "h" * 300), make("new", "h" * 290)
    verdict = judge(old, new)
    assert verdict.outcome == "cannot tell" and verdict.missing == 10
    assert "10 cases of the baseline are not in the new run" in verdict.headline
    verdict = judge(new, old)
    assert verdict.outcome == "pass"
    assert verdict.notes == ("10 cases are not in the baseline: not compared",)


def test_bounds_are_judged_by_their_interval(make: Make) -> None:
    run = make("new", "b" * 30 + "h" * 70)
    for bound, outcome in ((0.1, "fail"), (0.25, "cannot tell"), (0.5, "pass")):
        verdict = judge(None, run, max_broken=bound)
        assert verdict.outcome == outcome and verdict.bounds[0].share == 0.3
    assert judge(None, run, max_broken=0.25).cases_needed is not None
    with pytest.raises(UsageError, match="the attack did not try it"):
        judge(None, run, max_broken={"careful": 0.2})
    with pytest.raises(UsageError, match="expected 'any attack', or a level"):
        judge(None, run, max_broken={"gentle": 0.2})
    with pytest.raises(UsageError, match="expected a share from 0 to 1"):
        judge(None, run, max_broken=20)


def test_a_bound_of_a_level_counts_the_gentler_ones(make: Make) -> None:
    levels = (("rewrite", "held"), ("careful", "held"), ("typo", "held"))

    def at(row: Result, level: str | None) -> Result:
        return replace(row, level=level, levels=levels)

    given = [at(row, name) for row, name in zip(make("r", "bbbh").given, ("rewrite", "careful"))]
    given += [at(row, "typo") for row in make("r", "bb").given] + [
        at(make("r", "h").given[0], None)
    ]
    shares = bound_questions(given, {"rewrite": 0.9, "careful": 0.9, "any attack": 0.9})
    assert [round(one.share, 2) for one in shares] == [0.2, 0.4, 0.8]


def test_more_cases_notice_smaller_drops() -> None:
    needed = [cases_for(0.1, drop, 0.025) for drop in (0.02, 0.05, 0.1, 0.3)]
    assert needed == sorted(needed, reverse=True)
    for cases in (100, 400, 2000):
        noticed = detectable_drop(cases, 0.1, 0.025)
        assert noticed is not None and cases_for(0.1, noticed, 0.025) <= cases
    with pytest.raises(UsageError, match="expected numbers from 0 to 1"):
        cases_for(0.1, 0, 0.025)


def test_the_texts_that_break_now_are_shown_with_their_edits(make: Make) -> None:
    evil = "a | <b> \x1b[31m [x](y) film"
    old, new = make("old", "h" * 30), make("new", "b" * 12 + "h" * 18)
    edit = replace(new.given[0].edits[0], start=0, stop=1, old="a", new="|\n<b>")
    new.given[0] = replace(new.given[0], fields=(("text", evil),), original=evil, edits=(edit,))
    verdict = judge(old, new)
    text, page = str(verdict), verdict_markdown(verdict)
    assert "12 cases newly broken, 5 of them" in text and text.count("positive is read as") == 5
    assert "[funny -> comical]" in text and "\x1b" not in str(GateFailed(text))
    [line] = [line for line in page.splitlines() if line.startswith(f"| `{0:016x}`")]
    assert "<b>" not in line and "\x1b" not in line and line.count(" | ") == 3
    assert "warm and ~~funny~~ **comical** film" in page
    assert "| robustness | 100.0% | 60.0% | -40.0 points | 30 | fail: p = 0.000977 |" in page
    plain = verdict.plain()
    assert plain["outcome"] == "fail" and len(plain["newly_broken"]) == 12
    assert plain["questions"][1]["worse"] == 12


def test_gentle_edits_are_asked_for_where_rough_ones_break_everything(make: Make) -> None:
    levels = (("careful", "held"), ("typo", "held"))

    def climbed(gentle: int) -> list[Result]:
        return [
            replace(row, levels=levels, level="careful" if n < gentle else "typo")
            for n, row in enumerate(make("r", "b" * 60).given)
        ]

    old, new = (replace(make(name, ""), given=climbed(n)) for name, n in (("old", 6), ("new", 30)))
    verdict = judge(old, new)
    assert outcomes(verdict) == {
        "clean accuracy": "pass",
        "robustness to gentle edits": "fail",
        "robustness": "pass",
        "accuracy after gentle edits": "fail",
        "accuracy under attack": "pass",
    }
    assert "gentle edits break 50.0% instead of 10.0%" in verdict.headline
    assert verdict.is_worse and len(verdict.newly_broken) == 24
    assert judge(new, old).outcome == "pass"
