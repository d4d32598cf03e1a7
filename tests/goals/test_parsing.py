"""Specs become goals, goals become specs, and what cannot be is said."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brittle.answers import SCORES, TEXTS, AnswerKind
from brittle.asks import Case
from brittle.errors import UsageError
from brittle.goals import (
    AllOf,
    AnyOf,
    Below,
    BleuBelow,
    Candidates,
    Changed,
    Confident,
    Copied,
    DrawnKeyword,
    Dropped,
    Goal,
    Keyword,
    LengthRatio,
    Lost,
    Measured,
    Not,
    Targeted,
    Untargeted,
    judge_one,
    spec_of,
)
from brittle.goals.parsing import (
    GOALS,
    check_goal,
    fitting,
    goal_name,
    join_goals,
    make_goal,
    parse_goal,
    rebuild_goal,
    split_toward,
)

LABELS = ("World", "sports", "business (new)")
SPECS: list[tuple[str, Goal]] = [
    ("untargeted", Untargeted()),
    ("toward:sports", Targeted(1, "sports")),
    ("keyword:Art", Keyword("Art")),
    ("keyword:auf jeden Fall", Keyword("auf jeden Fall")),
    ("lost:stands=stehen", Lost((("stands", ("stehen",)),))),
    (
        "lost:stands=steht|stehen,sits=sitzt",
        Lost((("stands", ("steht", "stehen")), ("sits", ("sitzt",)))),
    ),
    (
        "dropped:sits|sitting=sitzt|sitzen,eats=isst",
        Dropped(((("sits", "sitting"), ("sitzt", "sitzen")), (("eats",), ("isst",)))),
    ),
    ("bleu:20", BleuBelow(20)),
    ("bleu:12.5,reference=example", BleuBelow(12.5, "example")),
    ("bleu:12.5,reference=translation", BleuBelow(12.5, "translation")),
    ("length:2", LengthRatio(2)),
    ("length:0.3333333", LengthRatio(0.3333333)),
    ("copy:0.8", Copied()),
    ("changed", Changed()),
    ("keyword", DrawnKeyword()),
    ("not:copy:0.5", Not(Copied(0.5))),
    ("any(keyword:Art; length:2)", AnyOf((Keyword("Art"), LengthRatio(2)))),
    (
        "all(lost:a=b,c=d|e; not:any(copy:0.8; length:3))",
        AllOf(
            (
                Lost((("a", ("b",)), ("c", ("d", "e")))),
                Not(AnyOf((Copied(), LengthRatio(3)))),
            )
        ),
    ),
    ("below:sports@0.9", Below(1, "sports", 0.9)),
    ("not:below:business (new)@0.25", Not(Below(2, "business (new)", 0.25))),
    (
        "any(toward:sports; toward:business (new))",
        AnyOf((Targeted(1, "sports"), Targeted(2, "business (new)"))),
    ),
]


@pytest.mark.parametrize(("spec", "goal"), SPECS)
def test_there_and_back(spec: str, goal: Goal) -> None:
    if "bleu" in spec:
        pytest.importorskip("sacrebleu")
    assert parse_goal(spec, labels=LABELS) == goal
    assert spec_of(goal) == goal_name(goal) == spec
    assert rebuild_goal(goal_name(goal), answers=goal.answers, labels=LABELS) == goal


def test_case_and_blanks_do_not_count() -> None:
    spec = " ANY ( Keyword: Art ;Not:Copy; toward:SPORTS) "
    parts = (Keyword("Art"), Not(Copied()), Targeted(1, "sports"))
    assert parse_goal(spec, labels=LABELS) == AnyOf(parts)


def test_every_goal_has_an_example_that_works() -> None:
    for name, entry in GOALS.items():
        if name != "python" and ("bleu" not in entry.example or pytest.importorskip("sacrebleu")):
            goal = parse_goal(entry.example, labels=LABELS)
            assert spec_of(goal).startswith(name) and goal.answers in entry.judges
    assert "keyword[:WORD]" in fitting(TEXTS) and "keyword[:WORD]" not in fitting(SCORES)


def test_every_goal_stands_in_the_docs() -> None:
    page = (
        Path(__file__)
        .parents[2]
        .joinpath("docs", "how-to", "own-goal.md")
        .read_text()
        .replace("\\|", "|")
    )
    for entry in GOALS.values():
        assert f"| `{entry.form}` |" in page, entry.form


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("keywrd:Art", "Unknown goal 'keywrd'. Did you mean 'keyword'?"),
        ("belu:20", "Did you mean 'bleu'?"),
        ("", "Unknown goal ''"),
        ("keyword:", "expected keyword[:WORD], such as keyword:Art"),
        ("changed:much", "expected changed alone"),
        ("bleu", "expected bleu:BOUND"),
        ("not:", "expected not:GOAL, such as not:copy"),
        ("python", "expected python:MODULE:NAME"),
        ("any", r"expected any(GOAL; GOAL)"),
        ("all:copy", r"expected all(GOAL; GOAL)"),
        ("untargeted:now", "expected untargeted alone"),
        ("any(keyword:Art", "every bracket closed"),
        ("any(keyword:Art))", "every bracket closed"),
        ("any(copy) or (copy)", "every bracket closed"),
        ("any(all(copy)", "every bracket closed"),
        ("any(keyword:Art;)", "expected goals separated by ';'"),
        ("any()", "expected goals separated by ';'"),
        ("not:not:kopy", "Unknown goal 'kopy'. Did you mean 'copy'?"),
        ("toward:sport", "Unknown label 'sport'. Did you mean 'sports'?"),
        ("toward", "expected toward:LABEL"),
        ("below:sports", "expected below:LABEL@THRESHOLD, such as below:sports@0.9"),
        ("below:sports@high", "expected below:LABEL@THRESHOLD"),
        ("below:@0.5", "expected below:LABEL@THRESHOLD"),
        ("below:sport@0.5", "Unknown label 'sport'. Did you mean 'sports'?"),
        ("below:sports@2", "Got the threshold 2 for the score of 'sports'"),
    ],
)
def test_wrong_specs(spec: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_goal(spec, labels=LABELS)
    assert message in str(error.value)


def test_the_goal_that_flags_mean() -> None:
    assert make_goal(None, None) == Untargeted()
    assert make_goal(None, "negative", 0.9) == Confident(Targeted(), 0.9)
    assert make_goal("untargeted", None, 0.9) == Confident(Untargeted(), 0.9)
    for wrong in (0, 1.5, -1):
        with pytest.raises(UsageError, match="expected a number above 0"):
            make_goal(None, None, wrong)
    with pytest.raises(UsageError, match="translations have no confidence"):
        make_goal("keyword:Art", None, 0.9, TEXTS)
    with pytest.raises(UsageError, match=r"'all\(copy; toward:sports\)'"):
        make_goal("copy", "sports")
    with pytest.raises(UsageError, match="Got 3 as a goal; expected a spec"):
        make_goal(3)  # type: ignore[arg-type]


def test_toward_alone_is_the_flag() -> None:
    assert split_toward("Toward: new: sports ", None) == (None, "new: sports")
    for goal in ("any(toward:a; toward:b)", "toward", None, Untargeted(), "keyword:toward:x"):
        assert split_toward(goal, None) == (goal, None)
    assert split_toward("toward:a", "b") == ("toward:a", "b")  # refused by make_goal


def test_several_flags_are_one_goal() -> None:
    assert join_goals([]) is None and join_goals(None) is None
    assert join_goals(["copy"]) == "copy"
    assert parse_goal(str(join_goals(["copy", "any(length:2; keyword:a)"]))).answers == TEXTS


@pytest.mark.parametrize("toward", [None, "sports"])
@pytest.mark.parametrize("confidence", [None, 0.9])
def test_names_of_class_goals_stay_as_they_were(toward: Any, confidence: Any) -> None:
    goal = make_goal(None, toward, confidence)
    name = goal_name(goal, toward)
    assert name == ("toward sports" if toward else "untargeted") + (
        " with confidence 0.9" if confidence else ""
    )
    assert rebuild_goal(name, toward, confidence) == goal


@dataclass(frozen=True)
class Mine:
    """A user's own goal, with a function that has an address in memory."""

    function: Any
    answers: AnswerKind = field(default=SCORES, repr=False)

    def judge(self, candidates: Candidates) -> Any:
        return np.zeros(1), np.ones(1, dtype=bool)

    def unfit(self, case: Case[Any], answer: Any) -> str | None:
        return None


