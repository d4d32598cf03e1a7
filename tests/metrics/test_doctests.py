"""The examples in the docstrings of metrics and reports are true."""

from __future__ import annotations

import doctest
import pkgutil
from importlib import import_module

import pytest

import brittle.metrics
import brittle.reports

MODULES = [
    f"{room.__name__}.{module.name}"
    for room in (brittle.metrics, brittle.reports)
    for module in pkgutil.iter_modules(room.__path__)
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    assert doctest.testmod(import_module(name)).failed == 0


def test_every_metric_has_an_example() -> None:
    for name in brittle.metrics.__all__:
        metric = getattr(brittle.metrics, name)
        if callable(metric) and not isinstance(metric, type):
            assert ">>>" in (metric.__doc__ or ""), name
