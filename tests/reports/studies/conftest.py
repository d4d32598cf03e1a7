"""A small study as tables: three models, an empty cell, and texts that nobody should trust."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from brittle.reports.studies.tables import (
    ClassTable,
    FactorRow,
    FoolingText,
    Model,
    RateMatrix,
    ReportedStudy,
)

NAMES = {"LSTM-a": "LSTM", "CNN-b": "CNN", "LSTM-c": "LSTM"}
MODELS = tuple(
    Model(name, {"architecture": architecture, "reads": name[-1]})
    for name, architecture in NAMES.items()
)
RATE = np.array([[0.81, 0.345, 0.5], [0.25, 0.7, np.nan], [0.4, 0.3, 0.66]])
OF_RIGHT = np.array([[0.8, 0.333, 0.45], [0.2, 0.65, np.nan], [0.35, np.nan, 0.6]])


def make_matrix(models: tuple[Model, ...] = MODELS, **changes: Any) -> RateMatrix:
    values: dict[str, Any] = {
        "sources": models,
        "targets": models,
        "rate": RATE.copy(),
        "rate_of_right": OF_RIGHT.copy(),
        "texts": np.array([500, 412, 7]),
        "right": np.arange(9).reshape(3, 3) + 100,
    }
    return RateMatrix(**(values | changes))


@pytest.fixture
def make_study() -> Callable[..., ReportedStudy]:
    def make(**changes: Any) -> ReportedStudy:
        mean = np.array([[0.5925, 0.3225], [0.25, 0.7]])
        without = np.array([[0.45, 0.3225], [0.25, np.nan]])
        table = ClassTable(
            *("architecture", ("LSTM", "CNN"), ("LSTM", "CNN"), mean, without),
            *(mean - 0.05, mean + 0.05),
        )
        text = FoolingText(
            *("CNN-b", "c1", "positive"),
            *((("text", "a good film"),), (("text", "a fine film"),), 3, 3),
        )
        values: dict[str, Any] = {
            "name": "demo",
            "facts": {"pool": "small", "attack": "pwws", "settings": {"inflect": True}},
            "matrix": make_matrix(),
            "classes": [table],
            "factors": [FactorRow("input form", 0.286, 12, 0.27, 0.3)],
            "texts": [text],
            "fooling_all": 1,
            "winners": 919,
            "failures": {"CNN-b": "the file is damaged"},
            "warnings": ["412 winners of 500 asked for."],
        }
        return ReportedStudy(**(values | changes))

    return make
