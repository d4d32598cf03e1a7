"""A transfer study on its page, in the terminal, for programs, and side by side with others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from brittle.formatting import number, plural
from brittle.reports.figures import Bar
from brittle.reports.heat_map import Scale, colour_rules
from brittle.reports.page import asset, fragment, isolate
from brittle.reports.rate_matrix import (
    WAYS,
    MatrixBlock,
    MatrixMaps,
    RateMatrix,
    in_percent,
    means,
)
from brittle.reports.study_page import MarkedText, Part, StudyPage, StudyView
from brittle.reports.table import Cell, Column, Row, Table
from brittle.studies.transfer.factors import FactorRow
from brittle.studies.transfer.showing import AVERAGE, ClassRates, FoolingText, TransferFigures

COUNTS = ("fool every target", "adversarial texts")
EXPLAINED = (
    "Rates in %. |r − base| in points: the distance of a cell from the base rate of its target."
)


def transfer_view(study: TransferFigures, texts: int = 5) -> StudyView:
    """Return what the page shows, and the terminal, there with some of the texts alone."""
    facts = [study.attack, *(str(study.facts.get(name) or "") for name in ("data", "pool"))]
    return StudyView(
        _page(study),
        _terminal(study, texts),
        about=", ".join([*filter(None, facts), study.matrix.size]),
        template="transfer.html.jinja",
        style=asset("studies/study.css") + colour_rules(),
        script=asset("studies/study.js"),
    )


def _page(study: TransferFigures) -> StudyPage:
    facts = [study.attack, study.facts.get("data"), study.facts.get("pool"), study.matrix.size]
    failed = [(name, " has empty cells: ", why) for name, why in study.failures.items()]
    parts = [_map(study.matrix), _classes(study), _factors(study), _texts(study)]
    return StudyPage(
        study.name,
        mark="brittle · transfer study",
        facts=facts,
        notes=[*study.warnings, *failed],
        headline=_headline(study),
        parts=[part for part in parts if part.shows],
        settings={"attack": study.attack_in_full}
        | {k: v for k, v in study.facts.items() if k not in ("attack", "settings", "defaults")},
    )


def _headline(study: TransferFigures) -> list[tuple[str, Any, str]]:
    matrix = study.matrix
    pairs = int((np.isfinite(matrix.rate) & matrix.is_pair).sum())
    bases = int((np.isfinite(matrix.rate) & matrix.is_base).sum())
    rates, base_rates = zip(*(means(matrix, of_right) for of_right in (False, True)))
    return [
        (
            "mean transfer rate",
            _switched(rates),
            f"over {plural(pairs, ('pair', 'pairs'))} of different models",
        ),
        (
            "mean base rate",
            _switched(base_rates),
            f"over {plural(bases, ('model', 'models'))} with a second seed",
        ),
        (
            "fool every target",
            number(study.fooling_all),
            f"of {plural(study.winners, ('adversarial text', 'adversarial texts'))}",
        ),
    ]


def _switched(rates: Sequence[float]) -> Any:
    """Write a rate over all texts and one over those a target had right; the page shows one."""
    return fragment("switched.html.jinja", values=list(map(_percent, rates)))


def _map(matrix: RateMatrix) -> Part:
    return Part(
        "Transfer rate of every pair of models",
        "Share of the adversarial texts of a source (row) that a target (column) gets wrong. Point "
        "at a cell, tap it, or move with the arrow keys.",
        [MatrixMaps(matrix)],
        anchor="map",
    )


def _classes(study: TransferFigures) -> Part:
    scale = Scale()
    return Part(
        "By class of model",
        "Mean of the cells with base rates (small: without them); rows are sources, "
        "columns are targets.",
        [_class_table(rates, scale) for rates in shown_classes(study.classes)],
        css="pair stacked",
    )


def shown_classes(classes: Sequence[ClassRates]) -> list[ClassRates]:
    """Return the tables without those that repeat another one, or the average of the whole.

    With one class of sources or of targets there is no average over classes, and with one of each
    the table would be a single cell: the mean that stands at the top.
    """
    shown: list[ClassRates] = []
    for rates in classes:
        rows, columns = (
            1 if len(names) == 2 and names[-1] == AVERAGE else len(names)
            for names in (rates.rows, rates.columns)
        )
        if rows == columns == 1:
            continue
        own = replace(
            rates,
            rows=rates.rows[:rows],
            columns=rates.columns[:columns],
            mean=rates.mean[:rows, :columns],
            without=rates.without[:rows, :columns],
            low=None if rates.low is None else rates.low[:rows, :columns],
            high=None if rates.high is None else rates.high[:rows, :columns],
        )
        if not any(_are_equal(own, other) for other in shown):
            shown.append(own)
    return shown


def _are_equal(a: ClassRates, b: ClassRates) -> bool:
    """Tell whether two ways to group the models make the same groups, under other names."""
    same = a.of_right == b.of_right and a.mean.shape == b.mean.shape
    return same and bool(np.array_equal(a.mean, b.mean, equal_nan=True))


def _class_table(rates: ClassRates, scale: Scale) -> Table:
    rows = [
        [name, *(_class_cell(rates, i, j, scale) for j in range(len(rates.columns)))]
        for i, name in enumerate(rates.rows)
    ]
    columns = [Column(name, is_name=True, isolate=False) for name in rates.columns]
    title = f"by {WAYS.get(rates.by, rates.by)}"
    card = "right" if rates.of_right else "all"
    return Table([Column(), *columns], rows, title, css="classes", card=card, corner=True)


def _class_cell(rates: ClassRates, i: int, j: int, scale: Scale) -> Cell:
    mean, without = float(rates.mean[i, j]), float(rates.without[i, j])
    if math.isnan(mean):
        return Cell(text="", title="no cell has a value", css="ae")
    notes = []
    if rates.low is not None and rates.high is not None and np.isfinite(rates.low[i, j]):
        notes.append(f"{in_percent(rates.low[i, j])}–{in_percent(rates.high[i, j])}")
    if not math.isclose(mean, without):
        nothing = math.isnan(without)
        notes.append("base alone" if nothing else f"{in_percent(without)} without")
    return Cell(mean, _percent(mean), notes, strong=True, css=scale.css(mean))


def _factors(study: TransferFigures) -> Part:
    tables = [("all", study.factors), ("right", study.factors_of_right)]
    return Part(
        "Effect of each difference",
        "Mean distance of the transfer rate from the target’s base rate, over pairs of "
        "models that differ in only one factor. The larger the distance, the more the "
        "factor matters.",
        [_factor_table(measure, rows) for measure, rows in tables if rows],
    )


def _factor_table(measure: str, factors: Sequence[FactorRow]) -> Table:
    most = max([row.mean for row in factors if math.isfinite(row.mean)], default=0.0) or 1.0
    columns = (
        Column("factor", isolate=False),
        Column("|r − base|, points", "right", in_percent),
        Column("", isolate=False),
        Column("pairs", "right", number),
    )
    rows = [
        (
            row.factor,
            Cell(row.mean, f"{in_percent(row.mean)} ", [_interval(row)]),  # both on one line
            Cell(_bar(row.mean / most), text=""),
            row.pairs,
        )
        for row in factors
    ]
    return Table(columns, rows, css="parts", card=measure)


def _bar(share: float) -> Bar | None:
    return Bar(share) if math.isfinite(share) else None


def _texts(study: TransferFigures) -> Part:
    are_all = all(text.fooled == text.targets for text in study.texts)
    lead = (
        f"{plural(study.fooling_all, ('text fools', 'texts fool'))} every target."
        if study.fooling_all
        else "No text fools every target."
    )
    if study.winners > len(study.texts):
        lead += f" The page shows the {number(len(study.texts))} that fool most."
    shown = [_marked(text, isolate(text.source)) for text in study.texts]
    return Part(f"Texts that fool {'every target' if are_all else 'most targets'}", lead, shown)


def _marked(text: FoolingText, source: Any) -> MarkedText:
    """Show a text; the name of its `source` is markup on a page."""
    status = f"fools {number(text.fooled)} of {plural(text.targets, ('target', 'targets'))}"
    about = "from " + source
    return MarkedText(status, text.label, about, text.original, text.adversarial)


def _terminal(study: TransferFigures, texts: int) -> list[Any]:
    of_right = {rates.by: rates for rates in shown_classes(study.classes) if rates.of_right}
    parts: list[Any] = [_figures(study), ""]
    for rates in shown_classes(study.classes):
        if not rates.of_right:
            parts += [_mean_table(rates, of_right.get(rates.by)), ""]
    if study.factors:
        parts += [_both_factors(study), ""]
    parts.append(MatrixBlock(study.matrix))
    for text in study.texts[: max(texts, 0)]:
        parts += ["", _marked(text, text.source)]
    return parts


def _figures(study: TransferFigures) -> Table:
    rates = [means(study.matrix, of_right) for of_right in (False, True)]
    rows: list[Row | Sequence[Any]] = [
        (name, value, f"{_percent(of_right)} of texts that the target gets right without edits")
        for name, value, of_right in zip(("mean transfer rate", "mean base rate"), *rates)
    ]
    of = plural(study.winners, ("adversarial text", "adversarial texts"))
    fooling = number(study.fooling_all)
    rows.append(("fool every target", Cell(text=fooling, style="bold red"), f"of {of}"))
    columns = (
        Column("", no_wrap=True),
        Column("", "right", _percent, strong=True, no_wrap=True),
        Column("", style="dim"),
    )
    return Table(columns, rows, has_head=False, indent=2)


def _mean_table(rates: ClassRates, of_right: ClassRates | None) -> Table:
    below = (
        " Below: only texts that the target gets right without edits."
        if of_right is not None
        else ""
    )
    rows = []
    for i, name in enumerate(rates.rows):
        cells: list[Any] = [name]
        for j in range(len(rates.columns)):
            small = [] if of_right is None else [in_percent(float(of_right.mean[i, j]))]
            cells.append(Cell(float(rates.mean[i, j]), small=small, strong=True))
        rows.append(cells)
    columns = [Column(name, "right", in_percent) for name in rates.columns]
    return Table(
        [Column("source ↓  target →"), *columns],
        rows,
        title=f"mean rate by {WAYS.get(rates.by, rates.by)}, %",
        notes=[f"With base rates.{below}"],
        indent=2,
    )


def _both_factors(study: TransferFigures) -> Table:
    names = ("points", "95% interval", "pairs", "had right", "95% interval")
    of_right = {row.factor: row for row in study.factors_of_right}
    rows = []
    for row in study.factors:
        other = of_right.get(row.factor)
        beside = ("–", "") if other is None else (in_percent(other.mean), _interval(other))
        points = Cell(row.mean, in_percent(row.mean), strong=True)
        rows.append((row.factor, points, _interval(row), number(row.pairs), *beside))
    return Table(
        [Column("factor"), *(Column(name, "right") for name in names)],
        rows,
        title="mean |r − base| by factor",
        notes=["had right: the same, only over texts that the target gets right without edits."],
        indent=2,
    )


def _interval(row: FactorRow) -> str:
    return f"{in_percent(row.low)}–{in_percent(row.high)}"


def _percent(rate: float) -> str:
    return in_percent(rate) + ("" if math.isnan(rate) else "%")


def transfer_json(study: TransferFigures) -> dict[str, Any]:
    """Return the figures of a study for programs; an empty cell is null."""
    matrix = study.matrix
    return {
        "study": study.name,
        **study.facts,
        "sources": [model.name for model in matrix.sources],
        "targets": [model.name for model in matrix.targets],
        "rate": _lists(matrix.rate),
        "rate_of_right": _lists(matrix.rate_of_right),
        "texts": matrix.texts.tolist(),
        "mean_rate": _number(means(matrix, False)[0]),
        "mean_base_rate": _number(means(matrix, False)[1]),
        "classes": [
            {"by": rates.by, "rows": rates.rows, "columns": rates.columns}
            | {"mean": _lists(rates.mean), "without_base": _lists(rates.without)}
            | {"of_right": rates.of_right}
            for rates in study.classes
        ],
        "factors": list(map(_factor_json, study.factors)),
        "factors_of_right": list(map(_factor_json, study.factors_of_right)),
        "fooling_all": study.fooling_all,
        "winners": study.winners,
        "failures": dict(study.failures),
        "warnings": list(study.warnings),
    }


def _factor_json(row: FactorRow) -> dict[str, Any]:
    names = ("mean", "low", "high")
    return {"factor": row.factor, "pairs": row.pairs} | {
        name: _number(getattr(row, name)) for name in names
    }


def _number(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value


def _lists(values: Any) -> list[list[float | None]]:
    return [[_number(value) for value in row] for row in values.tolist()]


def compared_table(studies: Sequence[TransferFigures]) -> Table:
    """Show the figures of studies in columns; rates and distances are in percent."""
    columns = []
    for study in studies:
        about = ", ".join(str(fact) for fact in (study.attack, study.facts.get("pool")) if fact)
        columns.append(Column(study.name, "right", small=about, fold=True))
    figures = [compared_figures(study) for study in studies]
    rows = []
    for name in dict.fromkeys(name for own in figures for name in own):
        write = number if name in COUNTS else in_percent
        values = (own.get(name, math.nan) for own in figures)
        rows.append([name, *(Cell(value, write(value)) for value in values)])
    heads = [Column("", no_wrap=True), *columns]
    return Table(heads, rows, notes=[EXPLAINED], indent=2)


def compared_figures(study: TransferFigures) -> Mapping[str, float]:
    """Return the figures in which studies are compared, by their names; NaN where there is none."""
    rate, base = means(study.matrix, of_right=False)
    return {
        "mean transfer rate": rate,
        "mean base rate": base,
        "|r − base| over all pairs": mean_distance(study.matrix),
        **{f"|r − base| by {row.factor}": row.mean for row in study.factors},
        "fool every target": study.fooling_all,
        "adversarial texts": study.winners,
    }


def mean_distance(matrix: RateMatrix) -> float:
    """Return the mean of |r − base| over pairs of different models whose target has a base rate."""
    base = np.where(matrix.is_base & np.isfinite(matrix.rate), matrix.rate, 0).sum(axis=0)
    has_base = (matrix.is_base & np.isfinite(matrix.rate)).any(axis=0)
    distance = np.abs(matrix.rate - np.where(has_base, base, np.nan))[matrix.is_pair]
    distance = distance[np.isfinite(distance)]
    return float(distance.mean()) if len(distance) else math.nan


def compared_json(studies: Sequence[TransferFigures]) -> list[dict[str, Any]]:
    """Return the compared figures for programs; null where there is none."""
    return [
        {"study": study.name}
        | {name: study.facts.get(name) for name in ("attack", "settings")}
        | {name: _number(value) for name, value in compared_figures(study).items()}
        for study in studies
    ]
