"""What a report shows of a study, checked by counting text by text."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from brittle.errors import UsageError
from brittle.studies.transfer.showing import class_means, fooling_texts, rate_matrix, reported_study
from brittle.studies.transfer.study import TransferStudy

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
def test_rates_counts_and_class_means(make_random_study: MakeStudy, of_right: bool) -> None:
    study = make_random_study(0)
    matrix = rate_matrix(study)
    expected: dict[tuple[str, str], list[tuple[bool, float]]] = {}
    for i, source in enumerate(study.sources):
        for j, target in enumerate(study.targets):
            texts = wrong(study, source.name, target.name, of_right)
            if not texts:
                assert np.isnan(matrix.rates(of_right)[i, j])
                continue
            rate = sum(texts) / len(texts)
            assert matrix.rates(of_right)[i, j] == pytest.approx(rate)
            assert (matrix.right[i, j] if of_right else matrix.texts[i]) == len(texts)
            cell = expected.setdefault((source.architecture, target.architecture), [])
            cell.append((i == j, rate))
    table = class_means(matrix, "architecture", of_right)
    assert table.rows == table.columns == ("LSTM", "CNN")
    for (row, column), cells in expected.items():
        at = table.rows.index(row), table.columns.index(column)
        assert table.mean[at] == pytest.approx(np.mean([rate for _, rate in cells]))
        others = [rate for is_base, rate in cells if not is_base]
        assert table.without[at] == pytest.approx(np.mean(others))


def test_texts_are_ordered_by_the_targets_they_fool(make_random_study: MakeStudy) -> None:
    study = make_random_study(1)
    texts = fooling_texts(study)
    assert len(texts) == 5 + 6 + 7 + 8
    for text in texts:
        after = [study.after[target.name].get(text.source) for target in study.targets]
        n = int(text.case[1:])
        labels = [labels[n] for labels in after if labels is not None]
        assert text.fooled == sum(label != n % 2 for label in labels)
        assert text.targets == len(labels) == (3 if text.source == "LSTM-Random" else 4)
    counts = [text.fooled for text in texts if text.fooled < text.targets]
    assert counts == sorted(counts, reverse=True)
    fooling_all = [text.fooled == text.targets for text in texts]
    assert fooling_all == sorted(fooling_all, reverse=True)
    assert reported_study(study).fooling_all == sum(fooling_all)


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
