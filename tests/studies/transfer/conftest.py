"""Synthetic transfer studies, and figures of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from brittle.reports.rate_matrix import MatrixModel, RateMatrix
from brittle.studies.pools import Member
from brittle.studies.study import study_of
from brittle.studies.transfer.factors import FactorRow
from brittle.studies.transfer.showing import ClassRates, FoolingText, TransferFigures
from brittle.studies.transfer.study import TransferStudy, Winner

MEMBERS = tuple(
    Member(
        f"{architecture}-{reads}",
        f"zoo:{architecture}-{reads}",
        parts={"architecture": architecture, "reads": reads},
    )
    for architecture in ("LSTM", "CNN")
    for reads in ("Random", "Character")
)


@pytest.fixture
def make_random_study() -> Callable[[int], TransferStudy]:
    """Make a study of four models with random answers; the last target has an empty cell."""

    def make(seed: int) -> TransferStudy:
        rng = np.random.default_rng(seed)
        names = [member.name for member in MEMBERS]
        winners = {
            name: tuple(
                Winner(f"c{n}", n % 2, (("text", f"a {n}"),), (("text", f"b {n}"),))
                for n in range(5 + i)
            )
            for i, name in enumerate(names)
        }
        before = {
            name: {f"c{n}": int(label) for n, label in enumerate(rng.integers(0, 2, 9))}
            for name in names
        }
        after = {
            target: {
                source: tuple(rng.integers(0, 2, len(winners[source])).tolist()) for source in names
            }
            for target in names
        }
        del after[names[-1]][names[0]]
        return study_of(
            "transfer",
            "four",
            pool="file",
            attack="pwws",
            settings={},
            data="mr",
            split="test",
            seed=0,
            labels=("neg", "pos"),
            attacked=20,
            sources=MEMBERS,
            targets=MEMBERS,
            winners=winners,
            before=before,
            after=after,
            twin_before=before,
            failures={names[-1]: "it died"},
        )

    return make


NAMES = {"LSTM-a": "LSTM", "CNN-b": "CNN", "LSTM-c": "LSTM"}
MODELS = tuple(
    MatrixModel(name, {"architecture": architecture, "reads": name[-1]})
    for name, architecture in NAMES.items()
)
RATE = np.array([[0.81, 0.345, 0.5], [0.25, 0.7, np.nan], [0.4, 0.3, 0.66]])
OF_RIGHT = np.array([[0.8, 0.333, 0.45], [0.2, 0.65, np.nan], [0.35, np.nan, 0.6]])


def make_matrix(models: tuple[MatrixModel, ...] = MODELS, **changes: Any) -> RateMatrix:
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
def make_figures() -> Callable[..., TransferFigures]:
    """Make the figures of three models: with an empty cell, and texts that nobody should trust."""

    def make(**changes: Any) -> TransferFigures:
        mean = np.array([[0.5925, 0.3225], [0.25, 0.7]])
        without = np.array([[0.45, 0.3225], [0.25, np.nan]])
        table = ClassRates(
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
        return TransferFigures(**(values | changes))

    return make
