"""Labels meet by name, case-blind; whatever is not clear is an error that names the flag."""

from __future__ import annotations

import pytest

from brittle.errors import UsageError
from brittle.targets.labels import find, match, names, read


def test_labels_meet_by_name_whatever_their_case_and_order() -> None:
    assert match(["Positive", " negative"], ["NEGATIVE", "positive"]) == {
        "Positive": 1,
        " negative": 0,
    }


def test_exact_spelling_comes_before_case_blind_spelling() -> None:
    assert match(["us", "US"], ["US", "us"]) == {"us": 1, "US": 0}
    assert find("Us", ["US", "us"]) is None


def test_data_that_shows_only_some_of_the_classes_is_fine() -> None:
    assert match(["pos"], ["neg", "neutral", "pos"]) == {"pos": 2}
    assert match([], ["neg", "pos"]) == {}


def test_integers_on_both_sides_are_names_like_others() -> None:
    assert match(["1", "0"], ["0", "1"]) == {"1": 1, "0": 0}


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
        match(data, target)
    for part in ("--labels", *map(repr, data), *map(repr, target)):
        assert part in str(error.value)


def test_a_mapping_says_which_is_which() -> None:
    assert match(["neg", "pos"], ["LABEL_0", "LABEL_1"], "POS=label_1, neg=LABEL_0") == {
        "neg": 0,
        "pos": 1,
    }
    assert match(["1", "2", "5"], ["neg", "pos"], {"1": "neg", "2": "neg", "5": "pos"}) == {
        "1": 0,
        "2": 0,
        "5": 1,
    }


def test_a_mapping_of_some_labels_leaves_the_others_to_their_names() -> None:
    assert match(["World", "Tech"], ["world", "Sci/Tech"], "Tech=Sci/Tech") == {
        "World": 0,
        "Tech": 1,
    }


def test_a_mapping_that_misses_the_data_altogether_is_an_error() -> None:
    with pytest.raises(UsageError, match="'good', 'bad', not in the data"):
        match(["neg", "pos"], ["neg", "pos"], "good=pos,bad=neg")


def test_a_mapping_onto_a_label_the_target_lacks_is_an_error() -> None:
    with pytest.raises(UsageError, match="'neg'"):
        match(["neg", "pos"], ["LABEL_0", "LABEL_1"], "neg=LABEL_7,pos=LABEL_1")


def test_a_label_with_a_comma_stands_in_quotes() -> None:
    assert read('"Tech, science",World') == (("Tech, science", "World"), {})


@pytest.mark.parametrize("flag", ["", "neg,,pos", "neg=0,pos", "neg,neg", "a=0,a=1"])
def test_flags_that_mean_nothing_are_errors(flag: str) -> None:
    with pytest.raises(UsageError):
        read(flag)


def test_a_target_without_names_needs_them() -> None:
    with pytest.raises(UsageError, match=r"--labels negative,positive"):
        names(None, None, "The function 'f'")
    assert names(None, "neg,pos", "It") == ("neg", "pos")
    assert names(None, ["a=b", "c"], "It") == ("a=b", "c")


def test_numbered_columns_are_ordered_by_their_number() -> None:
    assert names(None, "pos=1,neg=0", "It") == ("0", "1")
    assert names(None, "p=POS,n=NEG,q=POS", "It") == ("POS", "NEG")


def test_placeholders_may_be_renamed_and_real_names_may_not() -> None:
    assert names(["LABEL_0", "LABEL_1"], "neg,pos", "It") == ("neg", "pos")
    assert names(["-1", "1"], "neg,pos", "It") == ("neg", "pos")
    assert names(["NEG", "POS"], "neg,pos", "It") == ("neg", "pos")
    with pytest.raises(UsageError, match="--labels pos=neg,neg=pos"):
        names(["neg", "pos"], "pos,neg", "It")


def test_the_count_of_names_must_fit() -> None:
    with pytest.raises(UsageError, match=r"names 3 labels .* has 2"):
        names(["LABEL_0", "LABEL_1"], "a,b,c", "It")


def test_the_right_side_of_a_mapping_must_be_the_targets() -> None:
    assert names(["neg", "pos"], "0=neg,1=pos", "It") == ("neg", "pos")
    with pytest.raises(UsageError, match="data=target"):
        names(["neg", "pos"], "neg=0,pos=1", "It")
