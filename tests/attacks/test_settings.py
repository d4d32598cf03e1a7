"""Settings out of range are refused by the recipes, before anything is asked."""

from __future__ import annotations

import math
from typing import Any

import pytest

from brittle.attacks import RunContext, build, recipe, settings
from brittle.errors import UsageError

NAN, INF = math.nan, math.inf
OUT_OF_RANGE: dict[str, dict[str, list[Any]]] = {
    "pwws": {"share": [0, -0.1, 1.01, NAN, "0.2"]},
    "random-swap": {"share": [0, -0.1, 1.01, NAN]},
    "genetic": {
        "population": [0, -1, 2.5],
        "generations": [0, -1],
        "share": [0, 1.5, NAN],
        "temperature": [0, -0.3, NAN, INF],
        "within": [0, -0.5, NAN],
        "k": [0, -8],
        "spare": [-1, 2.5],
    },
    "strongest-swap": {"n": [0, -1], "words": [0, -5]},
    "tack-on": {"words": [0, -5]},
    "hotflip": {"beam": [0, -1, 2.5], "share": [0, 1.5, NAN]},
    "hotflip-words": {"words": [0, -1], "beam": [0, 1.5], "cosine": [-0.1, 1.01, NAN, "0.8"]},
    "key": {"share": [0, 1.5, NAN], "draws": [0, -1]},
    "key-any": {"share": [0, 1.5, NAN], "draws": [0, -1]},
    "jsma": {"words": [0, -35]},
    "gs-gr": {"vocabulary": [1, 0, 2.5], "words": [0, -1]},
    "gs-ec": {"vocabulary": [1], "nearest": [0, -3, 1.5], "words": [0]},
    "asmin-ec": {"vocabulary": [1], "nearest": [0], "words": [0]},
    "random-word": {"vocabulary": [1, -1], "draws": [0, 2.5]},
}
NEEDED = {"within": {"neighbours": "glove"}, "k": {"neighbours": "glove"}}


@pytest.mark.parametrize(
    ("attack", "name", "value"),
    [(a, s, v) for a, table in OUT_OF_RANGE.items() for s, values in table.items() for v in values],
)
def test_out_of_range(attack: str, name: str, value: Any) -> None:
    values = {name: value} | NEEDED.get(name, {})
    with pytest.raises(UsageError, match=rf"Got --{name} {value!r}; expected ") as raised:
        build(attack, values, RunContext(["neg", "pos"]))
    assert str(raised.value).endswith(".")


@pytest.mark.parametrize(
    ("attack", "values"),
    [
        ("pwws", {"share": 1}),
        ("random-swap", {"share": 1.0}),
        ("genetic", {"population": 1, "generations": 1, "share": 0.01, "temperature": 1e-3}),
        ("genetic", {"neighbours": "glove", "within": 0.5, "k": 3}),
        ("hotflip", {"beam": 1, "share": 1.0}),
        ("hotflip-words", {"beam": 1, "words": 1, "cosine": 0}),
        ("hotflip-words", {"cosine": 1.0}),
        ("key", {"share": 1, "draws": 1}),
    ],
)
def test_the_edges_are_fine(attack: str, values: dict[str, Any]) -> None:
    made = build(attack, values, RunContext(["neg", "pos"]))
    for name, value in values.items():
        if name != "neighbours":
            holder = made.proposal if name in ("within", "k") else made  # type: ignore[attr-defined]
            assert getattr(holder, name) == value


@pytest.mark.parametrize("values", [{"within": 0.5}, {"k": 3}])
def test_settings_of_neighbours_need_neighbours(values: dict[str, Any]) -> None:
    (name,) = values
    with pytest.raises(UsageError, match=f"Set --neighbours too, or leave out --{name}"):
        build("genetic", values, RunContext(["neg", "pos"]))


def test_data_to_count_words_in_needs_a_number_of_words() -> None:
    with pytest.raises(UsageError, match="Set --spare too"):
        build("genetic", {"learn_from": "mr"}, RunContext(["neg", "pos"]))


def test_every_number_that_can_be_set_is_in_the_table() -> None:
    for attack, table in OUT_OF_RANGE.items():
        numbers = {s.name for s in settings(recipe(attack)) if s.kind in (int, float)}
        assert numbers == set(table)


@pytest.mark.parametrize("attack", ["strongest-swap", "tack-on"])
def test_what_the_run_fills_in_is_no_setting(attack: str) -> None:
    names = {s.name for s in settings(recipe(attack))}
    assert "learn_from" in names
    assert not names & {"labels", "label_map"}
