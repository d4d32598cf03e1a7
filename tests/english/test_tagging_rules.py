"""Contextual rules, by hand."""

from __future__ import annotations

import pytest

from brittle.english.tags import apply_rules, parse_rules
from brittle.errors import UsageError


def tagged(rules: list[str], sentence: str) -> list[str]:
    pairs = [token.split("/") for token in sentence.split()]
    return apply_rules(parse_rules(rules), [w for w, _ in pairs], [t for _, t in pairs])


@pytest.mark.parametrize(
    ("rule", "sentence", "expected"),
    [
        ("NN VB PREVTAG TO", "to/TO work/NN", "TO VB"),
        ("NN VB PREVTAG TO", "the/DT work/NN", "DT NN"),
        ("NN VB NEXTTAG DT", "work/NN the/DT", "VB DT"),
        ("NN VB PREV2TAG TO", "to/TO not/RB work/NN", "TO RB VB"),
        ("NN VB NEXT2TAG DT", "work/NN not/RB the/DT", "VB RB DT"),
        ("NN VB PREV1OR2TAG MD", "can/MD not/RB work/NN", "MD RB VB"),
        ("NN VB NEXT1OR2TAG DT", "work/NN the/DT", "VB DT"),
        ("NN VB PREV1OR2OR3TAG MD", "can/MD not/RB now/RB work/NN", "MD RB RB VB"),
        ("NN VB NEXT1OR2OR3TAG DT", "work/NN now/RB on/IN the/DT", "VB RB IN DT"),
        ("NN VB SURROUNDTAG TO DT", "to/TO work/NN the/DT", "TO VB DT"),
        ("NN VB SURROUNDTAG TO DT", "to/TO work/NN on/IN", "TO NN IN"),
        ("NN VB SURROUNDTAG STAART DT", "work/NN the/DT", "VB DT"),
        ("NN VB PREVBIGRAM MD RB", "can/MD not/RB work/NN", "MD RB VB"),
        ("NN VB NEXTBIGRAM IN DT", "work/NN on/IN the/DT", "VB IN DT"),
        ("NN VB CURWD work", "work/NN", "VB"),
        ("NN VB PREVWD to", "to/TO work/NN", "TO VB"),
        ("NN VB NEXTWD hard", "work/NN hard/RB", "VB RB"),
        ("NN VB PREV1OR2WD n't", "n't/RB ever/RB work/NN", "RB RB VB"),
        ("NN VB NEXT1OR2WD hard", "work/NN so/RB hard/RB", "VB RB RB"),
        ("NN VB LBIGRAM to work", "to/TO work/NN", "TO VB"),
        ("NN VB RBIGRAM work hard", "work/NN hard/RB", "VB RB"),
        ("NN VB WDPREVTAG TO work", "to/TO work/NN", "TO VB"),
        ("NN VB WDNEXTTAG work DT", "work/NN the/DT", "VB DT"),
        ("IN RB WDAND2AFT as as", "as/IN good/JJ as/IN", "RB JJ IN"),
        ("NN VB WDAND2TAGBFR TO work", "to/TO not/RB work/NN", "TO RB VB"),
        ("NN VB WDAND2TAGAFT work DT", "work/NN on/IN the/DT", "VB IN DT"),
    ],
)
def test_each_context_is_looked_at(rule: str, sentence: str, expected: str) -> None:
    assert tagged([rule], sentence) == expected.split()


def test_rules_follow_each_other_over_the_whole_sentence() -> None:
    rules = ["NN VB PREVTAG TO", "JJ NN PREVTAG VB"]
    assert tagged(rules, "to/TO work/NN good/JJ") == ["TO", "VB", "NN"]
    assert tagged(rules[::-1], "to/TO work/NN good/JJ") == ["TO", "VB", "JJ"]


def test_a_changed_word_is_changed_again() -> None:
    assert tagged(["NN VB PREVTAG TO", "VB VBP PREVTAG TO"], "to/TO work/NN") == ["TO", "VBP"]


def test_a_rule_goes_from_left_to_right() -> None:
    rules = ["NN VB PREVTAG NN", "VB NN PREVTAG NN"]
    assert tagged(rules, "work/NN work/NN work/VB") == ["NN", "NN", "NN"]


def test_a_rule_sees_the_tag_of_now() -> None:
    assert tagged(["NN VB PREVTAG TO", "NN RB PREVTAG TO"], "to/TO back/NN") == ["TO", "VB"]


def test_a_word_never_gets_a_tag_it_cannot_have() -> None:
    assert tagged(["NN VB PREVTAG TO"], "to/TO childhood/NN") == ["TO", "NN"]
    assert tagged(["IN VB PREVTAG PRP"], "it/PRP of/IN") == ["PRP", "IN"]
    assert tagged(["IN WDT NEXTTAG VBZ"], "that/IN is/VBZ") == ["WDT", "VBZ"]


def test_an_empty_sentence_stays_empty() -> None:
    assert tagged(["NN VB PREVTAG TO"], "") == []


@pytest.mark.parametrize("line", ["NN VB NOWHERE TO", "NN VB SURROUNDTAG TO"])
def test_another_kind_of_line_is_refused(line: str) -> None:
    with pytest.raises(UsageError, match="Not a contextual rule"):
        parse_rules([line])
