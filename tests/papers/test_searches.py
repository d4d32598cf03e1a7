"""Searches of a latent space compared: figures by hand, and runs on a generator of a line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brittle.data import Dataset
from brittle.data.example import as_examples
from brittle.metrics.samples import sample_results
from brittle.picture import Picture
from brittle.results import Result
from brittle_papers.natural import searches as latent_searches
from brittle_papers.natural.searches import (
    SearchSettings,
    compared_cases,
    of_each_class,
    ratio,
    rows_of,
    run_searches,
    search_figures,
)

BASE = sample_results()[0]


def row(case: str, cost: float | None, queries: int) -> Result:
    status: Any = "broken" if cost is not None else "skipped"
    return replace(BASE, case=case, status=status, cost=cost, queries=queries)


def rows(**searches: list[tuple[float | None, int]]) -> dict[str, dict[str, Result]]:
    return {
        name: {f"c{n}": row(f"c{n}", *own) for n, own in enumerate(values)}
        for name, values in searches.items()
    }


FOUND = rows(
    hybrid=[(1.1, 30), (2.2, 30), (None, 2), (0.5, 10)],
    iterative=[(1.0, 100), (2.0, 200), (None, 2), (None, 1000)],
    uniform=[(3.0, 30)],
)


def test_figures_are_over_cases_that_both_searches_broke() -> None:
    assert compared_cases(FOUND) == ["c0", "c1"]
    figures = search_figures(FOUND)
    assert figures["compared"] == 2 and figures["reconstruction not kept"] == 1
    assert figures["hybrid"] == {"broken": 2, "mean Δz": 1.65, "mean queries": 30.0}
    assert figures["uniform"] == {"broken": 1, "mean Δz": 3.0, "mean queries": 30.0}
    assert figures["Δz, hybrid over iterative"] == 1.1
    assert figures["queries, hybrid over iterative"] == 0.2
    assert [part["queries, hybrid over iterative"] for part in figures["by distance"]] == [
        0.3,
        0.15,
    ]


def test_ratios_have_intervals_over_cases() -> None:
    cost = ratio(FOUND, "cost", "hybrid")
    assert cost.of == 2 and cost.value == pytest.approx(1.1)
    assert cost.low == pytest.approx(1.1) and cost.high == pytest.approx(1.1)
    queries = ratio(FOUND, "queries", "hybrid")
    assert queries.value == 0.2 and (queries.low, queries.high) == (0.15, 0.3)
    assert ratio(FOUND, "cost", "uniform", "hybrid").value == pytest.approx(3.0 / 1.1)
    nothing = rows(hybrid=[(None, 2)], iterative=[(None, 2)], uniform=[])
    assert ratio(nothing, "cost", "hybrid").value is None
    assert search_figures(nothing)["hybrid"]["mean Δz"] is None


def test_so_many_of_each_class_without_their_labels() -> None:
    pictures = np.arange(40, dtype=np.uint8).reshape(10, 2, 2)
    dataset = Dataset(
        "toy", "test", tuple(as_examples((pictures, [0, 1] * 5))), ("0", "1"), kind="picture"
    )
    chosen = of_each_class(dataset, 3, seed=1)
    assert len(chosen) == 6 and chosen.labels == () and {e.label for e in chosen} == {None}
    label = {example.fields: example.label for example in dataset}
    assert [label[example.fields] for example in chosen] == ["0"] * 3 + ["1"] * 3
    assert of_each_class(dataset, 2, seed=1).examples[0] == chosen.examples[0]


class Line:
    """Pictures of one pixel, whose latent point is the pixel."""

    name, fingerprint, item_kind, labels = "line", "line", "picture", ("dark", "bright")

    def scores(self, items: Any) -> Any:
        bright = np.array([float(item.pixels[0, 0, 0]) > 0.6 for item in items])
        return np.stack([~bright, bright], axis=1).astype(float)

    def close(self) -> None:
        pass


class OnePixel:
    """Decodes a number to a picture of that brightness."""

    size, item_kind = 1, "picture"

    def encode(self, items: Any) -> Any:
        return [[float(item.pixels[0, 0, 0])] for item in items]

    def decode(self, rows: Any) -> Any:
        return Picture.rows(np.clip(rows, 0, 1).reshape(-1, 1, 1, 1))


def test_three_runs_and_uniform_has_as_many_queries_as_hybrid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(latent_searches, "load_zoo", lambda spec: Line())
    pixels = np.array([0.1, 0.2, 0.3, 0.4], np.float32).reshape(4, 1, 1, 1)
    chosen = Dataset("toy", "test", tuple(as_examples(list(pixels))), kind="picture")
    fewer = replace(chosen, examples=chosen.examples[:2])
    settings = SearchSettings(f"python:{__name__}:OnePixel", samples=20, step=0.05, radius=1.0)
    runs = run_searches("line", chosen, settings, tmp_path, "toy", for_uniform=fewer)
    found = rows_of(runs)
    assert [len(own) for own in found.values()] == [4, 4, 2]
    for search in ("hybrid", "iterative"):
        for result in found[search].values():
            assert result.status == "broken" and result.cost is not None
            assert 0.6 - _pixel(result.original) < result.cost
    assert all(r.cost < 0.6 - _pixel(r.original) + 0.05 for r in found["hybrid"].values())  # type: ignore[operator]
    hybrid = np.mean([r.queries for r in found["hybrid"].values()])
    uniform = [r.queries for r in found["uniform"].values()]
    assert all(abs(queries - hybrid) <= 20 + 4 for queries in uniform)
    again = run_searches("line", chosen, settings, tmp_path, "toy", for_uniform=fewer)
    assert {s: run.path for s, run in again.items()} == {s: run.path for s, run in runs.items()}


def _pixel(encoded: str) -> float:
    return float(Picture.decode(encoded).pixels[0, 0, 0])
