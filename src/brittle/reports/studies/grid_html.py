"""A grid as one self-contained page: success by attack and target, paired differences, costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby

from brittle.formatting import number, percent, plural
from brittle.metrics.summary import Figure
from brittle.reports.escaping import escape, isolate
from brittle.reports.page import asset, plain
from brittle.reports.still_page import still_page
from brittle.reports.studies import heat_map as maps
from brittle.reports.studies.grid_tables import (
    BEST,
    BEST_EXPLAINED,
    BrokenText,
    PairRow,
    ReportedGrid,
    p_value,
    points,
)
from brittle.reports.studies.html import marked_field
from brittle.reports.summary_lines import format_interval


def render_grid(study: ReportedGrid) -> str:
    """Render the report of a grid as one HTML page."""
    sections = [
        _facts(study),
        _notes(study),
        _success_section(study),
        _pairs_section(study),
        _costs_section(study),
        _texts_section(study),
        _how_it_was_run(study),
    ]
    style = asset("studies/study.css") + asset("studies/grid.css") + maps.colour_rules()
    return still_page(study.name, [section for section in sections if section], style)


def _facts(study: ReportedGrid) -> str:
    size = f"{plural(len(study.attacks), 'attacks')} × {plural(len(study.targets), 'targets')}"
    facts = [size, study.facts.get("data"), study.about_cases]
    return f'<p class="facts">{"".join(f"<span>{isolate(f)}</span>" for f in facts if f)}</p>'


def _notes(study: ReportedGrid) -> str:
    """List what a reader must know first: warnings, and which cells are empty and why."""
    items = [f"<li>{isolate(warning)}</li>" for warning in study.warnings]
    items += [
        f"<li><b>{isolate(who)}</b>: empty, {isolate(reason)}</li>" for who, reason in study.empty
    ]
    return f'<ul class="notes" aria-label="Read this first">{"".join(items)}</ul>' if items else ""


def _success_section(study: ReportedGrid) -> str:
    rates = [cell.success.value for cells in study.cells.values() for cell in cells.values()]
    high = max([rate for rate in rates if rate is not None], default=1.0)
    scale = maps.Scale(0.0, max(math.ceil(10 * high), 1) / 10)
    body = "".join(_attack_row(study, attack, scale) for attack in study.attacks)
    if study.best:
        cells = "".join(_best_cell(study, target, scale) for target in study.targets)
        body += f'<tr class="apart"><th scope="row">{BEST}</th>{cells}</tr>'
    accuracy = "".join(
        f'<td class="plain">{_shown(study.accuracy.get(target))}</td>' for target in study.targets
    )
    body += f'<tr class="apart"><th scope="row">accuracy</th>{accuracy}</tr>'
    has_empty = any(len(study.cells[attack]) < len(study.targets) for attack in study.attacks)
    best = f" {BEST}: {BEST_EXPLAINED}." if study.best else ""
    skipped = "".join(f" {escape(line)}." for line in study.not_attacked)
    return (
        '<section><h2>How often each attack breaks each target</h2><p class="lead">Share of the '
        f"attacked cases that are broken, with a 95% interval. {escape(study.about_cases)}.</p>"
        f"{maps.legend(scale, has_empty, False).__html__()}"
        f'<div class="card"><div class="scroll"><table class="classes grid-table"><thead><tr>'
        f'<td class="corner">attack ↓ target →</td>{_heads(study.targets)}</tr></thead>'
        f"<tbody>{body}</tbody></table></div></div>"
        f'<p class="small">Accuracy is that on the {plural(study.scored, "texts")} from which the '
        f"cases were taken, before any attack.{best} An attack that counts draws has the mean "
        f"share of draws that break a text, with an interval over texts.{skipped}</p></section>"
    )


def _heads(names: Sequence[str]) -> str:
    return "".join(f'<th scope="col">{isolate(name)}</th>' for name in names)


def _attack_row(study: ReportedGrid, attack: str, scale: maps.Scale) -> str:
    cells = ""
    for target in study.targets:
        cell = study.cells[attack].get(target)
        if cell is None or cell.success.value is None:
            cells += '<td class="ae" title="nothing was attacked"></td>'
            continue
        reasons = ", ".join(f"{n:,} {reason}" for reason, n in cell.skipped.items())
        note = (
            f'<small title="{escape(reasons)}">{sum(cell.skipped.values()):,} not attacked</small>'
        )
        level = scale.level(cell.success.value)
        inside = _shown(cell.success) + (note if cell.skipped else "")
        cells += f'<td class="a{level}">{inside}</td>'
    return f'<tr><th scope="row">{isolate(study.in_words(attack))}</th>{cells}</tr>'


def _best_cell(study: ReportedGrid, target: str, scale: maps.Scale) -> str:
    if target not in study.best:
        return '<td class="ae" title="no attention attack"></td>'
    attack, figure = study.best[target]
    level = scale.level(figure.value or 0.0)
    return f'<td class="a{level}">{_shown(figure)}<small>{escape(attack)}</small></td>'


def _shown(figure: Figure | None) -> str:
    if figure is None or figure.value is None:
        return "–"
    count = "" if figure.count is None else f"{number(figure.count)} of {number(figure.of)}"
    count = count or plural(figure.of, ("text", "texts"))
    interval = format_interval(figure, percent)
    return f"<b>{percent(figure.value)}</b><small>{interval}</small><small>{count}</small>"


def _pairs_section(study: ReportedGrid) -> str:
    if not study.pairs:
        return ""
    rows = ""
    for attack, group in groupby(study.pairs, key=lambda row: row.attack):
        name = isolate(study.in_words(attack))
        rows += f'<tr class="attack"><th colspan="4" scope="rowgroup">{name}</th></tr>'
        rows += "".join(map(_pair_row, group))
    tests = sum(row.p is not None for row in study.pairs)
    differing = sum(row.differs for row in study.pairs)
    return (
        '<section><h2>Targets compared case by case</h2><p class="lead">Success on the second '
        "target minus success on the first, in points, over the cases attacked on both; Newcombe’s "
        "95% interval for pairs. McNemar’s exact test, corrected by Holm’s method for all "
        f"{plural(tests, ('test', 'tests'))} of this table: {number(differing)} below 0.05.</p>"
        '<div class="card"><div class="scroll"><table class="pairs"><thead><tr>'
        '<th scope="col">first → second</th><th scope="col" class="n">points</th>'
        '<th scope="col" class="n">p, Holm</th>'
        '<th scope="col" class="n">on one<br>alone</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div></div>"
        '<p class="small">On one alone: cases that are broken on the first target and not '
        "on the second, and the other way round; small: the cases attacked on both. Small under "
        "p, Holm: p without the correction. An attack that counts draws is not tested; its "
        "difference is a mean over texts.</p></section>"
    )


def _pair_row(row: PairRow) -> str:
    alone = "–" if row.only_a is None else f"{number(row.only_a)} : {number(row.only_b)}"
    numbers = [
        f"{points(row.difference)}<small>{points(row.low)} to {points(row.high)}</small>",
        p_value(row.p_holm) + ("" if row.p is None else f"<small>{p_value(row.p)}</small>"),
        f"{alone}<small>of {number(row.of)}</small>",
    ]
    cells = "".join(f'<td class="n">{cell}</td>' for cell in numbers)
    names = f"{isolate(row.a)} → {isolate(row.b)}"
    differs = ' class="differs"' if row.differs else ""
    return f'<tr{differs}><th scope="row">{names}</th>{cells}</tr>'


def _costs_section(study: ReportedGrid) -> str:
    rows = ""
    for attack in study.attacks:
        cells = ""
        for target in study.targets:
            cell = study.cells[attack].get(target)
            shown = "–" if cell is None else f"{number(cell.queries)}<small>{cell.sent:,}</small>"
            cells += f'<td class="n">{shown}</td>'
        rows += f'<tr><th scope="row">{isolate(study.in_words(attack))}</th>{cells}</tr>'
    heads = "".join(f'<th scope="col" class="n">{isolate(name)}</th>' for name in study.targets)
    return (
        '<section><h2>What it cost</h2><p class="lead">Mean queries of an attacked case; small: '
        "rows that the target computed in this run. Attacks on one target share their answers, so "
        "that a later one computes less than it would alone.</p>"
        '<div class="card"><div class="scroll"><table class="costs-table"><thead><tr>'
        f'<th scope="col">attack</th>{heads}</tr></thead><tbody>{rows}</tbody></table></div></div>'
        "</section>"
    )


def _texts_section(study: ReportedGrid) -> str:
    if not study.texts:
        return ""
    cards = "".join(_text_card(text, study.in_words(text.attack)) for text in study.texts)
    return (
        '<section><h2>A text of every attack</h2><p class="lead">The first of those that it breaks '
        f"on most targets.</p>{cards}</section>"
    )


def _text_card(text: BrokenText, attack: str) -> str:
    fields = "".join(
        marked_field(name, old, new, len(text.original) > 1)
        for (name, old), (_, new) in zip(text.original, text.adversarial)
    )
    return (
        f'<article class="card case is-broken"><header><span class="status">{isolate(attack)}'
        f'</span><span class="verdict">label <b>{isolate(text.label)}</b></span>'
        f'<span class="costs">breaks {number(text.broken_on)} of '
        f"{plural(text.of, ('target', 'targets'))}; here {isolate(text.target)}</span></header>"
        f"{fields}</article>"
    )


def _how_it_was_run(study: ReportedGrid) -> str:
    attacks = [study.in_words(attack) for attack in study.attacks]
    facts = {**study.facts, "settings": None, "attacks": attacks}
    rows = "".join(
        f"<dt>{escape(name)}</dt><dd>{isolate(plain(value))}</dd>"
        for name, value in facts.items()
        if value not in (None, "", {}, [])
    )
    return f'<section class="run"><h2>How it was run</h2><dl>{rows}</dl></section>'
