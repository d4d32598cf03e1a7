"""Rules: which one a word takes, in which order, up to which share; and their file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from brittle.candidates.rules import (
    Rule,
    Rules,
    apply_rules,
    load_rules,
    matching_rules,
    save_rules,
)
from brittle.candidates.synonyms import SubstituteTable
from brittle.errors import UsageError
from brittle.text import Text

LABELS = ("bad", "good")
RULES = Rules(
    LABELS,
    (
        Rule("good", "fine", "okay", 2.0, 3, (0.5, -0.25), (0.0, 1.0), 4, 3),
        Rule("good", "fine", "subtle", 3.0, 1),
        Rule("good", "film", "flick", 2.5, 9),
        Rule("good", "a", "the", 2.0, 9),
        Rule("good", "poor", "worse", -1.0, 2),
        Rule("bad", "fine", "dandy", 9.0, 2),
    ),
    {"method": "uawr", "data": "films"},
)
TEXT = Text.of("A Fine film is a poor FILM")


def changed(share: float, label: str = "good", table: SubstituteTable | None = None) -> list[str]:
    matches = matching_rules(RULES, TEXT, label, range(len(TEXT)), table)
    return [str(text) for text in apply_rules(TEXT, matches, share)]


def test_the_most_salient_word_comes_first_and_ties_in_order() -> None:
    assert changed(1.0) == [
        "A Subtle film is a poor FILM",
        "A Subtle flick is a poor FILM",
        "A Subtle flick is a poor FLICK",
        "The Subtle flick is a poor FLICK",
        "The Subtle flick is the poor FLICK",
    ]
    assert changed(1.0, "bad") == ["A Dandy film is a poor FILM"]


def test_the_share_is_never_exceeded() -> None:
    for percent in range(1, 101):
        path = changed(percent / 100)
        assert len(path) == min(5, percent * 7 // 100)
    assert changed(0.14) == []


def test_a_proposal_decides_where_a_rule_applies() -> None:
    table = SubstituteTable({"fine": ("Okay",), "film": ("movie",)})
    assert changed(1.0, table=table) == ["A Okay film is a poor FILM"]


def test_only_some_positions_may_be_edited() -> None:
    assert [i for i, _ in matching_rules(RULES, TEXT, "good", [0, 2, 5])] == [2, 0]
    assert matching_rules(RULES, TEXT.mask(1), "good", [1]) == []


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    save_rules(RULES, tmp_path / "films.rules")
    loaded = load_rules(tmp_path / "films.rules")
    assert loaded.rules == RULES.rules and loaded.labels == LABELS
    assert loaded.about == {"method": "uawr", "data": "films", "rules": 6}


HEADER = json.dumps({"brittle rules": 1, "labels": ["bad", "good"]})
RULE = json.dumps(
    {"label": "good", "word": "fine", "substitute": "okay", "salience": 1.0, "support": 2}
)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        (HEADER + "\n", "has no rules"),
        ("nothing\n", "not a file of rules"),
        ("[]\n", "not a file of rules"),
        ('{"labels": ["a"]}\n', "not a file of rules"),
        (HEADER.replace("1,", "9,") + "\n" + RULE, "the format 9"),
        (HEADER + "\n" + RULE[:30], "Line 2 .* is damaged"),
        (HEADER + "\n" + RULE.replace("good", "fair"), "'fair' is not among bad, good"),
        (HEADER + "\n" + RULE.replace("okay", "not bad"), "one word with one word"),
        (HEADER + "\n" + RULE.replace("1.0", "NaN"), "salience is nan; expected a finite number"),
        (HEADER[:-1] + ', "rules": 2}\n' + RULE, "some are missing"),
        (HEADER[:-1] + ', "rules": "2"}\n' + RULE, "rules is '2'; expected a whole number"),
        (
            HEADER[:-1] + ', "texts": [null]}\n' + RULE,
            r"texts is \[None\]; expected a whole number",
        ),
        (HEADER[:-1] + ', "members": 3}\n' + RULE, "members is 3; expected a list"),
        (HEADER + "\n" + RULE.replace('"fine"', "null"), "word is None; expected a text"),
        (HEADER + "\n" + RULE.replace("2}", "-2}"), "support is -2; expected a whole number of at"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "some.rules").write_text(content)
    with pytest.raises(UsageError, match=message):
        load_rules(tmp_path / "some.rules")


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load_rules(tmp_path / "none.rules")