def test_a_goal_of_one_s_own_is_taken_and_named_the_same_at_every_start() -> None:
    goal = Mine(lambda: 0)
    assert make_goal(goal) is goal
    name = goal_name(make_goal(goal, None, 0.5))
    assert name.startswith("Mine(function=<function") and " at 0x" not in name
    assert name.endswith("with confidence 0.5")
    with pytest.raises(UsageError, match="Pass the goal again"):
        rebuild_goal(name, None, 0.5)


def test_a_goal_that_does_not_fit_the_target() -> None:
    for goal, kind in [
        (Keyword("Art"), TEXTS),
        (AllOf((Not(Copied()), LengthRatio(2))), TEXTS),
        (Confident(AnyOf((Targeted(1, "a"), Untargeted())), 0.9), SCORES),
        (Measured(len, 1), SCORES),
    ]:
        check_goal(goal, kind, "mine", None, LABELS)
        other = SCORES if kind == TEXTS else TEXTS
        with pytest.raises(UsageError, match=r"judges .* but target 'mine' answers with"):
            check_goal(goal, other, "mine", None, LABELS)
    with pytest.raises(UsageError, match="Use a goal that fits: keyword"):
        check_goal(Untargeted(), TEXTS, "mine")
    with pytest.raises(UsageError, match=r"'copy:0.8' judges translations.*: untargeted, toward:"):
        check_goal(AllOf((Untargeted(), Not(Copied()))), SCORES, "mine")


