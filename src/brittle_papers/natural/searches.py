"""Searches of a latent space compared on the same items, and what a generator keeps of items.

What a generator keeps of items: whether targets predict the same for G(I(x)) as for x. Where they
do not, a search that never looks at the reconstruction finds an adversary at distance 0. Searches
of a latent space compared on the same items: hybrid, iterative and uniform.

Each is a run of the attack natural, in one folder; the same call resumes them. Figures are over the
cases that both hybrid and iterative search broke.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.attacks.natural import open_part, placed
from brittle.data import Dataset
from brittle.formatting import plural
from brittle.generators import open_generator
from brittle.kinds import kind_named
from brittle.metrics.intervals import RESAMPLES, bootstrap_ratio
from brittle.metrics.summary import Figure
from brittle.opening import load_zoo
from brittle.results import Result
from brittle.runs.run import Run
from brittle.runs.runner import attack
from brittle.studies.robustness.case import Predictor

ITEMS_PER_PASS = 512


@dataclass(frozen=True)
class Reconstruction:
    """For every target, whether it predicts the same for each item and its reconstruction."""

    generator: str
    kept: Mapping[str, tuple[bool, ...]]


def items_of(dataset: Dataset) -> list[Any]:
    """Return the items of examples."""
    kind = kind_named(dataset.kind)
    return [kind.item(dict(example.fields), example.locked) for example in dataset]


def rebuild(items: Sequence[Any], generator: str, refine: int = 0) -> tuple[str, list[Any]]:
    """Return the name of a generator and G(I(x)) of items; with `refine` I(x) is improved first."""
    maker: Any = open_generator(generator, refine)
    rebuilt: list[Any] = []
    try:
        for start in range(0, len(items), ITEMS_PER_PASS):
            part = items[start : start + ITEMS_PER_PASS]
            decoded = maker.decode(maker.encode([open_part(item) for item in part]))
            rebuilt += [placed(item, copy) for item, copy in zip(part, decoded)]
    finally:
        maker.close()
    return str(maker.name), rebuilt


def labels_kept(
    targets: Mapping[str, str], dataset: Dataset, generator: str, refine: int = 0
) -> Reconstruction:
    """Compare the predictions of models of the zoo before and after a generator."""
    items = items_of(dataset)
    name, rebuilt = rebuild(items, generator, refine)
    kept = {}
    for target, spec in targets.items():
        opened = load_zoo(spec)
        try:
            predict = Predictor(opened)
            is_kept: Any = predict(items) == predict(rebuilt)
        finally:
            opened.close()
        kept[target] = tuple(bool(same) for same in np.asarray(is_kept))
    return Reconstruction(name, kept)


HYBRID, ITERATIVE, UNIFORM = SEARCHES = ("hybrid", "iterative", "uniform")
THIRDS = 3
MIN_FITTED = 8
"""With fewer cases no line is fitted through their queries."""
Rows = Mapping[str, Result]
"""The rows of a run by their cases."""
Report = Callable[[str], None]


@dataclass(frozen=True)
class SearchSettings:
    """A generator, the paper's N and Δr, the radius of the searches, and steps of descent to z0."""

    generator: str
    samples: int = 500
    step: float = 0.01
    radius: float = 10.0
    refine: int = 0
    seed: int = 0


def of_each_class(dataset: Dataset, count: int, seed: int = 0) -> Dataset:
    """Take so many examples of each class, of a seeded order, and drop their labels.

    Without labels the reference is a target's own prediction, as in the paper.
    """
    taken: dict[str | None, list[Any]] = {}
    for example in dataset.take(len(dataset), seed):
        own = taken.setdefault(example.label, [])
        if len(own) < count:
            own.append(replace(example, label=None))
    examples = tuple(example for label in sorted(taken, key=str) for example in taken[label])
    return replace(dataset, examples=examples, labels=())


def run_searches(
    target: str,
    chosen: Dataset,
    settings: SearchSettings,
    folder: Path,
    name: str,
    *,
    for_uniform: Dataset | None = None,
    report: Report = lambda message: None,
) -> dict[str, Run]:
    """Run the three searches on a model of the zoo, and return their runs.

    Uniform search has as many queries as hybrid needs on average, and is told how far away its
    farthest adversary is: a larger ball would be unfair. `for_uniform` are fewer items for it.
    """
    runs = {
        search: run_search(target, chosen, settings, folder, f"{name}-{search}", search, report)
        for search in (HYBRID, ITERATIVE)
    }
    broken = [row for row in runs[HYBRID].results() if row.cost is not None]
    radius = max([settings.step, *(float(row.cost or 0.0) for row in broken)])
    queries = float(np.mean([row.queries for row in broken])) if broken else 0.0
    shells = max(1, round(queries / settings.samples))
    runs[UNIFORM] = run_search(
        target,
        for_uniform or chosen,
        replace(settings, radius=radius),
        folder,
        f"{name}-{UNIFORM}",
        UNIFORM,
        report,
        shells=shells,
    )
    return runs


def run_search(
    target: str,
    chosen: Dataset,
    settings: SearchSettings,
    folder: Path,
    name: str,
    search: str = HYBRID,
    report: Report = lambda message: None,
    **more: Any,
) -> Run:
    """Run one search on a model of the zoo, or resume it."""
    opened = load_zoo(target)
    try:
        return attack(
            opened,
            chosen,
            "natural",
            generator=settings.generator,
            search=search,
            samples=settings.samples,
            step=settings.step,
            radius=settings.radius,
            refine=settings.refine,
            seed=settings.seed,
            name=name,
            folder=folder,
            progress=lambda p: report(f"{name}: {p.done:,} of {plural(p.planned, 'cases')}"),
            **more,
        )
    finally:
        opened.close()


