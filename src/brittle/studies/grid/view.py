"""A grid on its page, in the terminal, and for programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from brittle.asks import DECIDED
from brittle.formatting import attack_in_words, number, percent, plural
from brittle.metrics.summary import Figure
from brittle.reports.heat_map import Legend, Scale, colour_rules
from brittle.reports.page import asset, isolate
from brittle.reports.study_page import MarkedText, Part, StudyPage, StudyView
from brittle.reports.summary_lines import format_interval
from brittle.reports.table import Cell, Column, Row, Table
from brittle.studies.grid.study import (
    Best,
    GridCell,
    GridStudy,
    PairedTest,
    accuracy_by_target,
    best_by_target,
    mean_queries,
    paired_tests,
    skipped,
    success,
)
from brittle.studies.pools import named_pool

FACTS = ("pool", "data", "split", "seed", "limit", "budget")
BEST = "A*"
BEST_EXPLAINED = "the best of the attention attacks, chosen after their success was known"
LEVEL = 0.05
MAX_PAIRS = 24


def grid_view(study: GridStudy, **options: Any) -> StudyView:
    """Return what the page of a grid shows, and the terminal."""
    facts = [study.facts.data, named_pool(study.facts.pool) or ""]
    return StudyView(
        _page(study),
        _terminal(study),
        about=", ".join([*filter(None, facts), about_cases(study)]),
        style=asset("studies/study.css") + asset("studies/grid.css") + colour_rules(),
    )


def about_cases(study: GridStudy) -> str:
    """Say what the cases are."""
    cases = plural(len(study.results.cases), "cases")
    if study.facts.all_right:
        return f"{cases} that all targets get right, of {plural(study.results.scored, 'texts')}"
    return f"{cases}; each target is attacked on its own right texts"


def _page(study: GridStudy) -> StudyPage:
    attacks, targets = study.facts.attacks, study.results.targets
    size = f"{plural(len(attacks), 'attacks')} × {plural(len(targets), 'targets')}"
    parts = [_success_part(study), *_pairs_part(study), _costs_part(study), *_texts_part(study)]
    chosen = {attack: study.facts.settings.get(attack, {}) for attack in attacks}
    in_words = [
        attack_in_words(attack, {**chosen[attack], **study.facts.defaults.get(attack, {})})
        for attack in attacks
    ]
    return StudyPage(
        study.name,
        facts=[size, study.facts.data, about_cases(study)],
        notes=[*study.warnings, *_empty(study)],
        parts=parts,
        settings={"attacks": in_words} | shown_facts(study) | {"settings": None},
    )


def shown_facts(study: GridStudy) -> dict[str, Any]:
    """Return what a grid is about, with the runs of its cells."""
    facts = {name: getattr(study.facts, name) for name in FACTS}
    runs = [cell.run for cells in study.results.cells.values() for cell in cells.values()]
    facts |= {"pool": named_pool(study.facts.pool), "settings": _settings(study), "runs": runs}
    return facts


def _settings(study: GridStudy) -> dict[str, dict[str, Any]]:
    return {row: dict(values) for row, values in study.facts.settings.items()}


def _in_words(study: GridStudy, attack: str) -> str:
    return attack_in_words(attack, study.facts.settings.get(attack, {}))


def _empty(study: GridStudy) -> list[tuple[str, str, str]]:
    """Say who has empty cells, and why."""
    reasons = [*study.failures.items(), *study.results.refusals.items()]
    return [(who, ": empty, ", reason) for who, reason in reasons]


def _not_attacked(study: GridStudy) -> list[str]:
    """Say which attacks could do nothing with how many cases that a target has right."""
    lines = []
    for attack, cells in study.results.cells.items():
        counts = {
            target: sum(n for why, n in skipped(cell).items() if not why.startswith(DECIDED))
            for target, cell in cells.items()
        }
        parts = [f"{count:,} on {target}" for target, count in counts.items() if count]
        if parts:
            lines.append(f"{attack} could not attack {', '.join(parts)}; these cells are left out")
    return lines


def _success_part(study: GridStudy) -> Part:
    results, best = study.results, best_by_target(study)
    cells = results.cells
    scale = Scale()
    has_empty = any(len(cells[attack]) < len(results.targets) for attack in study.facts.attacks)
    about_best = f" {BEST}: {BEST_EXPLAINED}." if best else ""
    left_out = "".join(f" {line}." for line in _not_attacked(study))
    return Part(
        "How often each attack breaks each target",
        f"Share of the attacked cases that are broken, with a 95% interval. {about_cases(study)}.",
        [
            Legend(scale, empty="empty: nothing to measure" if has_empty else ""),
            _success_table(study, best, scale),
        ],
        below=f"Accuracy is measured on the {plural(results.scored, 'texts')} that the cases "
        f"come from, before any attack.{about_best} An attack that counts draws has the "
        f"mean share of draws that break a text, with an interval over texts.{left_out}",
    )


def _success_table(study: GridStudy, best: Best, scale: Scale) -> Table:
    """Build the table of the page, whose cells have the colours of their rates."""

    def coloured(cell: GridCell | None) -> Cell:
        return _success_cell(cell, scale)

    def coloured_best(best: tuple[str, Figure] | None) -> Cell:
        if best is None:
            return Cell(text="", title="no attention attack", css="ae")
        return _with_count(best[1], [best[0]], scale.css(best[1].value or 0.0))

    def plain(figure: Figure | None) -> Cell:
        return _with_count(figure, css="plain")

    rows = _success_rows(study, best, coloured, coloured_best, plain)
    columns = [Column(name, is_name=True, isolate=False) for name in _names(study)]
    head = Column("attack ↓ target →")
    return Table([head, *columns], rows, css="classes grid-table", corner=True)


def _names(study: GridStudy) -> list[str]:
    return [target.name for target in study.results.targets]


def _success_rows(
    study: GridStudy,
    best: Best,
    show: Callable[[GridCell | None], Cell],
    show_best: Callable[[tuple[str, Figure] | None], Cell],
    show_accuracy: Callable[[Figure | None], Cell],
) -> list[Row]:
    """Build a row for every attack, one for the best of some, and one for the accuracy."""
    names, cells, accuracy = _names(study), study.results.cells, accuracy_by_target(study)
    rows = [
        Row([_in_words(study, attack), *(show(cells[attack].get(name)) for name in names)])
        for attack in study.facts.attacks
    ]
    if best:
        shown = [show_best(best.get(name)) for name in names]
        rows.append(Row([_own_words(BEST), *shown], css="apart"))
    shown = [show_accuracy(accuracy.get(name)) for name in names]
    rows.append(Row([_own_words("accuracy", style="dim"), *shown], css="apart"))
    return rows


def _own_words(text: str, style: str = "") -> Cell:
    """Return words of ours, which no writing direction has to be isolated from."""
    from markupsafe import Markup

    return Cell(Markup(text), text, style=style)


def _success_cell(cell: GridCell | None, scale: Scale) -> Cell:
    figure = None if cell is None else success(cell)
    if cell is None or figure is None or figure.value is None:
        return Cell(text="", title="nothing was attacked", css="ae")
    left_out = skipped(cell)
    reasons = ", ".join(f"{n:,} {reason}" for reason, n in left_out.items())
    note = Cell(text=f"{sum(left_out.values()):,} not attacked", title=reasons)
    return _with_count(figure, [note] if left_out else [], scale.css(figure.value))


def _with_count(figure: Figure | None, beside: Sequence[str | Cell] = (), css: str = "") -> Cell:
    """Show a rate with its interval, its count, and what else stands beside it."""
    if figure is None or figure.value is None:
        return Cell(None, small=beside, css=css)
    count = "" if figure.count is None else f"{number(figure.count)} of {number(figure.of)}"
    count = count or plural(figure.of, ("text", "texts"))
    small = [format_interval(figure, percent), count, *beside]
    return Cell(figure.value, percent(figure.value), small, strong=True, css=css)


def _pairs_part(study: GridStudy) -> list[Part]:
    pairs = paired_tests(study)
    if not pairs:
        return []
    rows: list[Row] = []
    for attack, group in groupby(pairs, key=lambda row: row.attack):
        rows.append(Row([_in_words(study, attack)], css="attack"))
        rows += map(_pair_row, group)
    tests = sum(row.contrast is not None for row in pairs)
    differing = sum(map(differs, pairs))
    heads = ("points", "p, Holm", "on one\nalone")
    columns = [Column("first → second"), *(Column(name, "right") for name in heads)]
    part = Part(
        "Targets compared case by case",
        "Success on the second target minus success on the first, in points, for cases "
        "attacked on both; Newcombe’s 95% interval for pairs. McNemar’s exact test, "
        f"corrected by Holm’s method for all {plural(tests, ('test', 'tests'))} of this "
        f"table: {number(differing)} below 0.05.",
        [Table(columns, rows, css="pairs")],
        below="On one only: cases broken on the first target but not on the second, and the "
        "reverse; small: cases attacked on both. Small under p, Holm: p without the "
        "correction. An attack that counts draws is not tested; its difference is a mean "
        "over texts.",
    )
    return [part]


def _pair_row(row: PairedTest) -> Row:
    names = Cell(isolate(row.a) + " → " + isolate(row.b), f"{row.a} → {row.b}")
    both = row.contrast
    alone = "–" if both is None else f"{number(both.only_a)} : {number(both.only_b)}"
    cells = [
        names,
        Cell(row.difference, points(row.difference), [_points_interval(row)]),
        Cell(row.p_holm, p_value(row.p_holm), [] if both is None else [p_value(both.p)]),
        Cell(text=alone, small=[f"of {number(row.of)}"]),
    ]
    return Row(cells, css="differs" if differs(row) else "")


def differs(row: PairedTest) -> bool:
    """Tell whether two targets differ, as the corrected test decides."""
    return row.p_holm is not None and row.p_holm < LEVEL


def _points_interval(row: PairedTest) -> str:
    return f"{points(row.low)} to {points(row.high)}"


def _costs_part(study: GridStudy) -> Part:
    names = [target.name for target in study.results.targets]
    rows = []
    for attack in study.facts.attacks:
        cells = [study.results.cells[attack].get(name) for name in names]
        rows.append([_in_words(study, attack), *map(_cost, cells)])
    columns = [Column(name, "right", is_name=True) for name in names]
    return Part(
        "What it cost",
        "Mean queries of an attacked case; small: rows that the target computed in this "
        "run. Attacks on one target share their answers, so a later attack computes less.",
        [Table([Column("attack"), *columns], rows, css="costs-table")],
    )


def _cost(cell: GridCell | None) -> Cell:
    if cell is None:
        return Cell(None)
    queries = mean_queries(cell)
    return Cell(queries, number(queries), [f"{cell.sent:,}"])


def _texts_part(study: GridStudy) -> list[Part]:
    texts = broken_texts(study)
    lead = "The first text among those it breaks on most targets."
    return [Part("One text of each attack", lead, texts)] if texts else []


def broken_texts(study: GridStudy) -> list[MarkedText]:
    """Return one text of every attack: the first of those that it breaks on most targets."""
    cases = {case.case: case for case in study.results.cases}
    texts = []
    for attack, cells in study.results.cells.items():
        broken: dict[str, list[tuple[str, tuple[tuple[str, str], ...]]]] = {}
        for target, cell in cells.items():
            for row in cell.rows:
                if row.adversarial is not None:
                    broken.setdefault(row.case, []).append((target, row.adversarial))
        if not broken:
            continue
        in_order = [case for case in cases if case in broken]
        case = max(in_order, key=lambda name: len(broken[name]))
        target, adversarial = broken[case][0]
        of = plural(len(cells), ("target", "targets"))
        about = f"breaks {number(len(broken[case]))} of {of}; here " + isolate(target)
        status = isolate(_in_words(study, attack))
        original = cases[case].fields
        texts.append(MarkedText(status, cases[case].label, about, original, adversarial))
    return texts


def _terminal(study: GridStudy) -> list[Any]:
    best = best_by_target(study)
    parts: list[Any] = [_plain_success_table(study, best)]
    parts += [f"  {BEST}: {BEST_EXPLAINED}."] if best else []
    parts += [f"  {line}." for line in _not_attacked(study)]
    pairs = paired_tests(study)
    return [*parts, "", *_pairs_lines(pairs)] if pairs else parts


def _plain_success_table(study: GridStudy, best: Best) -> Table:
    """Build the table of the terminal."""
    rows = _success_rows(
        study,
        best,
        lambda cell: _with_interval(None if cell is None else success(cell)),
        lambda best: Cell(None) if best is None else _with_interval(best[1], best[0]),
        _with_interval,
    )
    columns = [Column(name, "right", fold=True) for name in _names(study)]
    return Table([Column("attack ↓  target →"), *columns], rows, indent=2)


def _with_interval(figure: Figure | None, beside: str = "") -> Cell:
    if figure is None or figure.value is None:
        return Cell(None)
    interval = format_interval(figure, percent)
    small = [interval, beside] if beside else [f"{interval} of {number(figure.of)}"]
    return Cell(figure.value, percent(figure.value), small, strong=True)


def _pairs_lines(pairs: Sequence[PairedTest]) -> list[Any]:
    tests = sum(row.contrast is not None for row in pairs)
    shown = pairs if len(pairs) <= MAX_PAIRS else list(filter(differs, pairs))
    rows = [
        Row(
            (
                row.attack,
                f"{row.a} → {row.b}",
                points(row.difference),
                _points_interval(row),
                p_value(row.p_holm),
            ),
            style="bold" if differs(row) else "",
        )
        for row in shown
    ]
    columns = [Column("attack"), Column("first → second")]
    columns += [Column(name, "right") for name in ("points", "95% interval", "p, Holm")]
    title = f"second target minus first, points (McNemar, Holm over {plural(tests, 'tests')})"
    notes = []
    if len(shown) < len(pairs):
        hidden = plural(len(pairs) - len(shown), ("comparison", "comparisons"))
        notes.append(f"{hidden} above 0.05; brittle report shows all of them.")
    return [Table(columns if rows else [], rows, title, notes, indent=2)]


def points(value: float | None) -> str:
    """Format a difference of two rates in points, with its sign.

    >>> points(0.125), points(-0.5), points(0.0), points(None)
    ('+12.5', '−50.0', '0.0', '–')
    """
    if value is None:
        return "–"
    sign = "+" if value > 0 else "−" if value < 0 else ""
    return f"{sign}{abs(100 * value):.1f}"


def p_value(value: float | None) -> str:
    """Format a p-value.

    >>> p_value(0.0312), p_value(0.00004), p_value(1.0), p_value(None)
    ('0.031', '< 0.001', '1', '–')
    """
    if value is None:
        return "–"
    return "< 0.001" if value < 0.001 else f"{value:.2g}" if value >= 0.1 else f"{value:.3f}"
