"""What a report shows of a study, checked by counting text by text."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from brittle.errors import UsageError
from brittle.studies.pools import Member
from brittle.studies.transfer.showing import figures_of, fooling_texts, rate_matrix
from brittle.studies.transfer.study import TransferStudy
from brittle.studies.transfer.view import compared_figures, transfer_json, transfer_view

MakeStudy = Callable[[int], TransferStudy]


def wrong(study: TransferStudy, source: str, target: str, of_right: bool) -> list[bool]:
    """List for every text of a cell whether the target is wrong, by plain loops."""
    before = study.twin_before if source == target else study.before
    return [
        label != winner.label
        for winner, label in zip(study.winners[source], study.after[target].get(source, ()))
        if not of_right or before[target][winner.case] == winner.label
    ]


@pytest.mark.parametrize("of_right", [False, True])
def test_rates_and_counts(make_random_study: MakeStudy, of_right: bool) -> None:
    study = make_random_study(0)
    matrix = rate_matrix(study)
    for i, source in enumerate(study.sources):
        for j, target in enumerate(study.targets):
            texts = wrong(study, source.name, target.name, of_right)
            if not texts:
                assert np.isnan(matrix.rates(of_right)[i, j])
                continue
            assert matrix.rates(of_right)[i, j] == pytest.approx(sum(texts) / len(texts))
            assert (matrix.right[i, j] if of_right else matrix.texts[i]) == len(texts)


def test_class_tables_have_intervals_and_averages(make_random_study: MakeStudy) -> None:
    study = make_random_study(0)
    reported = figures_of(study, resamples=50)
    assert [(t.by, t.of_right) for t in reported.classes] == [
        (by, of_right) for of_right in (False, True) for by in ("architecture", "reads")
    ]
    table = reported.classes[0]
    assert table.rows == table.columns == ("LSTM", "CNN", "average")
    rate = reported.matrix.rate
    assert table.mean[0, 0] == pytest.approx(rate[:2, :2].mean())
    assert table.without[0, 0] == pytest.approx((rate[0, 1] + rate[1, 0]) / 2)
    assert table.mean[0, 2] == pytest.approx(table.mean[0, :2].mean())
    assert table.low is not None and table.high is not None
    assert (table.low[:2, :2] <= table.high[:2, :2]).all() and np.isnan(table.low[2, 2])
    assert reported.factors == []  # these members have no parts to differ in


def test_an_ensemble_is_no_pair_with_its_own_members(make_random_study: MakeStudy) -> None:
    study = make_random_study(4)
    targets = tuple(replace(t, spec=f"python:models:{n}") for n, t in enumerate(study.targets))
    first, second, third, _ = targets
    pair = Member("both", f"ensemble:{first.spec},{second.spec}")
    winners = {"both": study.winners[third.name]}
    after = {name: {"both": study.after[name][third.name]} for name in study.after}
    study = study.changed(sources=(pair,), targets=targets, winners=winners, after=after)
    reported = figures_of(study, resamples=5)
    rate = reported.matrix.rate[0]
    assert np.isfinite(rate).all()
    mean = transfer_json(reported)["mean_rate"]
    assert mean == pytest.approx(rate[2:].mean()) and mean != pytest.approx(rate.mean())
    assert compared_figures(reported)["mean transfer rate"] == mean
    assert "over 2 pairs of different models" in transfer_view(reported).html()


def test_texts_are_ordered_by_the_targets_they_fool(make_random_study: MakeStudy) -> None:
    study = make_random_study(1)
    texts = fooling_texts(study)
    assert len(texts) == 5 + 6 + 7 + 8
    for text in texts:
        n = int(text.case[1:])
        labels = [
            by_source[text.source][n]
            for target, by_source in study.after.items()
            if target != text.source and text.source in by_source
        ]
        # The source itself is fooled; its twin does not count.
        assert text.fooled == 1 + sum(label != n % 2 for label in labels)
        assert text.targets == 1 + len(labels) == (3 if text.source == "LSTM-Random" else 4)
    counts = [text.fooled for text in texts]
    assert counts == sorted(counts, reverse=True)
    fooling_all = sum(text.fooled == text.targets for text in texts)
    assert figures_of(study, resamples=10).fooling_all == fooling_all


def test_the_report_is_one_file(make_random_study: MakeStudy, tmp_path: Path) -> None:
    path = make_random_study(0).report(tmp_path / "new" / "page.html")
    page = path.read_text("utf-8")
    assert "LSTM-Character" in page and "it died" in page


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_cells_and_texts_are_exported(
    make_random_study: MakeStudy, tmp_path: Path, ending: str
) -> None:
    study = make_random_study(0)
    cells, texts = (
        _rows(study.export(tmp_path / f"{name}.{ending}", texts=name == "texts"))
        for name in ("cells", "texts")
    )
    assert len(cells) == 16 and len(texts) == 26
    last = cells[3]
    assert (last["source"], last["target"]) == ("LSTM-Random", "CNN-Character")
    assert last["rate"] in ("", None) and int(last["count"]) == 5
    second = wrong(study, "LSTM-Random", "LSTM-Character", False)
    assert float(cells[1]["rate"]) == pytest.approx(sum(second) / 5)
    assert {"case", "label", "original", "adversarial", "fooled", "targets"} <= set(texts[0])


def test_an_unknown_ending_is_an_error(make_random_study: MakeStudy, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"expected a name that ends in \.csv, \.jsonl or"):
        make_random_study(0).export(tmp_path / "cells.xls")


def _rows(path: Path) -> list[dict[str, str]]:
    if path.suffix == ".csv":
        with path.open(newline="") as file:
            return list(csv.DictReader(file))
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    parquet = pytest.importorskip("pyarrow.parquet")
    rows: list[dict[str, str]] = parquet.read_table(path).to_pylist()
    return rows
