"""What is odd in the natural adversaries of digits: sheets of pictures, searches, a curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from brittle.formatting import number, percent
from brittle.metrics.summary import Figure, rate
from brittle.reports.plots import scatter_figure
from brittle.safety import files
from brittle.workflow.tasks import load_seconds
from brittle_papers.claims import JudgedClaim, format_signed_mean, judge_near
from brittle_papers.declared import add_table
from brittle_papers.natural import drawings, sheets
from brittle_papers.natural.curve import LINE
from brittle_papers.natural.results import (
    BOTH,
    LENET,
    MLP,
    NEURONS_KIND,
    PAPER_DISTANCES,
    TARGETS,
    NaturalResults,
    accurate_classifiers,
    classifiers,
    repeated_classifiers,
)
from brittle_papers.natural.robustness_page import add_figure_4, add_table_6
from brittle_papers.natural.searches import (
    HYBRID,
    ITERATIVE,
    UNIFORM,
    Rows,
    compared_cases,
    search_figures,
)
from brittle_papers.natural.stages import model_spec as model_name
from brittle_papers.page import PaperPage, Row, TableCell, format_table
from brittle_papers.paper import Paper, plan_of
from brittle_papers.spec import PaperRequest

CLASSES = 10
SPEEDUP, SPEEDUP_MARGIN = 4, 0.5
MAX_P, OPPOSITE_P = 0.0005, 0.05
CURVE_PARTS = 6


def _method(page: PaperPage, found: NaturalResults) -> None:
    page.add_section("method")
    learn = "generator and inverter learn, one after the other"
    page.add_plot("natural-figure-2", drawings.chain_figure(drawings.TRAINING), learn)
    search = "an adversary is searched for around the point of an item"
    page.add_plot("natural-figure-3", drawings.chain_figure(drawings.SEARCH), search)


def _generator(page: PaperPage, found: NaturalResults) -> None:
    generator = found.results["generator"]
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
    fgsm = found.runs("FGSM on LeNet")["fgsm"]
    runs = {"FGSM, LeNet": fgsm}
    runs |= {f"natural, {name}": found.searches(name)[HYBRID] for name in TARGETS}
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
    first = found.results["searches on LeNet"]
    page.add_section("searches", digits=first["digits"], for_uniform=first["for_uniform"])
    clouds: dict[str, list[tuple[float, float]]] = {}
    for target in TARGETS:
        own = found.searches(target)
        clouds[target] = [
            (
                float(own[ITERATIVE][case].cost or 0.0),
                own[HYBRID][case].queries / own[ITERATIVE][case].queries,
            )
            for case in compared_cases(own)
        ]
        page.record(["searches", target], search_figures(own))
    add_table(page, "searches", found)
    page.add(format_table(SEARCH_HEAD, [_search_row(found, t) for t in TARGETS]))
    page.add(format_table(THIRDS_HEAD, [r for t in TARGETS for r in _thirds(found, t)]))
    page.add_plot(
        "natural-queries",
        scatter_figure(clouds, "Δz of iterative search", "queries, hybrid over iterative"),
        "queries of hybrid search over those of iterative search, by Δz",
    )


SEARCH_HEAD = [
    "target",
    "compared",
    "reconstruction not kept",
    "Δz: hybrid",
    "iterative",
    "uniform",
    "queries: hybrid",
    "iterative",
    "uniform",
]
THIRDS_HEAD = [
    "target, third by Δz",
    "mean Δz",
    "shells: hybrid",
    "iterative",
    "hybrid over iterative",
]


def _search_row(found: NaturalResults, target: str) -> list[str]:
    figures = search_figures(found.searches(target))
    cells = [number(figures["compared"]), number(figures["reconstruction not kept"])]
    for measure in ("mean Δz", "mean queries"):
        cells += [number(figures[search][measure]) for search in (HYBRID, ITERATIVE, UNIFORM)]
    return [target, *cells]


def _thirds(found: NaturalResults, target: str) -> list[list[str]]:
    parts = search_figures(found.searches(target)).get("by distance", [])
    samples = found.results[f"searches on {target}"]["samples"]
    return [
        [
            f"{target}, {n}",
            number(part["mean Δz"]),
            *(f"{part[f'mean queries, {s}'] / samples:.1f}" for s in (HYBRID, ITERATIVE)),
            number(part["queries, hybrid over iterative"]),
        ]
        for n, part in enumerate(parts, 1)
    ]


def _rebuilt(page: PaperPage, found: NaturalResults) -> None:
    *_, refine = found.results["reconstructions"]["kept"]
    page.add_section("reconstructions")
    add_table(page, "reconstructions", found, refine=refine)


def _figure_5(page: PaperPage, found: NaturalResults) -> None:
    curve = found.results["curve"]
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
    add_table(page, "figure 5", found)


def _shown_point(curve: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Return a point of the bottom of the curve and its two adversaries."""
    starts = curve["starts"]
    if not starts:
        return {}
    n = min(range(len(starts)), key=lambda i: abs(starts[i][0] - 0.5) + starts[i][1])
    names = {"x": "starts", "natural": "natural", "nearest": "nearest"}
    return {name: (curve[key][n][0], curve[key][n][1]) for name, key in names.items()}


