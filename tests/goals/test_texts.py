"""Goals on translations, by hand-computed examples and by plain statements of what a win is."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brittle.answers import TEXTS
from brittle.asks import Answer, Case
from brittle.errors import UsageError
from brittle.goals import (
    Candidates,
    Changed,
    Copied,
    Dropped,
    Goal,
    Keyword,
    LengthRatio,
    Lost,
    judge_one,
)
from brittle.goals.texts import best_match, folded_words, similarity
from brittle.text import Text

SOURCE = "A man stands and a woman sits"
BEFORE = "Ein Mann steht und eine Frau sitzt"
BOTH = Lost((("stands", ("steht", "stehen")), ("sits", ("sitzt",))))
DROPPED = Dropped.parse("stands|stand=steht|stehen,sits=sitzt,walks=geht")


def started(source: str = SOURCE, before: str = BEFORE, reference: str | None = None) -> Case[Text]:
    start = Answer([before], np.array([0.0]), np.array([False]))
    return Case("a", Text.of(source), start=start, reference=reference)


def judged(goal: Goal, translation: str, source: str = SOURCE, before: str = BEFORE) -> Any:
    return judge_one(goal, started(SOURCE, before), Text.of(source), translation)


def has(text: str, phrase: str) -> bool:
    """Say it once more, by other means: a whole word or phrase, whatever its case."""
    return re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text, re.IGNORECASE) is not None


def lost_one(source: str, before: str, new: str) -> bool:
    stands = not has(new, "steht") and not has(new, "stehen")
    return has(source, "stands") and has(source, "sits") and (stands or not has(new, "sitzt"))


def dropped_one(source: str, before: str, new: str) -> bool:
    verbs = [("stands", "stand"), ("sits",), ("walks",)]
    partners = [("steht", "stehen"), ("sitzt",), ("geht",)]
    asked = [n for n, forms in enumerate(verbs) if any(has(source, form) for form in forms)]
    kept = [any(has(new, form) for form in partners[n]) for n in asked]
    return len(asked) >= 2 and any(kept) and not all(kept)


def is_copy(source: str, before: str, new: str) -> bool:
    left, hits = new.lower().split(), 0
    for word in source.lower().split():
        if word in left:
            left.remove(word)
            hits += 1
    return hits >= 0.5 * len(source.split())


RESTATED: list[tuple[Goal, Callable[[str, str, str], bool]]] = [
    (Keyword("Frau"), lambda source, before, new: has(new, "frau")),
    (Keyword("eine Frau"), lambda source, before, new: has(new, "eine frau")),
    (BOTH, lost_one),
    (DROPPED, dropped_one),
    (LengthRatio(1.5), lambda source, before, new: len(new) >= 1.5 * len(before)),
    (LengthRatio(0.5), lambda source, before, new: len(new) <= 0.5 * len(before)),
    (Copied(0.5), is_copy),
    (Changed(), lambda source, before, new: new != before),
]
VOCABULARY = [
    *SOURCE.split(),
    *BEFORE.split(),
    "Fra",
    "FRAU",
    "Frauen",
    "stehen",
    "sitzend",
    "stand",
]
SENTENCES = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=12).map(" ".join)


@pytest.mark.parametrize(("goal", "is_won"), RESTATED, ids=[str(goal) for goal, _ in RESTATED])
@settings(deadline=None, max_examples=25)
@given(source=SENTENCES, before=SENTENCES, translations=st.lists(SENTENCES, min_size=1, max_size=8))
def test_wins_agree_with_a_plain_statement_and_have_the_highest_losses(
    goal: Goal,
    is_won: Callable[[str, str, str], bool],
    source: str,
    before: str,
    translations: list[str],
) -> None:
    items = [Text.of(source)] * len(translations)
    case = started(source, before)
    loss, won = goal.judge(Candidates([case], [len(items)], items, translations))
    assert list(won) == [is_won(source, before, new) for new in translations]
    assert ((loss >= 0) & (loss <= 1)).all()
    if won.any() and not won.all():
        assert loss[won].min() > loss[~won].max()


@pytest.mark.parametrize(
    ("goal", "nearer"),
    [
        (Keyword("Art"), ["", "Ein Hut", "Ein Arm", "Eine Arten", "Sehr viel ART."]),
        (Keyword("große Kunst"), ["nichts", "Große", "große Kunde", "GROSSE, Kunst!"]),
        (BOTH, [BEFORE, "Mann steht und Frau sitzt", "steht sitzt", "steht sitzend", "steht"]),
        (DROPPED, [BEFORE, "Mann steht und Frau sitzt", "steht sitzt", "steht sitzend", "steht"]),
        (LengthRatio(2), [BEFORE, BEFORE + " hier", BEFORE + " und dann noch", BEFORE * 2]),
        (LengthRatio(0.5), [BEFORE, BEFORE[:-3], BEFORE[:20], BEFORE[:17]]),
        (Copied(0.8), [BEFORE, "A Mann", "A man steht", "A man and Frau", SOURCE]),
        (Changed(), [f" {BEFORE}", f"{BEFORE}.", f"{BEFORE} da", "Frau sitzt", "nichts"]),
    ],
    ids=lambda value: "" if isinstance(value, list) else str(value),
)
def test_the_loss_rises_as_the_goal_comes_nearer(goal: Goal, nearer: list[str]) -> None:
    answers = [judged(goal, translation) for translation in nearer]
    losses = [loss for loss, _ in answers]
    assert losses == sorted(set(losses))
    assert answers[-1][1] and not answers[0][1]


def test_losses_by_hand() -> None:
    assert judged(Keyword("Art"), "die Arm") == (pytest.approx(2 / 3), False)
    assert judged(Keyword("schöne Art"), "schöne Arm") == (pytest.approx((1 + 2 / 3) / 2), False)
    # Two of the seven words of the first translation are gone: half of 2/7.
    assert judged(BOTH, "Mann steht und Frau sitzt") == (pytest.approx(1 / 7), False)
    # "sitz" and "sitzt" share 8 of 9 characters, which leaves 1 − 4/9.
    assert judged(BOTH, "steht, sitz") == (pytest.approx(5 / 9), True)
    assert judged(BOTH, "nichts", source="A man stands") == (0.0, False)
    assert judged(DROPPED, "Mann steht und Frau sitzt") == (pytest.approx((1 + 2 / 7) / 4), False)
    assert judged(DROPPED, "steht, sitz") == (pytest.approx(5 / 9), True)
    assert judged(DROPPED, "nichts") == (0.5, False)
    assert judged(DROPPED, "nichts", source="A man stands") == (0.125, False)
    assert judged(LengthRatio(3), "a" * 20, before="a" * 10) == (0.5, False)
    assert judged(LengthRatio(0.5), "a" * 9, before="a" * 10) == (pytest.approx(0.2), False)
    assert judged(Copied(), "a man") == (pytest.approx(2 / 7), False)
    # Two of its two words are among the seven of before: 1 − 2/9.
    assert judged(Changed(), "eine Frau") == (pytest.approx(7 / 9), True)
    assert judged(Changed(), "", before="!") == (1.0, True)


def test_words_are_compared_whole_and_whatever_their_case_and_form() -> None:
    assert judged(Keyword("art"), "ART!")[1] and not judged(Keyword("art"), "Partei")[1]
    assert judged(Keyword("STRASSE"), "die Straße")[1]
    assert judged(Keyword("été"), "un E\u0301TE\u0301")[1]
    assert not judged(Keyword("auf jeden Fall"), "auf Fall jeden")[1]
    assert folded_words("Ünder <br/> İ") == folded_words("ünder İ")
    assert similarity("a", "a" * 50) == 0.0 and best_match(["b"], ["a", "b"]) == 0.0


def test_both_verbs_in_the_source_and_one_lost() -> None:
    assert judged(BOTH, "Ein Mann steht und eine Frau")[1]
    assert judged(BOTH, "Ein Mann und eine Frau sitzt")[1]
    assert not judged(BOTH, "Männer stehen, eine Frau sitzt")[1]
    assert not judged(BOTH, "Ein Mann", source="A man stands and a woman is")[1]


@pytest.mark.parametrize(
    ("goal", "source", "answer", "reason"),
    [
        (Keyword("frau"), SOURCE, BEFORE, "already there"),
        (Keyword("Art"), SOURCE, BEFORE, None),
        (Keyword("Art"), SOURCE, "", None),
        (BOTH, SOURCE, BEFORE, None),
        (BOTH, SOURCE, "Ein Mann steht", "already lost"),
        (BOTH, "A woman sits", BEFORE, "no 'stands' in the source"),
        (DROPPED, SOURCE, BEFORE, None),
        (DROPPED, SOURCE, "Ein Mann steht", "already dropped"),
        (DROPPED, "A woman sits", BEFORE, None),
        (LengthRatio(2), SOURCE, BEFORE, None),
        (LengthRatio(2), SOURCE, " \n", "empty translation"),
        (Copied(), SOURCE, BEFORE, None),
        (Copied(), SOURCE, SOURCE.upper(), "already a copy"),
        (Copied(), "...", "...", None),
    ],
)
def test_what_need_not_be_attacked(
    goal: Goal, source: str, answer: str, reason: str | None
) -> None:
    assert goal.unfit(Case("a", Text.of(source)), answer) == reason
    assert goal.answers == TEXTS and goal.answers.reference(answer) is None


def test_the_original_is_judged_before_its_translation_is_known() -> None:
    for goal in (Keyword("Art"), BOTH, DROPPED, LengthRatio(2), LengthRatio(0.5), Copied()):
        loss, won = judge_one(goal, Case("a", Text.of(SOURCE)), Text.of(SOURCE), BEFORE)
        assert 0 <= loss < 0.6 and not won


def test_rows_are_judged_by_their_own_case() -> None:
    cases = [started(before="aa"), started(before="a" * 10)]
    items = [Text.of("x")] * 3
    loss, won = LengthRatio(2).judge(Candidates(cases, [1, 2], items, ["aaaa", "aaaa", "a" * 20]))
    assert list(won) == [True, False, True] and loss == pytest.approx([1, 0, 1])


@pytest.mark.parametrize(
    ("parse", "value", "message"),
    [
        (Keyword.parse, "!?", "expected a word"),
        (Lost.parse, "stands", "a word of the source and its partner"),
        (Lost.parse, "stands=steht,=sitzt", "Got '=sitzt' as a pair"),
        (Lost.parse, "stands=steht|", "a word of the source and its partner"),
        (Dropped.parse, "stands=steht", "expected two or more"),
        (Dropped.parse, "stands=steht,sits", "Got 'sits' as a part"),
        (Dropped.parse, "stands|=steht,sits=sitzt", "forms of a word of the source"),
        (LengthRatio.parse, "1", "above 1"),
        (LengthRatio.parse, "0", "between 0 and 1"),
        (LengthRatio.parse, "inf", "above 1"),
        (LengthRatio.parse, "nan", "above 1"),
        (LengthRatio.parse, "two", "expected a number, as in length:2"),
        (Copied.parse, "80", "above 0, at most 1"),
        (Copied.parse, "most", "expected a number, as in copy:0.8"),
    ],
)
def test_wrong_specs_say_what_is_expected(
    parse: Callable[[str], Goal], value: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        parse(value)
