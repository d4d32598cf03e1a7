"""A transfer study is stored whole, and its matrix is that of its labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from brittle.errors import UsageError
from brittle.studies.pools import Member
from brittle.studies.transfer.matrix import transfer_matrix
from brittle.studies.transfer.study import TransferStudy, Winner

A, B = Member("A", "zoo:A@mr#0", "zoo:A@mr#1"), Member("B", "zoo:B@mr#0")
WINNERS = tuple(Winner(f"c{n}", n % 2, (("text", "a"),), (("text", "b"),)) for n in range(4))
STUDY = TransferStudy(
    *(
        "small",
        "two",
        "pwws",
        {"candidates": "careful", "share": 0.3},
        "mr",
        "test",
        0,
        ("neg", "pos"),
        6,
    ),
    *((A, B), (A, B), {"A": WINNERS, "B": WINNERS[:2]}),
    before={"A": {"c0": 0, "c1": 1}, "B": {"c0": 0, "c1": 0, "c2": 0, "c3": 1}},
    after={"A": {"A": (1, 0, 0, 1), "B": (1, 1)}, "B": {"A": (1, 0, 0, 0)}},
    twin_before={"A": {"c0": 0, "c1": 1, "c2": 1, "c3": 1}},
    failures={"B": "no second seed"},
)


def test_the_matrix_is_the_share_that_a_target_gets_wrong() -> None:
    matrix = transfer_matrix(STUDY)
    np.testing.assert_array_equal(matrix.rate, [[0.5, 0.75], [0.5, np.nan]])
    np.testing.assert_allclose(matrix.rate_of_right, [[2 / 3, 2 / 3], [0.5, np.nan]])
    assert matrix.count.tolist() == [4, 2]


def test_a_study_is_loaded_as_it_was_saved(tmp_path: Path) -> None:
    path = tmp_path / "small.study.json"
    STUDY.save(path)
    assert TransferStudy.load(path) == STUDY
    path.write_text(path.read_text()[:-40])
    with pytest.raises(UsageError, match="no transfer study that this version"):
        TransferStudy.load(path)
    replace(STUDY, labels=()).save(path)
    path.write_text(path.read_text().replace('"format": 1', '"format": 2'))
    with pytest.raises(UsageError, match="of another version"):
        TransferStudy.load(path)