TRANSLATED = Case("a", "the man")


@pytest.mark.parametrize(
    ("spec", "answer", "reason"),
    [
        # A condition may hold from the start; all else must be brought about.
        ("all(keyword:Art; not:copy)", "der Mann", None),
        ("all(not:copy; keyword:Art)", "Art", "already there"),
        ("all(keyword:Art; not:copy)", "the man", None),
        ("all(not:copy; not:keyword:Art)", "der Mann", "already so"),
        ("all(not:copy; not:keyword:Art)", "Art", None),
        ("all(keyword:Art; lost:woman=Frau)", "der Mann", "no 'woman' in the source"),
        # One goal that cannot be reached leaves the others.
        ("any(lost:woman=Frau; keyword:Art)", "der Mann", None),
        ("any(lost:woman=Frau; keyword:Art)", "Art", "already there"),
        ("any(lost:woman=Frau; lost:child=Kind)", "der Mann", "no 'woman' in the source"),
        ("not:keyword:Art", "der Mann", "already so"),
        ("not:keyword:Art", "Art", None),
    ],
)
def test_which_cases_a_combined_goal_skips(spec: str, answer: str, reason: str | None) -> None:
    assert parse_goal(spec).unfit(TRANSLATED, answer) == reason


def test_combined_wins_are_those_of_their_parts() -> None:
    parts = [Keyword("Art"), Copied(), Not(Keyword("man"))]
    for answer in ("Art", "the man", "the man Art", "the Art", "nichts"):
        judged = [judge_one(part, TRANSLATED, TRANSLATED.item, answer) for part in parts]
        losses, won = [loss for loss, _ in judged], [won for _, won in judged]
        every = judge_one(AllOf(tuple(parts)), TRANSLATED, TRANSLATED.item, answer)
        some = judge_one(AnyOf(tuple(parts)), TRANSLATED, TRANSLATED.item, answer)
        assert every == (min(losses), all(won)) and some == (max(losses), any(won))
        assert judge_one(Not(parts[0]), TRANSLATED, "", answer) == (1 - losses[0], not won[0])
