"""A guard study on its page and in the terminal: what is caught before and under attack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from itertools import pairwise
from statistics import quantiles
from typing import Any

from brittle.formatting import NO_VALUE, number, percent, plural
from brittle.levels import LEVELS
from brittle.metrics.summary import Figure, rate
from brittle.reports.axes import TONES
from brittle.reports.kept import Drawing
from brittle.reports.page import asset
from brittle.reports.plots import recall_figure
from brittle.reports.study_page import MarkedText, Part, Plain, StudyPage, StudyView
from brittle.reports.summary_lines import format_interval, format_tokens
from brittle.reports.table import Cell, Column, Row, Table
from brittle.studies.grid.view import points
from brittle.studies.guard.study import (
    OVER_ATTACKS,
    OVER_BENIGN,
    Flags,
    GuardAttack,
    GuardStudy,
    format_counts,
)
from brittle.text import words_of

NORMALISED_CELL = "normalised"
LADDER = "auto"
BANDS = 3
MAX_EXAMPLES = 9
PAGE_TABLE = "costs-table"
SETTINGS = ("pool", "attacks", "benign", "split", "caught", "at_fpr", "by", "limit", "budget")
COST_EXPLAINED = (
    "Medians over the texts that evade the guard, with the middle half of them in small print. "
    "Queries are counted up to the one that evades it."
)
BENIGN_EXPLAINED = (
    "As many edits as the attack makes, but at random places. A guard that flags benign texts "
    "because of such edits also stops users who write in this way. The recall on caught texts that "
    "are edited at random is the floor: to get below it, no search is needed."
)


def guard_view(study: GuardStudy, **options: Any) -> StudyView:
    """Return what the page of a study shows, and the terminal."""
    style = asset("studies/study.css") + asset("studies/grid.css")
    return StudyView(_page(study), _terminal(study), style=style)


def _terminal(study: GuardStudy) -> list[Any]:
    """Show a study in at most 14 lines; the command adds two."""
    results, facts = study.results, study.facts
    rows: list[Any] = [["no attack", _short(results.before), *[""] * 4, _short(_fpr(study))]]
    undone = [name for name, one in results.attacks.items() if one.is_normalised]
    rows += [
        [
            name,
            _short(results.after(name)),
            *(number(one.median_of(column)) for column in _COSTS),
            _short(_by_chance(study, one)),
            _short(_flagged(one.benign)),
        ]
        for name, one in results.attacks.items()
        if not one.is_normalised
    ]
    rows.append(Row(["all together", _short(results.after()), *[""] * 5], style="bold"))
    heads = ("recall, 95%", "queries", "words", "chars", "by chance", "benign flagged")
    columns = [Column("attack"), *(Column(head, "right") for head in heads)]
    first = Plain(f"{facts.pool}: {_point(study)}", wraps=False)
    lines: list[Any] = [first, Table(columns, rows, css=PAGE_TABLE)]
    if undone:
        lines.append(f"normalised by the target: {', '.join(undone)}")
    levels = [
        f"{n} {percent(figure.value, 0)}".removesuffix("%") for n, figure in recall_by_level(study)
    ]
    if levels:
        lines.append(f"ladder: {', '.join(levels)}%")
    return [*lines, *_no_label(study), *_spent(study)]


def _no_label(study: GuardStudy, has_reasons: bool = False) -> list[str]:
    """Say how many texts got no label, as they are: these count as neither caught nor missed."""
    results = study.results
    counts = {OVER_ATTACKS: results.reasons_without_label, OVER_BENIGN: results.benign_unscored}
    parts = [
        plural(sum(own.values()), what) + (f" ({format_counts(own)})" if has_reasons else "")
        for what, own in counts.items()
        if own
    ]
    return [f"left out, because they got no label: {' and '.join(parts)}"] if parts else []


def _spent(study: GuardStudy) -> list[str]:
    """Say what a costly guard was asked in the whole study."""
    spent = study.results.spent
    if spent is None:
        return []
    tokens = {name: n for name, n in asdict(spent).items() if n is not None}
    return [f"asked: {plural(spent.answers, 'answers')}{format_tokens(tokens)}"]


_COSTS = {"queries": "queries", "words_changed": "words", "characters_changed": "characters"}


def _page(study: GuardStudy) -> StudyPage:
    results, facts = study.results, study.facts
    headline = [
        ("recall", percent(results.before.value), _over(results.before)),
        ("recall under attack", percent(results.after().value), _over(results.after())),
        ("false positives", percent(_fpr(study).value), _over(_fpr(study))),
    ]
    asked = f"asked for {100 * facts.at_fpr:g}%"
    parts = [
        Part(
            "Operating point",
            lines=[
                f"{_point(study)}.",
                _found(study),
                *(f"{line.capitalize()}." for line in (*_no_label(study, True), *_spent(study))),
            ],
        ),
        _recall_part(study),
        *_levels_part(study),
        *_costs_part(study),
        *_benign_part(study),
        _length_part(study),
        *_texts_part(study),
    ]
    return StudyPage(
        f"Guard: {study.name}",
        facts=[
            facts.pool,
            f"{plural(len(results.cases), OVER_ATTACKS)} of {facts.attacks}",
            f"{plural(results.point.of + results.measured.of, OVER_BENIGN)} of {facts.benign}",
            f"false positives {asked}",
        ],
        notes=study.warnings,
        headline=headline,
        parts=parts,
        settings={name: getattr(facts, name) for name in (*SETTINGS, "seed")}
        | {"runs": [one.run for one in results.attacks.values() if one.run]},
    )


def _point(study: GuardStudy) -> str:
    """Say in one line from which score on a text is caught."""
    point, caught = study.results.point, study.facts.caught
    if point.by == "labels":
        return f"“{caught}” by its own decision (labels only)"
    interval = f"{point.low:.3g}–{point.high:.3g}"
    texts = plural(point.of, OVER_BENIGN)
    return f"“{caught}” from {point.threshold:g} on ({interval}, by {texts})"


def _found(study: GuardStudy) -> str:
    results, facts = study.results, study.facts
    how = "found by its name" if results.by_name else "named by you"
    fixed = (
        f"The threshold flags {results.point.flagged:,} of {plural(results.point.of, OVER_BENIGN)}."
    )
    if results.point.by == "labels":
        fixed = f"Of {plural(results.point.of, OVER_BENIGN)} it flags {results.point.flagged:,}."
    figure = _fpr(study)
    return (
        f"The label that means caught is “{facts.caught}” ({how}). {fixed} Of the other "
        f"{plural(figure.of, OVER_BENIGN)}, which did not fix it, {_full(figure)} are flagged; "
        f"asked for: {100 * facts.at_fpr:g}%."
    )


def _recall_part(study: GuardStudy) -> Part:
    results = study.results
    heads = ["recall", "change, points", "evaded"]
    heads += ["no label"] if results.without_label() else []
    empty = [""] * (len(heads) - 1)
    rows: list[Any] = [["no attack", figure_cell(results.before), *empty]]
    for name, one in results.attacks.items():
        if one.is_normalised:
            rows.append([name, Cell(text="normalised by the target"), *empty])
            continue
        rows.append([name, figure_cell(results.after(name)), *_lost_cells(study, name)])
    rows.append(
        Row(["all together", figure_cell(results.after()), *_lost_cells(study)], css="apart")
    )
    columns = [Column("attack"), *(Column(head, "right") for head in heads)]
    return Part(
        "Recall before and under attack",
        "Only texts that the guard catches are attacked, with "
        f"{plural(study.facts.budget, 'queries')} each. All recalls are over the same texts"
        + (
            ", but for those that got no label under an attack." if results.without_label() else "."
        ),
        [Table(columns, rows, css=PAGE_TABLE)],
        below="“Normalised by the target”: the guard undoes these edits before it reads a text, so "
        "they cannot work, and there is no rate. The change has Newcombe's interval for pairs.",
    )


def _lost_cells(study: GuardStudy, *names: str) -> list[Cell]:
    lost, evaded = study.results.lost(*names), study.results.evaded(*names)
    count = Cell(len(evaded), f"{len(evaded):,}", [f"of {len(study.results.caught):,}"])
    without = study.results.without_label(*names)
    silent = [Cell(len(without))] if study.results.without_label() else []
    if lost.difference is None:
        return [Cell(None), count, *silent]
    interval = f"{points(lost.low)} to {points(lost.high)}"
    return [Cell(lost.difference, points(lost.difference), [interval]), count, *silent]


def recall_by_level(study: GuardStudy) -> list[tuple[str, Figure]]:
    """Return the recall if edits up to each level of the ladder are allowed."""
    results = study.results
    ladder = results.attacks.get(LADDER)
    if ladder is None or not results.caught:
        return []
    without = len(results.without_label(LADDER))
    figures, evaded = [], without
    by_level = [row.level for row in ladder.broken.values()]
    for level in LEVELS:
        evaded += by_level.count(level)
        if level not in ladder.normalised_levels:
            kept = len(results.caught) - evaded
            figures.append((level, rate(kept, len(results.cases) - without, OVER_ATTACKS)))
    return figures


def _levels_part(study: GuardStudy) -> list[Part]:
    figures = recall_by_level(study)
    if not figures:
        return []
    rows = [[name, LEVELS[name].about, figure_cell(figure)] for name, figure in figures]
    columns = [Column("up to level"), Column("edits"), Column("recall", "right")]
    undone = ", ".join(study.results.attacks[LADDER].normalised_levels)
    below = f"Normalised by the target: {undone}." if undone else ""
    lead = "Gentle edits are tried first: the recall if edits up to each level are allowed."
    return [Part("Level by level", lead, [Table(columns, rows, css=PAGE_TABLE)], below=below)]


def _costs_part(study: GuardStudy) -> list[Part]:
    results = study.results
    evading = {name: one for name, one in results.attacks.items() if one.broken}
    if not evading:
        return []
    rows = [
        [name, len(one.broken), *(_cost_cell(one, column) for column in _COSTS)]
        for name, one in evading.items()
    ]
    heads = ("texts that evade", *_COSTS.values())
    columns = [Column("attack"), *(Column(head, "right") for head in heads)]
    shown = sorted(evading, key=lambda n: (n != LADDER, -len(evading[n].broken)))[:TONES]
    curves, end = {}, 0.0
    for name in (name for name in evading if name in shown):
        curve = results.evaded_by_queries(name)
        end = max(end, curve.end)
        all_cases, caught = len(results.cases), len(results.caught)
        curves[name] = [(x, (caught - count) / all_cases) for x, count in curve.points]
    chart = Drawing(recall_figure(curves, results.before.value or 0.0, end))
    table = Table(columns, rows, css=PAGE_TABLE)
    return [
        Part("What evasion costs", "", [table], below=COST_EXPLAINED),
        Part("Recall against queries", "", [chart]),
    ]


def _cost_cell(attack: GuardAttack, column: str) -> Cell:
    values = [getattr(row, column) for row in attack.broken.values()]
    middle = attack.median_of(column)
    if len(values) < 2:
        return Cell(middle, number(middle))
    first, _, third = quantiles(values, n=4, method="inclusive")
    return Cell(middle, number(middle), [f"{number(first)}–{number(third)}"])


def _benign_part(study: GuardStudy) -> list[Part]:
    rows = [
        [
            name,
            figure_cell(_flagged(one.benign)),
            figure_cell(_before(one.benign)),
            figure_cell(_by_chance(study, one)),
        ]
        for name, one in study.results.attacks.items()
        if one.benign is not None
    ]
    if not rows:
        return []
    heads = ("benign texts flagged, edited", "the same, as they are", "recall, edited at random")
    columns = [Column("edits"), *(Column(head, "right") for head in heads)]
    return [
        Part(
            "The same edits without an attack",
            "",
            [Table(columns, rows, css=PAGE_TABLE)],
            below=BENIGN_EXPLAINED,
        )
    ]


def length_bands(study: GuardStudy) -> list[tuple[str, Figure, Figure]]:
    """Return the recall before and under all attacks of short, middle and long texts."""
    lengths = {case.case: len(words_of(case.text)) for case in study.results.cases}
    if not lengths:
        return []
    ordered, kept = sorted(lengths.values()), study.results.kept()
    ends = sorted({ordered[(len(ordered) - 1) * n // BANDS] for n in range(1, BANDS + 1)})
    bands = []
    for low, high in pairwise([0, *ends]):
        cases = [one for one in study.results.cases if low < lengths[one.case] <= high]
        known = [one for one in cases if one.case in kept]
        before = rate(sum(one.is_caught for one in cases), len(cases), OVER_ATTACKS)
        after = rate(sum(kept[one.case] for one in known), len(known), OVER_ATTACKS)
        name = f"{low + 1} to {high}" if low + 1 < high else f"{high}"
        bands.append((f"{name} words", before, after))
    return bands


def _length_part(study: GuardStudy) -> Part:
    rows = [
        [name, figure_cell(a), figure_cell(b), f"{a.of:,}"] for name, a, b in length_bands(study)
    ]
    heads = ("recall", "under all attacks", "texts")
    columns = [Column("length"), *(Column(head, "right") for head in heads)]
    return Part("Short and long texts", shows=[Table(columns, rows, css=PAGE_TABLE)])


def _texts_part(study: GuardStudy) -> list[Part]:
    texts = {case.case: case.text for case in study.results.cases}
    shown: list[MarkedText] = []
    for name, one in study.results.attacks.items():
        if one.broken and len(shown) < MAX_EXAMPLES:
            row = min(one.broken.values(), key=lambda row: row.characters_changed)
            about = (
                f"{plural(row.queries, 'queries')}, {plural(row.words_changed, 'words')} changed"
            )
            about += "" if row.level is None else f", level {row.level}"
            pair = [(("text", texts[row.case]),), (("text", row.adversarial or ""),)]
            shown.append(MarkedText(name, study.facts.caught, about, *pair))
    lead = "For each attack, the text that evades the guard with the fewest characters changed."
    return [Part("Texts that evade the guard", lead, shown)] if shown else []


def _fpr(study: GuardStudy) -> Figure:
    return study.results.false_positives


def _flagged(flags: Flags | None) -> Figure | None:
    return None if flags is None else rate(flags.flagged, flags.of, OVER_BENIGN)


def _before(flags: Flags | None) -> Figure | None:
    return None if flags is None else rate(flags.before, flags.of, OVER_BENIGN)


def _by_chance(study: GuardStudy, attack: GuardAttack) -> Figure | None:
    """Return the recall if the caught texts are edited at random places."""
    if attack.floor is None:
        return None
    without = len(study.results.caught) - attack.floor.of  # texts that got no label when edited
    return rate(attack.floor.flagged, len(study.results.cases) - without, OVER_ATTACKS)


def _short(figure: Figure | None) -> str:
    """Write a rate in percent with its interval, with fractions only where it is small.

    >>> _short(rate(3, 300, "texts")), _short(rate(95, 100, "texts"))
    ('1.0% 0.3–2.9', '95% 89–98')
    """
    if figure is None or figure.value is None:
        return NO_VALUE
    digits = 1 if figure.value < 0.02 else 0
    interval = format_interval(figure, lambda value: percent(value, digits))
    return f"{percent(figure.value, digits)} {interval.removesuffix('%')}".rstrip()


def _full(figure: Figure) -> str:
    interval = format_interval(figure, percent)
    return f"{percent(figure.value)} ({interval})" if interval else percent(figure.value)


def _over(figure: Figure) -> str:
    interval = format_interval(figure, percent)
    return f"{interval}, {number(figure.count)} of {plural(figure.of, figure.over)}"


def figure_cell(figure: Figure | None) -> Cell:
    """Return a rate as a cell, with its interval and its counts."""
    if figure is None or figure.value is None:
        return Cell(None)
    small = [format_interval(figure, percent), f"{number(figure.count)} of {number(figure.of)}"]
    return Cell(figure.value, percent(figure.value), [one for one in small if one], strong=True)


def recall_cells(studies: Sequence[GuardStudy], name: str) -> list[Cell]:
    """Return the recall under an attack in each of several studies; without a name, under all."""
    cells = []
    for study in studies:
        results = study.results
        if name and name not in results.attacks:
            cells.append(Cell(None))
        elif name and results.attacks[name].is_normalised:
            cells.append(Cell(text=NORMALISED_CELL))
        else:
            cells.append(figure_cell(results.after(*[name] if name else [])))
    return cells
