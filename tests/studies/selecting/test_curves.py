"""Figure 1 from two matrices, the study that a pool has, and ensembles that are attacked."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from brittle.data.dataset import Dataset
from brittle.data.example import Example
from brittle.errors import UsageError
from brittle.studies.pools import Member
from brittle.studies.selecting.search import candidates_of
from brittle.studies.selecting.selecting import (
    CurvePoint,
    SelectedEnsemble,
    attack_ensembles,
    ensemble_curves,
    find_study,
    select,
)
from brittle.studies.study import study_of
from brittle.studies.transfer.study import TransferMatrix, TransferStudy, Winner, counts_of

A, B, C, D = (Member(name, f"zoo:{name}@mr#0") for name in "ABCD")
STUDY: TransferStudy = study_of(
    "transfer",
    "s",
    pool="four",
    attack="pwws",
    settings={},
    data="mr",
    split="test",
    seed=0,
    labels=("neg", "pos"),
    attacked=6,
    sources=(A, B, C, D),
    targets=(A, B, C, D),
    winners={},
    before={},
    after={},
)


def test_the_points_are_over_the_models_outside_each_ensemble() -> None:
    rate = np.array([[0.8, 0.1, 0.2, 0.3], [0.4, 0.6, 0.5, np.nan]])
    singles = TransferMatrix((A, B), (A, B, C, D), rate, rate, np.array([9, 9]))
    both, pair = (
        SelectedEnsemble("greedy", (B, A), 0.5, 0.4),
        SelectedEnsemble("list", (A, C), 0.5, 0.4),
    )
    cells = np.array([[0.9, 0.9, 0.3, 0.5], [0.9, np.nan, 0.9, 0.7]])
    sources = (Member(both.name, both.spec), Member(pair.name, pair.spec))
    attacked = TransferMatrix(sources, (A, B, C, D), cells, cells, np.array([7, 8]))
    curves = ensemble_curves(singles, attacked, [both, pair], held_out=["D"])
    assert curves.points == (
        CurvePoint("greedy", 2, 7, 0.4, 2, 0.5),
        CurvePoint("list", 2, 8, 0.7, 1, 0.7),
    )
    assert curves.base_rate == pytest.approx(0.7)
    assert curves.pair_rate == pytest.approx((0.1 + 0.2 + 0.3 + 0.4 + 0.5) / 5)
    assert SelectedEnsemble("genetic", (A, B), 0.5, 0.4).spec == both.spec


def test_a_point_has_an_interval_over_its_texts() -> None:
    """Bounds by hand: the mean of a row's cells in every resample, 2·value − quantile."""
    rng = np.random.default_rng(3)
    pair = SelectedEnsemble("list", (A, B), 0.5, 0.4)
    source = Member(pair.name, pair.spec)
    text = (("text", "a"),)
    winners = {pair.name: tuple(Winner(f"c{n}", 0, text, text) for n in range(60))}
    before = {name: {f"c{n}": 0 for n in range(60)} for name in "ABCD"}
    labels = {name: rng.integers(0, 2, 60) for name in "ABCD"}
    after = {name: {pair.name: tuple(column.tolist())} for name, column in labels.items()}
    sources, targets = (source,), (A, B, C, D)
    study = STUDY.changed(
        sources=sources, targets=targets, winners=winners, before=before, after=after
    )
    matrix = study.matrix()
    curves = ensemble_curves(matrix, matrix, [pair], ["D"], counts_of(study))
    (point,) = curves.points
    both = (labels["C"] + labels["D"]) / 2
    assert point.outside == pytest.approx(both.mean()) and point.texts == 60
    for values, interval in (
        (both, point.outside_interval),
        (labels["D"], point.held_out_interval),
    ):
        means = values[rng.integers(0, 60, (4000, 60))].mean(axis=1)
        low, high = 2 * values.mean() - np.quantile(means, (0.975, 0.025))
        assert interval == pytest.approx((low, high), abs=0.02)
    (bare,) = ensemble_curves(matrix, matrix, [pair], ["D"]).points
    assert bare.outside_interval is None


