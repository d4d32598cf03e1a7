"""A transfer study is stored whole, and its matrix is that of its labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brittle.errors import UsageError
from brittle.studies.pools import Member
from brittle.studies.study import study_of
from brittle.studies.transfer.study import TransferStudy, Winner

A, B = Member("A", "zoo:A@mr#0", "zoo:A@mr#1"), Member("B", "zoo:B@mr#0")
WINNERS = tuple(Winner(f"c{n}", n % 2, (("text", "a"),), (("text", "b"),)) for n in range(4))
FACTS: dict[str, Any] = {"pool": "two", "attack": "pwws", "data": "mr", "split": "test", "seed": 0}
STUDY: TransferStudy = study_of(
    "transfer",
    "small",
    **FACTS,
    settings={"candidates": "careful", "share": 0.3},
    labels=("neg", "pos"),
    attacked=6,
    sources=(A, B),
    targets=(A, B),
    winners={"A": WINNERS, "B": WINNERS[:2]},
    before={"A": {"c0": 0, "c1": 1}, "B": {"c0": 0, "c1": 0, "c2": 0, "c3": 1}},
    after={"A": {"A": (1, 0, 0, 1), "B": (1, 1)}, "B": {"A": (1, 0, 0, 0)}},
    twin_before={"A": {"c0": 0, "c1": 1, "c2": 1, "c3": 1}},
    failures={"B": "no second seed"},
)


def test_the_matrix_is_the_share_that_a_target_gets_wrong() -> None:
    matrix = STUDY.matrix()
    np.testing.assert_array_equal(matrix.rate, [[0.5, 0.75], [0.5, np.nan]])
    np.testing.assert_allclose(matrix.rate_of_right, [[2 / 3, 2 / 3], [0.5, np.nan]])
    assert matrix.count.tolist() == [4, 2]


def test_a_study_is_loaded_as_it_was_saved(tmp_path: Path) -> None:
    path = tmp_path / "small.study.json"
    STUDY.save(path)
    assert TransferStudy.load(path) == STUDY
    path.write_text(path.read_text()[:-40])
    with pytest.raises(UsageError, match="not a transfer study that this version"):
        TransferStudy.load(path)
    STUDY.changed(labels=()).save(path)
    path.write_text(path.read_text().replace('"format": 2', '"format": 3'))
    with pytest.raises(UsageError, match="from another version"):
        TransferStudy.load(path)
