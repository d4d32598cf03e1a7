"""Settings parsed from text, checked and formatted."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from brittle.errors import UsageError
from brittle.zoo.names import changes
from brittle.zoo.names.settings import (
    FineTuningSettings,
    LinearSvmSettings,
    NetworkSettings,
)
from brittle.zoo.names.sizes import DEFAULT, PAPER

FORMER: dict[str, Any] = {
    "reads": 9,
    "forget": 0.5,
    "spelling": 7,
    "kernels": 3,
    "rate": 0.5,
    "decay": 0.5,
    "batch": 5,
    "clip": 2.0,
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("hidden=64", 64),
        (" dropout = 0.25 ", 0.25),
        ("learning_rate=1", 1.0),
        ("learning_rate=1e-3", 1e-3),
        ("tuned=no", False),
        ("tuned=TRUE", True),
        ("widths=2+3", (2, 3)),
        ("widths=2,3,7", (2, 3, 7)),
        ("optimizer=sgd", "sgd"),
    ],
)
def test_texts_are_read_as_the_settings_own_kind(text: str, value: Any) -> None:
    [(name, found)] = changes.parse_settings("M", NetworkSettings(), [text]).items()
    assert (found, type(found)) == (value, type(value))
    [again] = changes.parse_settings(
        "M", NetworkSettings(), [changes.format_settings({name: found})]
    ).values()
    assert again == value
    assert getattr(changes.with_changes("M", NetworkSettings(), {name: found}), name) == value


def test_a_later_setting_counts() -> None:
    assert changes.parse_settings("M", NetworkSettings(), ["hidden=1", "hidden=2"]) == {"hidden": 2}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hiden=64", "Unknown setting of M 'hiden'. Did you mean 'hidden'?"),
        ("hidden", "Got the setting 'hidden' for M. Expected NAME=VALUE, such as max_length=400."),
        ("=3", "Expected NAME=VALUE"),
        ("hidden=6.5", "Got '6.5' for the setting hidden of M. Expected a whole number."),
        ("learning_rate=fast", "Got 'fast' for the setting learning_rate of M. Expected a number."),
        ("tuned=perhaps", "Expected yes or no."),
        ("widths=3-5", "Expected whole numbers such as 3+4+5."),
    ],
)
def test_texts_that_are_no_settings(text: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        changes.parse_settings("M", NetworkSettings(), [text])
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("settings", "change", "message"),
    [
        (NetworkSettings(), {"hidden": 0}, "Expected 1 or more"),
        (NetworkSettings(), {"epochs": -1}, "Expected 1 or more"),
        (NetworkSettings(), {"highways": -1}, "Expected 0 or more"),
        (NetworkSettings(), {"dropout": 1.0}, "a share from 0 to below 1"),
        (NetworkSettings(), {"word_dropout": -0.1}, "a share from 0 to below 1"),
        (NetworkSettings(), {"learning_rate": 0.0}, "a number above 0"),
        (NetworkSettings(), {"learning_rate": float("nan")}, "a number above 0"),
        (NetworkSettings(), {"max_grad_norm": -1.0}, "a number of 0 or more"),
        (NetworkSettings(), {"weight_decay": float("inf")}, "a number of 0 or more"),
        (NetworkSettings(), {"widths": ()}, "whole numbers of 1 or more"),
        (NetworkSettings(), {"widths": (0,)}, "whole numbers of 1 or more"),
        (
            NetworkSettings(),
            {"optimizer": "adan"},
            "Unknown optimizer of M 'adan'. Did you mean 'adam'?",
        ),
        (
            NetworkSettings(),
            {"hidden": "64"},
            "Got '64' for the setting hidden of M. Expected a whole",
        ),
        (NetworkSettings(), {"tuned": 1}, "Expected yes or no"),
        (NetworkSettings(), {"hidden": True}, "Expected a whole number"),
        (LinearSvmSettings(), {"penalty": 0}, "a number above 0"),
        (FineTuningSettings(), {"frozen": -1}, "Expected 0 or more"),
    ],
)
def test_values_that_cannot_be(settings: Any, change: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as error:
        changes.with_changes("M", settings, change)
    assert message in str(error.value)


def test_the_difference_is_what_makes_one_of_the_other() -> None:
    one = NetworkSettings(hidden=9, widths=(1, 2), tuned=False)
    changed = changes.changed_settings(one, NetworkSettings())
    assert changed == {"hidden": 9, "widths": [1, 2], "tuned": False}
    assert changes.with_changes("M", NetworkSettings(), changed) == one
    assert changes.changed_settings(one, one) == {}


def test_former_names_of_settings_are_read() -> None:
    by_text = changes.parse_settings("M", NetworkSettings(), ["rate=0.5", "reads=9"])
    assert by_text == {"learning_rate": 0.5, "max_length": 9}
    settings = changes.with_changes("M", NetworkSettings(), FORMER)
    assert changes.with_former_names(changes.as_json(settings)).items() >= FORMER.items()
    assert changes.format_settings(by_text) == "learning_rate=0.5,max_length=9"
    assert changes.parse_settings("M", NetworkSettings(), ["rate=1", "learning_rate=2"]) == {
        "learning_rate": 2.0
    }


def test_every_former_name_belongs_to_one_setting() -> None:
    kinds = {type(settings) for settings in (*DEFAULT.values(), *PAPER.values())}
    names = {field.name for kind in kinds for field in fields(kind)}
    assert set(changes.FORMER_NAMES) <= names
    assert not set(changes.PRESENT_NAMES) & names


@pytest.mark.parametrize(
    ("name", "now"),
    [
        ("LSTM-W-Random-1@mr#0", "LSTM-W-Random-1@mr#0"),
        ("a?b.csv@x#1?size=paper,batch=3", "a?b.csv@x#1?size=paper,batch_size=3"),
        ("L+key,rate=0.1@mr#0?clip=1.0", "L+key,rate=0.1@mr#0?max_grad_norm=1.0"),
    ],
)
def test_names_of_models_with_former_settings(name: str, now: str) -> None:
    assert changes.present_name(name) == now
    assert changes.present_name(now) == now
    assert changes.former_name(now) == name
