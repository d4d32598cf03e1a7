"""Labels meet by name, case-blind; whatever is not clear is an error that names the flag."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import brittle
from brittle.answers import find_label
from brittle.candidates.training_data import find_class
from brittle.errors import UsageError
from brittle.goals.classes import Targeted
from brittle.goals.parsing import parse_goal
from brittle.studies.importance import importance
from brittle.targets.labels import label_names, match_labels, parse_labels
from brittle.testing import FakeTarget


def test_labels_meet_by_name_whatever_their_case_and_order() -> None:
    assert match_labels(["Positive", " negative"], ["NEGATIVE", "positive"]) == {
        "Positive": 1,
        " negative": 0,
    }


def test_exact_spelling_comes_before_case_blind_spelling() -> None:
    assert match_labels(["us", "US"], ["US", "us"]) == {"us": 1, "US": 0}
    assert find_label("Us", ["US", "us"]) is None


@pytest.mark.parametrize("spelt", ["Straße", "strasse", " STRASSE ", "Straße "])
def test_every_way_to_name_a_label_finds_the_same_one(spelt: str, tmp_path: Path) -> None:
    """A flag, a part of a goal, rules, data to learn from, a gold label."""
    labels = ["haus", "Straße "]
    target = FakeTarget({"good": 2.0}, labels, name="places")
    examples = [("a good film", "haus"), ("a film", "straße")]
    named: dict[str, Any] = {"folder": tmp_path, "budget": 5}
    toward = brittle.attack(target, examples, "key", toward=spelt, name="toward", **named)
    either = brittle.attack(target, examples, "key", goal=f"any(toward:{spelt})", name="a", **named)
    assert toward.manifest["toward"] == "Straße " and "Straße " in either.manifest["goal"]
    assert [row.status for row in toward.results()] == [row.status for row in either.results()]
    assert parse_goal(f"toward:{spelt}", labels=labels) == Targeted(1, "Straße ")
    assert find_class(spelt, labels) == find_class("x", labels, {"x": spelt}) == 1
    assert importance([target], "a good film", label=spelt).label == "Straße "


def test_data_that_shows_only_some_of_the_classes_is_fine() -> None:
    assert match_labels(["pos"], ["neg", "neutral", "pos"]) == {"pos": 2}
    assert match_labels([], ["neg", "pos"]) == {}


def test_integers_on_both_sides_are_names_like_others() -> None:
    assert match_labels(["1", "0"], ["0", "1"]) == {"1": 1, "0": 0}


@pytest.mark.parametrize(
    ("data", "target"),
    [
        (["0", "1"], ["neg", "pos"]),
        (["neg", "pos"], ["LABEL_0", "LABEL_1"]),
        (["neg", "pos"], ["negative", "positive"]),
        (["a", "b", "c"], ["a", "b"]),
    ],
)
def test_different_sets_are_never_guessed(data: list[str], target: list[str]) -> None:
    with pytest.raises(UsageError) as error:
        match_labels(data, target)
    for part in ("--labels", *map(repr, data), *map(repr, target)):
        assert part in str(error.value)


def test_a_mapping_says_which_is_which() -> None:
    assert match_labels(["neg", "pos"], ["LABEL_0", "LABEL_1"], "POS=label_1, neg=LABEL_0") == {
        "neg": 0,
        "pos": 1,
    }
    assert match_labels(["1", "2", "5"], ["neg", "pos"], {"1": "neg", "2": "neg", "5": "pos"}) == {
        "1": 0,
        "2": 0,
        "5": 1,
    }


def test_a_mapping_of_some_labels_leaves_the_others_to_their_names() -> None:
    assert match_labels(["World", "Tech"], ["world", "Sci/Tech"], "Tech=Sci/Tech") == {
        "World": 0,
        "Tech": 1,
    }


def test_a_mapping_that_misses_the_data_altogether_is_an_error() -> None:
    with pytest.raises(UsageError, match="'good', 'bad', which the data does not have"):
        match_labels(["neg", "pos"], ["neg", "pos"], "good=pos,bad=neg")


def test_a_mapping_onto_a_label_the_target_lacks_is_an_error() -> None:
    with pytest.raises(UsageError, match="'neg'"):
        match_labels(["neg", "pos"], ["LABEL_0", "LABEL_1"], "neg=LABEL_7,pos=LABEL_1")


def test_a_label_with_a_comma_stands_in_quotes() -> None:
    assert parse_labels('"Tech, science",World') == (("Tech, science", "World"), {})


@pytest.mark.parametrize("flag", ["", "neg,,pos", "neg=0,pos", "neg,neg", "a=0,a=1"])
def test_flags_that_mean_nothing_are_errors(flag: str) -> None:
    with pytest.raises(UsageError):
        parse_labels(flag)


def test_a_target_without_names_needs_them() -> None:
    with pytest.raises(UsageError, match=r"--labels negative,positive"):
        label_names(None, None, "The function 'f'")
    assert label_names(None, "neg,pos", "It") == ("neg", "pos")
    assert label_names(None, ["a=b", "c"], "It") == ("a=b", "c")


def test_numbered_columns_are_ordered_by_their_number() -> None:
    assert label_names(None, "pos=1,neg=0", "It") == ("0", "1")
    assert label_names(None, "p=POS,n=NEG,q=POS", "It") == ("POS", "NEG")


def test_placeholders_may_be_renamed_and_real_names_may_not() -> None:
    assert label_names(["LABEL_0", "LABEL_1"], "neg,pos", "It") == ("neg", "pos")
    assert label_names(["-1", "1"], "neg,pos", "It") == ("neg", "pos")
    assert label_names(["NEG", "POS"], "neg,pos", "It") == ("neg", "pos")
    with pytest.raises(UsageError, match="--labels pos=neg,neg=pos"):
        label_names(["neg", "pos"], "pos,neg", "It")


def test_the_count_of_names_must_fit() -> None:
    with pytest.raises(UsageError, match=r"names 3 labels .* has 2"):
        label_names(["LABEL_0", "LABEL_1"], "a,b,c", "It")


def test_the_right_side_of_a_mapping_must_be_the_targets() -> None:
    assert label_names(["neg", "pos"], "0=neg,1=pos", "It") == ("neg", "pos")
    with pytest.raises(UsageError, match="data=target"):
        label_names(["neg", "pos"], "neg=0,pos=1", "It")


def test_pairs_the_wrong_way_round_are_turned() -> None:
    with pytest.raises(UsageError, match=r"Write data=target.*: --labels pos=true,neg=false\.$"):
        match_labels(["neg", "pos"], ["pos", "neg"], "true=pos,false=neg")
