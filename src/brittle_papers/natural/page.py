"""The page of the natural adversaries of digits: the paper's figures beside ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from brittle.formatting import number, percent
from brittle.metrics.summary import Figure, rate
from brittle.reports.plots import scatter_figure
from brittle.workflow.tasks import load_seconds
from brittle_papers.natural import plan, sheets
from brittle_papers.natural.claims import JUDGES, mean_text
from brittle_papers.natural.curve import LINE
from brittle_papers.natural.results import NaturalResults
from brittle_papers.natural.robustness_page import add_figure_4, add_table_6
from brittle_papers.natural.searches import (
    HYBRID,
    ITERATIVE,
    UNIFORM,
    Rows,
    compared_cases,
    ratio,
    search_figures,
)
from brittle_papers.page import PaperPage, Row, TableCell, format_table
from brittle_papers.paper import Paper

RATIOS = ((HYBRID, ITERATIVE), (UNIFORM, ITERATIVE), (UNIFORM, HYBRID))
CURVE_PARTS = 6


def add_sections(page: PaperPage, found: NaturalResults) -> None:
    """Add the tables, plots and contact sheets."""
    _generator(page, found)
    _table_1(page, found)
    _figure_1(page, found)
    _searches(page, found)
    add_table_6(page, found)
    add_figure_4(page, found)
    _rebuilt(page, found)
    _figure_5(page, found)
    _people(page)
    _cost(page, found)


def _generator(page: PaperPage, found: NaturalResults) -> None:
    generator = found.results[plan.GENERATOR]
    measures = generator["measures"]
    classes = measures.get("classes", {})
    rarest = min(classes, key=classes.__getitem__, default="")
    rows = {
        "rarest class among the samples": f"{rarest}: {percent(classes.get(rarest))}",
        "mean confidence of LeNet on samples": percent(measures.get("confidence")),
        "reconstruction error, root mean square": number(measures["reconstruction error"]["mean"]),
        "G(I(x)) keeps LeNet's label": percent(measures.get("label kept")),
    }
    page.add_section("digit generator", name=generator["name"])
    page.add(format_table(["", "here"], [[name, value] for name, value in rows.items()]))
    page.record(["generator"], {"name": generator["name"], "measures": measures})


def _table_1(page: PaperPage, found: NaturalResults) -> None:
    page.add_section("table 1")
    figure, cases = sheets.table_1(found)
    page.add_plot("natural-table-1", figure, f"{len(cases)} digits and their adversaries")
    fgsm = found.runs(plan.FGSM[plan.LENET])["fgsm"]
    runs = {"FGSM, LeNet": fgsm}
    runs |= {f"natural, {name}": found.searches(name)[HYBRID] for name in plan.TARGETS}
    rows: dict[str, Row] = {name: [name, *_changes(own)] for name, own in runs.items()}
    head = ["", "broken", "l2, mean", "largest change of a pixel, mean", "pixels changed, mean"]
    page.add_table("table 1", head, rows)


def _changes(rows: Rows) -> list[TableCell]:
    """Return how many pictures are broken, and how much the adversaries change of them."""
    broken = [row for row in rows.values() if row.status == "broken"]
    means = {
        name: [float(getattr(row, name) or 0.0) for row in broken]
        for name in ("l2", "linf", "pixels_changed")
    }
    cells = [TableCell(rate(len(broken), len(rows), "pictures"), "broken")]
    for name, values in means.items():
        mean = float(np.mean(values)) if values else None
        cells.append(
            TableCell(Figure(mean, None, None, None, len(values), "pictures"), name, number(mean))
        )
    return cells


def _figure_1(page: PaperPage, found: NaturalResults) -> None:
    page.add_section("figure 1")
    page.add_plot("natural-figure-1", sheets.figure_1(found), "digits, FGSM and ours on an MLP")


def _searches(page: PaperPage, found: NaturalResults) -> None:
    first = found.results[plan.SEARCHES[plan.LENET]]
    page.add_section("searches", digits=first["digits"], for_uniform=first["for_uniform"])
    rows: dict[str, Row] = {}
    clouds: dict[str, list[tuple[float, float]]] = {}
    for target in plan.TARGETS:
        own = found.searches(target)
        for a, b in RATIOS:
            figures = {m: ratio(own, m, a, b) for m in ("cost", "queries")}
            cells = [TableCell(f, m, mean_text(f)) for m, f in figures.items()]
            rows[f"{target}, {a} over {b}"] = [f"{target}: {a} over {b}", *cells]
        clouds[target] = [
            (
                float(own[ITERATIVE][case].cost or 0.0),
                own[HYBRID][case].queries / own[ITERATIVE][case].queries,
            )
            for case in compared_cases(own)
        ]
        page.record(["searches", target], search_figures(own))
    page.add_table("searches", ["", "mean Δz, ratio", "queries, ratio"], rows)
    page.add(format_table(SEARCH_HEAD, [_search_row(found, t) for t in plan.TARGETS]))
    page.add(format_table(THIRDS_HEAD, [r for t in plan.TARGETS for r in _thirds(found, t)]))
    page.add_plot(
        "natural-queries",
        scatter_figure(clouds, "Δz of iterative search", "queries, hybrid over iterative"),
        "queries of hybrid search over those of iterative search, by Δz",
    )


SEARCH_HEAD = [
    *("target", "compared", "reconstruction not kept", "Δz: hybrid", "iterative", "uniform"),
    *("queries: hybrid", "iterative", "uniform"),
]
THIRDS_HEAD = ["target, third by Δz", "mean Δz", "queries, hybrid over iterative"]


def _search_row(found: NaturalResults, target: str) -> list[str]:
    figures = search_figures(found.searches(target))
    cells = [number(figures["compared"]), number(figures["reconstruction not kept"])]
    for measure in ("mean Δz", "mean queries"):
        cells += [number(figures[search][measure]) for search in (HYBRID, ITERATIVE, UNIFORM)]
    return [target, *cells]


def _thirds(found: NaturalResults, target: str) -> list[list[str]]:
    parts = search_figures(found.searches(target)).get("by distance", [])
    return [
        [f"{target}, {n}", number(part["mean Δz"]), number(part["queries, hybrid over iterative"])]
        for n, part in enumerate(parts, 1)
    ]


def _rebuilt(page: PaperPage, found: NaturalResults) -> None:
    steps = [int(n) for n in found.results[plan.REBUILT]["kept"]]
    page.add_section("reconstructions")
    rows: dict[str, Row] = {}
    for target in plan.TARGETS:
        cells = [TableCell(found.kept(target, n), f"kept, refine {n}") for n in steps]
        rows[target] = [target, *cells, *(_lost(found, target, n) for n in steps)]
    head = [f"kept, `--refine {n}`" if n else "kept" for n in steps]
    head += [f"at distance 0, `--refine {n}`" if n else "at distance 0" for n in steps]
    page.add_table("reconstructions", ["target", *head], rows)


def _lost(found: NaturalResults, target: str, steps: int) -> TableCell:
    kept = found.kept(target, steps)
    lost = rate(kept.of - (kept.count or 0), kept.of, "pictures")
    return TableCell(lost, f"lost, refine {steps}", percent(lost.value))


def _figure_5(page: PaperPage, found: NaturalResults) -> None:
    curve = found.results[plan.CURVE]
    page.add_section("figure 5", points=len(curve["natural"]))
    part = [min(int(CURVE_PARTS * p), CURVE_PARTS - 1) for p in curve["position"]]

    def clouds(points: Sequence[Sequence[float]]) -> Mapping[str, list[tuple[float, float]]]:
        return {
            f"part {n + 1}": [(p[0], p[1]) for p, own in zip(points, part) if own == n]
            for n in range(CURVE_PARTS)
        }

    page.add_plot(
        "natural-figure-5a", scatter_figure(clouds(curve["data"]), "", ""), "data on a curve"
    )
    latent = scatter_figure(clouds(curve["latent"]), "z, first number", "z, second number")
    page.add_plot("natural-figure-5b", latent, "latent points of the data")
    marks = _shown_point(curve)
    rebuilt = scatter_figure(clouds(curve["rebuilt"]), "", "", marks=marks, level=LINE)
    page.add_plot("natural-figure-5c", rebuilt, "reconstructed data, a point and two adversaries")
    names = {
        "data": "data",
        "rebuilt": "G(I(x))",
        "natural": "natural adversaries",
        "nearest": "nearest",
    }
    rows: dict[str, Row] = {
        name: [
            text,
            TableCell(
                f := found.off_curve(name),
                "",
                f"{f.value or 0:.3f} ({f.low or 0:.3f}–{f.high or 0:.3f})",
            ),
        ]
        for name, text in names.items()
    }
    page.add_table("figure 5", ["points", "distance from the curve"], rows)


def _shown_point(curve: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Return a point of the bottom of the curve and its two adversaries."""
    starts = curve["starts"]
    if not starts:
        return {}
    n = min(range(len(starts)), key=lambda i: abs(starts[i][0] - 0.5) + starts[i][1])
    names = {"x": "starts", "natural": "natural", "nearest": "nearest"}
    return {name: (curve[key][n][0], curve[key][n][1]) for name, key in names.items()}


def _people(page: PaperPage) -> None:
    page.add_section("digit people")
    rows = [
        [question, row["forest"], row["LeNet"], "not asked"]
        for question, row in page.spec.tables["people on digits"].items()
    ]
    page.add(format_table(["question", "forest (quoted)", "LeNet (quoted)", "here"], rows))


def _cost(page: PaperPage, found: NaturalResults) -> None:
    page.add_section("cost")
    planned = plan.plan(found.request)
    seconds = {task.name: load_seconds(task, found.folder) for task in planned}
    lines = [[name, f"{value / 60:.1f}"] for name, value in seconds.items()]
    page.add(format_table(["task", "minutes"], lines))
    page.record(["cost"], {name: round(value) for name, value in seconds.items()})


PAPER = Paper("natural", NaturalResults, {"all": add_sections}, JUDGES, plan=plan.plan)
