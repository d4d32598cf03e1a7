"""What a model says becomes probabilities, or an error that says why not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from brittle.errors import TargetError, UsageError
from brittle.targets.options import check_kind
from brittle.targets.scores import as_probabilities, parse_answers, softmax

TWO = ("neg", "pos")
THREE = ("a", "b", "c")


def test_probabilities_are_normalised_in_float64() -> None:
    raw = np.array([[0.3, 0.7], [0.1, 0.9004]], dtype=np.float32)
    score = parse_answers(raw, 2, TWO)
    assert score.dtype == np.float64
    assert np.abs(score.sum(axis=1) - 1).max() < 1e-15


def test_logits_keep_the_small_class() -> None:
    score = parse_answers([[0.0, 80.0]], 1, TWO, "logits")
    assert score[0, 0] == pytest.approx(np.exp(-80.0), rel=1e-12)


def test_one_logit_is_that_of_the_second_label() -> None:
    score = parse_answers([40.0, -40.0], 2, TWO, "logits")
    assert score == pytest.approx(softmax(np.array([[0.0, 40.0], [0.0, -40.0]])), rel=1e-12)
    assert score[1, 1] == pytest.approx(np.exp(-40.0), rel=1e-12)


def test_the_small_class_keeps_its_digits() -> None:
    score = softmax(np.array([[0.0, 60.0], [0.0, 60.5]]))
    assert 0 < score[1, 0] < score[0, 0] < 1e-25


def test_a_single_probability_keeps_its_exact_value() -> None:
    tiny = 1.2345678901234567e-20
    score = parse_answers([tiny, 0.1], 2, TWO, "single")
    assert score[0, 1] == tiny
    assert (score[1, 0], score[1, 1]) == (0.9, 0.1)
    near = np.float32(0.99999994)
    assert parse_answers(np.array([[near]]), 1, TWO, "single")[0, 0] == 1.0 - float(near)


@pytest.mark.parametrize(
    "answers",
    [
        [{"pos": 0.8, "neg": 0.2}],
        [{"POS": 0.8, "Neg": 0.2}],
        [[{"label": "pos", "score": 0.8}, {"label": "neg", "score": 0.2}]],
        [[0.2, 0.8]],
        ([0.2, 0.8],),
        np.array([[0.2, 0.8]]),
    ],
)
def test_every_shape_of_answer_reads_alike(answers: Any) -> None:
    assert parse_answers(answers, 1, TWO) == pytest.approx(np.array([[0.2, 0.8]]))


def test_maps_may_hold_logits() -> None:
    score = parse_answers([{"pos": 2.0, "neg": 0.0}], 1, TWO, "logits")
    assert score[0, 1] == pytest.approx(1 / (1 + np.exp(-2.0)))


def test_the_keys_of_entries_can_have_other_names() -> None:
    answers = [[{"class": "pos", "p": 0.9}, {"class": "neg", "p": 0.1}]]
    assert parse_answers(answers, 1, TWO, keys=("class", "p"))[0] == pytest.approx([0.1, 0.9])


@pytest.mark.parametrize(
    "answers", [["pos", "Neg"], np.array(["pos", "neg"]), [{"label": "pos"}, "neg"]]
)
def test_labels_become_one_hot(answers: Any) -> None:
    assert parse_answers(answers, 2, TWO).tolist() == [[0.0, 1.0], [1.0, 0.0]]


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        (1, 1),
        (np.int64(0), 0),
        (1.0, 1),
        ("1", 1),
        ({"0": 0.4, "1": 0.6}, 1),
        ([{"label": "0", "score": 0.9}], 0),
        ({"label": "1", "score": 0.9}, 1),
        ([0.5, 0.5], 0),
        (np.array([-3.0, 2.0]), 1),
    ],
)
def test_declared_labels_are_read_from_any_shape(answer: Any, label: int) -> None:
    assert parse_answers([answer], 1, ("0", "1"), "label")[0].argmax() == label


def test_a_tensor_is_an_array() -> None:
    class Tensor:
        def detach(self) -> Tensor:
            return self

        def cpu(self) -> Tensor:
            return self

        def numpy(self) -> Any:
            return np.array([[0.25, 0.75]])

    assert parse_answers(Tensor(), 1, TWO)[0, 1] == 0.75


def test_nothing_asked_is_nothing_answered() -> None:
    assert parse_answers([], 0, THREE).shape == (0, 3)


@pytest.mark.parametrize(
    "raw", [[[2.0, -1.0]], [[0.7, 0.7]], [[0.2, 0.3]], [[-0.1, 1.1]], [[0.0, 1.002]]]
)
def test_what_is_no_probability_names_the_flag_and_shows_a_row(raw: Any) -> None:
    with pytest.raises(UsageError, match="--scores logits") as error:
        parse_answers(raw, 1, TWO)
    assert f"{raw[0][1]:g}" in str(error.value)


@pytest.mark.parametrize("kind", ["auto", "prob"])
def test_one_number_a_text_must_be_declared(kind: Any) -> None:
    with pytest.raises(UsageError, match="--scores single"):
        parse_answers([0.1, 0.9], 2, TWO, kind)


@pytest.mark.parametrize("p", [-0.1, 1.1])
def test_a_single_number_outside_0_to_1_is_no_probability(p: float) -> None:
    with pytest.raises(UsageError, match="from 0 to 1"):
        parse_answers([p], 1, TWO, "single")


def test_single_needs_two_labels_and_one_number() -> None:
    with pytest.raises(UsageError, match="two labels"):
        parse_answers([0.5], 1, THREE, "single")
    with pytest.raises(UsageError, match="shape"):
        parse_answers([[0.5, 0.5]], 1, TWO, "single")


@pytest.mark.parametrize(
    ("raw", "rows", "message"),
    [
        ([[0.5, 0.5]], 2, "1 answers for 2 texts"),
        (np.full((3, 2), 0.5), 2, "3 answers for 2 texts"),
        ([[0.2, 0.3, 0.5]], 1, r"\(1, 3\) for 1 texts. Expected \(1, 2\)"),
        ([[0.5, 0.5], [1.0]], 2, "not a table of numbers"),
        ([[0.5, float("nan")]], 1, "not finite for 1 of 1"),
        ([[0.5, None]], 1, "not finite"),
        ([{"pos": "much", "neg": 0}], 1, "'much'"),
        ([{"pos": "0.5", "neg": 0.5}], 1, "'0.5'. Expected a number"),
        ([{"pos": True, "neg": False}], 1, "True. Expected a number"),
        ([["0.5", "0.5"]], 1, "'0.5', a str"),
        ([[True, False]], 1, "True, a bool"),
        ([[0.0, True]], 1, "True, a bool"),
        (np.array([["0.5", "0.5"]]), 1, "a str_"),
        (np.array([[False, True]]), 1, "a bool"),
        ([np.array([True, False])], 1, "a bool"),
        (
            [[{"label": "pos", "score": "1"}, {"label": "neg", "score": 0}]],
            1,
            "'1'. Expected a num",
        ),
        ([{"pos": 0.5, "neg": 0.2, "POS ": 0.3}], 1, "named the label 'pos' twice"),
        (
            [[{"label": x, "score": 0.5} for x in ("neg", "pos", "neg")]],
            1,
            "named the label 'neg' twice",
        ),
        ([{"pos": 0.5}], 1, "no score for neg"),
        ([{"label": "pos", "score": 0.9}], 1, "--scores label"),
        ([{"pos": 0.5, "other": 0.5}], 1, "'other'. Expected one of: neg, pos"),
        (["maybe"], 1, "'maybe'"),
        ("pos", 1, "a str"),
        ({"pos": 1.0}, 1, "a dict"),
        (0.5, 1, "a float"),
        (None, 1, "a NoneType"),
    ],
)
def test_what_one_text_may_have_caused_fails_that_text_alone(
    raw: Any, rows: int, message: str
) -> None:
    with pytest.raises(TargetError, match=message):
        parse_answers(raw, rows, TWO)


def test_a_single_number_is_a_number() -> None:
    for value in ("0.5", True, np.True_):
        with pytest.raises(TargetError, match=r"Expected a number|the label '0.5'"):
            parse_answers([value, 0.5], 2, TWO, "single")


def test_a_label_named_twice_is_refused_where_only_the_label_counts() -> None:
    twice = [{"label": "neg", "score": 0.1}, {"label": "neg", "score": 0.9}]
    with pytest.raises(TargetError, match="'neg' twice"):
        parse_answers([twice], 1, TWO, "label")
    assert parse_answers([True, False], 2, ("False", "True"), "label").argmax(axis=1).tolist() == [
        1,
        0,
    ]


def test_not_finite_logits_fail_too() -> None:
    with pytest.raises(TargetError, match="not finite"):
        as_probabilities([[np.inf, 0.0]], 1, TWO, "logits")


def test_unknown_kinds_are_refused() -> None:
    with pytest.raises(UsageError, match="Did you mean 'logits'"):
        check_kind("logit")


def test_labels_of_no_use_may_be_unknown() -> None:
    answer = [{"label": "good", "score": 0.9}, {"label": "other", "score": 0.1}]
    scores = parse_answers([answer], 1, ("bad", "good"), "label", "It")
    assert np.asarray(scores).tolist() == [[0.0, 1.0]]
    with pytest.raises(TargetError, match="'good' twice"):
        parse_answers([[answer[0], answer[0]]], 1, ("bad", "good"), "label", "It")


def test_percentages_may_be_rounded_to_whole_numbers() -> None:
    got = as_probabilities([[33, 33, 33]], 1, ("a", "b", "c"), "percent")
    assert np.allclose(got, 1 / 3)
    with pytest.raises(UsageError, match=r"Expected percentages, sum 100"):
        as_probabilities([[0.2, 0.8]], 1, ("a", "b"), "percent")
    with pytest.raises(UsageError, match=r"say --scores percent"):
        as_probabilities([[20, 80]], 1, ("a", "b"))