def _people(page: PaperPage, found: NaturalResults) -> None:
    page.add_section("digit people")
    rows = [
        [question, row["forest"], row["LeNet"], "not asked"]
        for question, row in page.spec.tables["people on digits"].items()
    ]
    page.add(format_table(["question", "forest (quoted)", "LeNet (quoted)", "here"], rows))


def _cost(page: PaperPage, found: NaturalResults) -> None:
    page.add_section("cost")
    planned = plan_of(PAPER, found.request)
    seconds = {task.name: load_seconds(task, found.folder) for task in planned}
    lines = [[name, f"{value / 60:.1f}"] for name, value in seconds.items()]
    page.add(format_table(["task", "minutes"], lines))
    page.record(["cost"], {name: round(value) for name, value in seconds.items()})


def _sign(found: NaturalResults) -> JudgedClaim:
    test = found.sign_test
    evidence = f"the forest's Δz is smaller on {test.smaller} digits and larger on {test.larger}"
    agrees = test.smaller > test.larger and test.p < MAX_P
    opposite = test.smaller < test.larger and test.p < OPPOSITE_P
    verdict = "agrees" if agrees else "disagrees" if opposite else "undecided"
    p = "p < 0.0001" if test.p < 0.0001 else f"p = {test.p:.4f}"
    return JudgedClaim(verdict, f"{evidence}, {p}")  # type: ignore[arg-type]


def _speed(found: NaturalResults) -> JudgedClaim:
    """Judge the paper's factor, which has one digit, by all numbers that round to it."""
    figures = {name: found.speedup(name) for name in (*TARGETS, BOTH)}
    verdict, _ = judge_near(figures[BOTH], SPEEDUP, SPEEDUP_MARGIN)
    texts = [
        f"{name} at Δz {PAPER_DISTANCES[name]} {format_signed_mean(figures[name])}"
        for name in TARGETS
    ]
    return JudgedClaim(verdict, "; ".join([*texts, f"both {format_signed_mean(figures[BOTH])}"]))


def _values(request: PaperRequest, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the models by their names in the zoo, and what all searches share."""
    data, seed, size = request.data, request.seed, values["size"]
    every = classifiers()[:: values["every"]]
    own = {name: model_spec(name, data, size, seed) for name in (*TARGETS, MLP)}
    many = {c.line: model_spec(MLP, data, size, seed, c.line) for c in every}
    further = [*accurate_classifiers()[:: values["every"]], *repeated_classifiers(every)]
    more = {c.name: model_spec(MLP, data, size, seed + c.seed, c.line) for c in further}
    by_neurons = [c.line for c in every if c.kind == NEURONS_KIND]
    middle = by_neurons[len(by_neurons) // 2]  # it stands for all where one is timed
    changed = values["generator_settings"]
    generator = model_name("WGAN", data, values["generator_size"], seed, ",".join(changed))
    per_class = max(1, request.cases // CLASSES) if request.cases else values["per_class"]
    training = {"data": data, "size": values["generator_size"], "seed": seed}
    digests = files.named_files({"data": data})  # with another content it is another task
    training |= {"changed": changed} if changed else {}
    training |= {"digests": digests} if digests else {}
    search = {"generator": generator, "samples": values["samples"], "step": values["step"]}
    search |= {"radius": values["radius"], "seed": seed}
    return {
        "own": list(own.values()),
        "many": list(many.values()),
        "more": list(more.values()),
        "more targets": more,
        "training": training,
        "generator name": generator,
        "search": search,
        "smaller search": search | {"samples": values["many_samples"]},
        "per_class": per_class,
        "few_per_class": min(per_class, values["many_per_class"]),
        "uniform_per_class": min(per_class, values["uniform_per_class"]),
        "networks": {name: {"target": own[name]} for name in (LENET, MLP)},
        "both": {name: {"target": own[name]} for name in TARGETS},
        "two targets": {name: own[name] for name in TARGETS},
        "one target": {middle: many[middle]},
        "all targets": many,
        "MLP": {MLP: own[MLP]},
        "by neurons": {line: many[line] for line in by_neurons},
    }


def model_spec(model: str, data: str, size: str, seed: int, settings: str = "") -> str:
    return f"zoo:{model_name(model, data, size, seed, settings)}"


PAPER = Paper(
    "natural",
    NaturalResults,
    parts={
        "method": _method,
        "digit generator": _generator,
        "table 1": _table_1,
        "figure 1": _figure_1,
        "searches": _searches,
        "table 6": add_table_6,
        "figure 4": add_figure_4,
        "reconstructions": _rebuilt,
        "figure 5": _figure_5,
        "digit people": _people,
        "cost": _cost,
    },
    judges={"speed": _speed, "sign-test": _sign},
    values=_values,
)
