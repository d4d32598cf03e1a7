"""Settings read from text, checked and told."""

from __future__ import annotations

from typing import Any

import pytest

from brittle.errors import UsageError
from brittle.zoo.names import changes
from brittle.zoo.names.settings import FineTuning, LinearSvm, Network


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("hidden=64", 64),
        (" dropout = 0.25 ", 0.25),
        ("rate=1", 1.0),
        ("rate=1e-3", 1e-3),
        ("tuned=no", False),
        ("tuned=TRUE", True),
        ("widths=2+3", (2, 3)),
        ("widths=2,3,7", (2, 3, 7)),
        ("optimizer=sgd", "sgd"),
    ],
)
def test_texts_are_read_as_the_settings_own_kind(text: str, value: Any) -> None:
    [(name, found)] = changes.read("M", Network(), [text]).items()
    assert (found, type(found)) == (value, type(value))
    [again] = changes.read("M", Network(), [changes.told({name: found})]).values()
    assert again == value
    assert getattr(changes.changed("M", Network(), {name: found}), name) == value


def test_a_later_setting_counts() -> None:
    assert changes.read("M", Network(), ["hidden=1", "hidden=2"]) == {"hidden": 2}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hiden=64", "Unknown setting of M 'hiden'. Did you mean 'hidden'?"),
        ("hidden", "Got the setting 'hidden' for M. Expected NAME=VALUE, such as reads=400."),
        ("=3", "Expected NAME=VALUE"),
        ("hidden=6.5", "Got '6.5' for the setting hidden of M. Expected a whole number."),
        ("rate=fast", "Got 'fast' for the setting rate of M. Expected a number."),
        ("tuned=perhaps", "Expected yes or no."),
        ("widths=3-5", "Expected whole numbers such as 3+4+5."),
    ],
)
def test_texts_that_are_no_settings(text: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        changes.read("M", Network(), [text])
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("settings", "change", "message"),
    [
        (Network(), {"hidden": 0}, "Expected 1 or more"),
        (Network(), {"epochs": -1}, "Expected 1 or more"),
        (Network(), {"highways": -1}, "Expected 0 or more"),
        (Network(), {"dropout": 1.0}, "a share from 0 to below 1"),
        (Network(), {"forget": -0.1}, "a share from 0 to below 1"),
        (Network(), {"rate": 0.0}, "a number above 0"),
        (Network(), {"rate": float("nan")}, "a number above 0"),
        (Network(), {"clip": -1.0}, "a number of 0 or more"),
        (Network(), {"decay": float("inf")}, "a number of 0 or more"),
        (Network(), {"widths": ()}, "whole numbers of 1 or more"),
        (Network(), {"widths": (0,)}, "whole numbers of 1 or more"),
        (Network(), {"optimizer": "adan"}, "Unknown optimizer of M 'adan'. Did you mean 'adam'?"),
        (Network(), {"hidden": "64"}, "Got '64' for the setting hidden of M. Expected a whole"),
        (Network(), {"tuned": 1}, "Expected yes or no"),
        (Network(), {"hidden": True}, "Expected a whole number"),
        (LinearSvm(), {"penalty": 0}, "a number above 0"),
        (FineTuning(), {"frozen": -1}, "Expected 0 or more"),
    ],
)
def test_values_that_cannot_be(settings: Any, change: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as error:
        changes.changed("M", settings, change)
    assert message in str(error.value)


def test_the_difference_is_what_makes_one_of_the_other() -> None:
    one = Network(hidden=9, widths=(1, 2), tuned=False)
    told = changes.difference(one, Network())
    assert told == {"hidden": 9, "widths": [1, 2], "tuned": False}
    assert changes.changed("M", Network(), told) == one
    assert changes.difference(one, one) == {}
