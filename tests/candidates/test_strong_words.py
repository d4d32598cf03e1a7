"""Strong words: ratios by hand, ties by name, and labels that go by other names."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from brittle.attacks import RunContext, build
from brittle.candidates.strong_words import StrongWords
from brittle.candidates.training_data import learn_once
from brittle.data.example import Example
from brittle.errors import UsageError

EXAMPLES = [
    Example.of("Good good film", "Pos"),
    Example.of("bad film", "neg"),
    Example.of("nobody knows", None),
    Example.of("something else", "neutral"),
]


def test_ratios_by_hand() -> None:
    strong = StrongWords.learn(EXAMPLES, ["neg", "pos"])
    # Three words, each counted once more than seen: neg 2 + 3, pos 3 + 3.
    assert list(strong.words) == ["bad", "film", "good"]
    assert strong.strength("GOOD", 1, 0) == pytest.approx(math.log((3 / 6) / (1 / 5)))
    assert strong.strength("film", 1, 0) == pytest.approx(math.log((2 / 6) / (2 / 5)))
    assert strong.strength("nobody", 1, 0) == 0.0
    assert strong.strongest(1, 0, 2) == ["good", "film"]
    assert strong.strongest(0, 1, 9) == ["bad", "film", "good"]


def test_ties_stand_in_lexicographic_order() -> None:
    rows = [Example.of("zeta alpha mid", "pos"), Example.of("nothing", "neg")]
    assert StrongWords.learn(rows, ["neg", "pos"]).strongest(1, 0, 3) == ["alpha", "mid", "zeta"]


@pytest.mark.parametrize(
    "label_map",
    [
        {"neg": "LABEL_0", "pos": "LABEL_1"},
        {"NEG": "label_0", " pos ": "Label_1"},
    ],
)
def test_labels_of_the_data_are_mapped(label_map: dict[str, str]) -> None:
    mapped = StrongWords.learn(EXAMPLES, ["LABEL_0", "LABEL_1"], label_map)
    assert mapped.strongest(1, 0, 1) == ["good"]
    assert mapped.strongest(0, 1, 1) == ["bad"]


def test_the_map_comes_before_the_name_and_may_have_gaps() -> None:
    turned = StrongWords.learn(EXAMPLES, ["neg", "pos"], {"neg": "pos", "pos": "neg"})
    assert turned.strongest(0, 1, 1) == ["good"]
    partly = StrongWords.learn(EXAMPLES, ["neg", "LABEL_1"], {"pos": "LABEL_1"})
    assert partly.strongest(1, 0, 1) == ["good"]


def test_labels_that_differ_only_in_case_meet_as_they_are_spelt() -> None:
    rows = [Example.of("upper", "A"), Example.of("lower", "a")]
    assert StrongWords.learn(rows, ["a", "A"]).strongest(1, 0, 1) == ["upper"]


def test_a_class_without_examples_is_refused() -> None:
    with pytest.raises(UsageError, match=r"none of class 'LABEL_0'.*got the labels Pos, neg, neut"):
        StrongWords.learn(EXAMPLES, ["LABEL_0", "LABEL_1"])


def test_learned_needs_data() -> None:
    with pytest.raises(UsageError, match="--learn-from"):
        learn_once(StrongWords.learn, "words", None, ["neg", "pos"])


@pytest.mark.parametrize("attack", ["tack-on", "strongest-swap"])
def test_recipes_pass_the_map_on(attack: str, tmp_path: Path) -> None:
    file = tmp_path / "train.csv"
    file.write_text("text,label\ngood good film,pos\nbad film,neg\n", encoding="utf-8")
    values = {"learn_from": str(file)}
    one = build(
        attack, values, RunContext(["LABEL_0", "LABEL_1"], {"neg": "LABEL_0", "pos": "LABEL_1"})
    )
    other = build(
        attack, values, RunContext(["LABEL_0", "LABEL_1"], {"neg": "LABEL_1", "pos": "LABEL_0"})
    )
    assert one.strong.strongest(1, 0, 1) == ["good"]  # type: ignore[attr-defined]
    assert other.strong.strongest(1, 0, 1) == ["bad"]  # type: ignore[attr-defined]
    with pytest.raises(UsageError, match="none of class 'LABEL_0'"):
        build(attack, values, RunContext(["LABEL_0", "LABEL_1"]))
