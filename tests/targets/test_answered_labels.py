"""Labels that a target names in its answers, and that nobody lists."""

from __future__ import annotations

from typing import Any

import pytest

from brittle.errors import TargetError, UsageError
from brittle.opening import as_target
from brittle.redaction import remember
from brittle.targets.labels import answered_labels, refuse_unnamed
from brittle.text import Text

GOOD, BAD = Text.of("a good film"), Text.of("a bad film")
ENTRIES = [{"label": "offensive", "score": 0.3}, {"label": "clean", "score": 0.7}]


def named(texts: list[str]) -> list[dict[str, float]]:
    """Name the labels in another order for every text."""
    rows = [{"offensive": 0.25, "clean": 0.75}, {"clean": 0.5, "offensive": 0.5}]
    return [rows["bad" in text] for text in texts]


@pytest.mark.parametrize("answer", [{"offensive": 0.3, "clean": 0.7}, ENTRIES, ENTRIES[::-1]])
def test_names_are_found_in_any_order(answer: Any) -> None:
    assert answered_labels(answer, "auto", "It") == ("clean", "offensive")


def test_logits_need_not_add_up() -> None:
    assert answered_labels({"b": 3, "a": -1.5}, "logits", "It") == ("a", "b")
    with pytest.raises(UsageError, match=r"add up to 1\.5.*labels may be missing"):
        answered_labels({"b": 3, "a": -1.5}, "auto", "It")


@pytest.mark.parametrize(
    "answer",
    [
        *([0.3, 0.7], 0.3, "clean", None, {}, [], [[0.3, 0.7]]),
        {"label": "clean", "score": 0.7},  # the best label alone
        {"clean": 1.0},
        {"text": "a film", "language": "en"},
        {"clean": True, "offensive": False},
        {"results": {"clean": 0.7, "offensive": 0.3}, "time": 0.1},
    ],
)
def test_what_names_no_labels_asks_for_them(answer: Any) -> None:
    with pytest.raises(UsageError, match=r"--labels negative,positive.*plain sentence with"):
        answered_labels(answer, "auto", "It")


def test_a_function_names_its_labels() -> None:
    target = as_target(named)
    assert target.labels == ("clean", "offensive")
    assert target.scores([GOOD, BAD]).tolist() == [[0.75, 0.25], [0.5, 0.5]]


def test_labels_of_the_user_go_first() -> None:
    calls: list[Any] = []
    target = as_target(lambda texts: calls.append(texts), labels="offensive,clean")
    assert target.labels == ("offensive", "clean") and not calls


def test_pairs_are_asked_by_their_fields() -> None:
    def pairs(rows: list[Any]) -> list[Any]:
        assert all({*row} == {"premise", "hypothesis"} for row in rows)
        return [{"no": 0.5, "yes": 0.5} for _ in rows]

    assert as_target(pairs, fields=("premise", "hypothesis")).labels == ("no", "yes")


def test_a_function_that_fails_is_asked_for_its_labels() -> None:
    def fail(texts: list[str]) -> Any:
        raise ValueError("no")

    with pytest.raises(UsageError, match="--labels"):
        as_target(fail)


def test_a_plain_list_has_no_order_then() -> None:
    target = as_target(lambda texts: named(texts) if "bad" not in texts[0] else [[0.1, 0.9]])
    assert target.scores([GOOD]).tolist() == [[0.75, 0.25]]
    with pytest.raises(TargetError, match="has no labels"):
        target.scores([BAD])
    refuse_unnamed(["clean", {"clean": 1.0}, ENTRIES], "It")


def test_a_key_that_comes_back_as_a_label_is_refused_and_not_cut_in_two() -> None:
    remember("s3cret-k3y-of-many-characters-that-reprlib-would-cut")
    secret = "s3cret-k3y-of-many-characters-that-reprlib-would-cut"
    with pytest.raises(UsageError, match="a label contains a secret key") as caught:
        answered_labels({secret: 0.3, "clean": 0.7}, "auto", "It")
    with pytest.raises(UsageError, match="answered a plain sentence") as quoted:
        answered_labels([secret], "auto", "It")
    assert "s3cret" not in f"{caught.value}{quoted.value}"