def test_the_newest_study_of_a_pool_is_found(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match="Make one first: brittle study transfer pool:four pwws --data"
    ):
        find_study("pool:four", tmp_path)
    with pytest.raises(UsageError, match=r"expected a pool .* or the name"):
        find_study("zoo:naive-bayes@mr", tmp_path)
    studies = {
        "old": STUDY,
        "new": STUDY.changed(name="new"),
        "ensembles": STUDY.changed(name="ensembles", sources=(Member("A + B", "ensemble:A,B"),)),
        "other": STUDY.changed(name="other", pool="five"),
    }
    for n, (name, study) in enumerate(studies.items()):
        study.save(tmp_path / f"{name}.study.json")
        os.utime(tmp_path / f"{name}.study.json", (1000 + n, 1000 + n))
    (tmp_path / "damaged.study.json").write_text("{")
    assert find_study("pool:four", tmp_path).name == "new"
    assert find_study("pool:folder/four.txt", tmp_path).name == "new"
    assert find_study("other.study.json", tmp_path).name == "other"
    assert find_study("pool:four", tmp_path, tmp_path / "old.study.json").name == "s"
    with pytest.raises(UsageError, match="not a transfer study that this version"):
        find_study("pool:four", tmp_path, tmp_path / "damaged.study.json")


MODELS = """
import numpy as np

class Weighed:
    labels = ("negative", "positive")

    def __init__(self, name, **weights):
        self.name = self.fingerprint = name
        self.weights = weights

    def logits(self, texts):
        sums = [sum(self.weights.get(str(w).lower(), 0.0) for w in text.words) for text in texts]
        return np.array([[-x / 2, x / 2] for x in sums])

    def scores(self, texts):
        e = np.exp(self.logits(texts))
        return e / e.sum(axis=1, keepdims=True)

one = Weighed("one", good=2.0, fine=1.0, bad=-2.0, film=0.1)
two = Weighed("two", good=1.5, big=-1.0, bad=-2.0, film=0.2)
three = Weighed("three", good=1.0, full=-1.0, bad=-1.0, film=0.3)
four = Weighed("four", good=0.5, full=-2.0, bad=-1.0, film=0.1)
"""


@pytest.mark.slow
def test_ensembles_are_attacked_and_all_others_are_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transfer = pytest.importorskip("brittle.studies.transfer.transfer")
    (tmp_path / "weighed_models.py").write_text(MODELS)
    monkeypatch.syspath_prepend(tmp_path)
    texts = [Example.of(f"a good film of {n} scenes", "positive") for n in range(8)]
    dataset = Dataset("films", "all", tuple(texts), ("negative", "positive"))
    specs = [f"python:weighed_models:{name}" for name in ("one", "two", "three", "four")]
    study = transfer.transfer(specs, dataset, "pwws", folder=tmp_path, name="films")
    ensembles, _ = select(candidates_of(study.matrix(), [specs[3]]), (2,), ["greedy"])
    attacked = attack_ensembles(study, ensembles, dataset, tmp_path)
    assert (tmp_path / "films-ensembles.study.json").is_file()
    assert attacked.max_winners == study.max_winners == 500
    stored = study.changed(max_winners=None)  # as studies were stored without it
    assert attack_ensembles(stored, ensembles, dataset, tmp_path).max_winners == max(
        map(len, study.winners.values())
    )
    assert [source.name for source in attacked.sources] == [ensembles[0].name]
    curves = ensemble_curves(study.matrix(), attacked.matrix(), ensembles, [specs[3]])
    (point,) = curves.points
    row = attacked.matrix().rate[0]
    assert point.held_out == row[3] and point.of == 2 and point.texts > 0
    other = replace(dataset, examples=tuple(Example.of(f"bad {n}", "negative") for n in range(8)))
    with pytest.raises(UsageError, match="differ from the texts of the study 'films'"):
        attack_ensembles(study, ensembles, other, tmp_path)