def rows_of(runs: Mapping[str, Run]) -> dict[str, Rows]:
    """Return the rows of every run by their cases."""
    return {search: {row.case: row for row in run.results()} for search, run in runs.items()}


def costs(rows: Rows) -> dict[str, float]:
    """Return the distance Δz of every case that is broken."""
    return {case: float(row.cost) for case, row in rows.items() if row.cost is not None}


def compared_cases(rows: Mapping[str, Rows]) -> list[str]:
    """Return the cases that hybrid and iterative search broke, the nearest adversary first."""
    hybrid, iterative = costs(rows[HYBRID]), costs(rows[ITERATIVE])
    return sorted(hybrid.keys() & iterative.keys(), key=lambda case: (iterative[case], case))


def ratio(rows: Mapping[str, Rows], measure: str, a: str, b: str = ITERATIVE) -> Figure:
    """Compute the mean of search a over that of search b, with its interval over cases.

    `measure` is "cost" or "queries". Only cases that both of them broke count.
    """
    shared = [case for case in compared_cases(rows) if case in costs(rows[a])]
    first, second = ([float(getattr(rows[s][c], measure)) for c in shared] for s in (a, b))
    over = f"cases broken by {a} and {b}"
    if not shared:
        return Figure(None, None, None, None, 0, over)
    low, high = bootstrap_ratio(first, second)
    return Figure(sum(first) / sum(second), low, high, None, len(shared), over)


def speedup_at(searches: Sequence[tuple[Mapping[str, Rows], float]]) -> Figure:
    """Estimate the queries of iterative over those of hybrid search at distances Δz.

    Each of `searches` has runs on a target and the distance to judge it at; several are added. Only
    cases between half and twice that distance count: through their queries by Δz a line is fitted.
    The interval is from a bootstrap over cases.
    """
    parts = [(_searched_near(rows, distance), distance) for rows, distance in searches]
    total = sum(len(own) for own, _ in parts)
    over = "cases broken by hybrid and iterative"
    if min(len(own) for own, _ in parts) < MIN_FITTED:
        return Figure(None, None, None, None, total, over)
    rng = np.random.default_rng(0)
    draws = [
        _speedup([(own[rng.integers(0, len(own), len(own))], d) for own, d in parts])
        for _ in range(RESAMPLES)
    ]
    low, high = np.quantile(draws, [0.025, 0.975])
    return Figure(_speedup(parts), float(low), float(high), None, total, over)


def _searched_near(rows: Mapping[str, Rows], distance: float) -> NDArray[np.float64]:
    """Return Δz and the queries of hybrid and of iterative search for cases near a distance."""
    hybrid, iterative = rows[HYBRID], rows[ITERATIVE]
    found = [
        (float(iterative[c].cost or 0.0), hybrid[c].queries, iterative[c].queries)
        for c in compared_cases(rows)
        if distance / 2 <= float(iterative[c].cost or 0.0) <= 2 * distance
    ]
    return np.array(found, dtype=np.float64).reshape(-1, 3)


def _speedup(parts: Sequence[tuple[NDArray[np.float64], float]]) -> float:
    slow, fast = (
        sum(_queries_at(own[:, 0], own[:, column], d) for own, d in parts) for column in (2, 1)
    )
    return slow / fast


def _queries_at(distance: NDArray[np.float64], queries: NDArray[np.float64], at: float) -> float:
    """Fit a line through queries by distance, and return its value at one."""
    away = distance - distance.mean()
    spread = float((away**2).sum())
    slope = float((away * queries).sum()) / spread if spread else 0.0
    return float(queries.mean() + slope * (at - distance.mean()))


def search_figures(rows: Mapping[str, Rows]) -> dict[str, Any]:
    """Compare the searches on the cases that both of hybrid and iterative broke."""
    common = compared_cases(rows)
    skipped = [row for row in rows[HYBRID].values() if row.status == "skipped"]
    figures: dict[str, Any] = {"reconstruction not kept": len(skipped), "compared": len(common)}
    for search, own in rows.items():
        cost = costs(own)
        broken = [case for case in common if case in cost]
        asked = [case for case in common if case in own]
        figures[search] = {
            "broken": len(broken),
            "mean Δz": _mean([cost[case] for case in broken]),
            "mean queries": _mean([own[case].queries for case in asked]),
        }
    if common:
        figures["Δz, hybrid over iterative"] = _ratio(rows, common, "cost")
        figures["queries, hybrid over iterative"] = _ratio(rows, common, "queries")
        figures["by distance"] = [
            {
                "mean Δz": _mean([costs(rows[ITERATIVE])[case] for case in part]),
                "queries, hybrid over iterative": _ratio(rows, list(part), "queries"),
                **{
                    f"mean queries, {search}": _mean([rows[search][c].queries for c in part])
                    for search in (HYBRID, ITERATIVE)
                },
            }
            for part in np.array_split(np.array(common), min(THIRDS, len(common)))
        ]
    return figures


def _ratio(rows: Mapping[str, Rows], cases: Sequence[str], measure: str) -> float:
    hybrid, iterative = (
        sum(float(getattr(rows[search][case], measure)) for case in cases)
        for search in (HYBRID, ITERATIVE)
    )
    return round(hybrid / iterative, 3)


def _mean(values: list[Any]) -> float | None:
    return round(float(np.mean(values)), 4) if values else None
