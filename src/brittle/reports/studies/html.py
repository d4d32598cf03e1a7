"""A transfer study as one self-contained page: the heat map, its values, and the tables.

Everything is plain HTML, and the two switches are too: the script only tells the values of the
cell under the pointer, the finger or the arrow keys.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from brittle.edits import diff_strings
from brittle.formatting import number, plural
from brittle.reports.escaping import escape, isolate
from brittle.reports.excerpts import cut, split_at_edits
from brittle.reports.figures import bar
from brittle.reports.page import asset, page, plain, style_sheet
from brittle.reports.studies import heat_map as maps
from brittle.reports.studies.heat_map import in_percent
from brittle.reports.studies.tables import (
    WAYS,
    ClassTable,
    FactorRow,
    FoolingText,
    RateMatrix,
    ReportedStudy,
)

CONTEXT_CHARACTERS = 140
LONG_TEXT_CHARACTERS = 700


def render_study(study: ReportedStudy) -> str:
    """Render the report of a study as one HTML page."""
    style = style_sheet() + asset("studies/study.css") + maps.colour_rules()
    sections = [
        _header(study),
        _notes(study),
        _hero(study),
        _map_section(study.matrix),
        _classes_section(study.classes, maps.scale_of(study.matrix)),
        _factors_section(study),
        _texts_section(study),
        _how_it_was_run(study),
    ]
    body = "\n".join(section for section in sections if section)
    return page(study.name, body, style, asset("studies/study.js"))


def _header(study: ReportedStudy) -> str:
    facts = [study.attack, study.facts.get("data"), study.facts.get("pool"), study.matrix.size]
    spans = "".join(f"<span>{isolate(fact)}</span>" for fact in facts if fact)
    return (
        '<header><p class="mark">brittle · transfer study</p>'
        f'<h1>{isolate(study.name)}</h1><p class="facts">{spans}</p></header>'
    )


def _notes(study: ReportedStudy) -> str:
    """List what a reader must know first: warnings, and who is missing and why."""
    items = [f"<li>{isolate(warning)}</li>" for warning in study.warnings]
    items += [
        f"<li><b>{isolate(name)}</b> has empty cells: {isolate(reason)}</li>"
        for name, reason in study.failures.items()
    ]
    return f'<ul class="notes" aria-label="Read this first">{"".join(items)}</ul>' if items else ""


def _hero(study: ReportedStudy) -> str:
    matrix = study.matrix
    pairs = int((np.isfinite(matrix.rate) & matrix.is_pair).sum())
    bases = int((np.isfinite(matrix.rate) & matrix.is_base).sum())
    (rate, base), (rate_of_right, base_of_right) = (
        maps.means(matrix, of_right) for of_right in (False, True)
    )
    cards = [
        _card(
            "mean transfer rate",
            _switched(rate, rate_of_right),
            f"over {plural(pairs, ('pair', 'pairs'))} of different models",
        ),
        _card(
            "mean base rate",
            _switched(base, base_of_right),
            f"over {plural(bases, ('model', 'models'))} with a second seed",
        ),
        _card(
            "fool every target",
            number(study.fooling_all),
            f"of {plural(study.winners, ('adversarial text', 'adversarial texts'))}",
        ),
    ]
    return f'<section class="hero three">{"".join(cards)}</section>'


def _card(name: str, value: str, over: str) -> str:
    return (
        f'<div class="card cards"><div><h3>{name}</h3><p class="value">{value}</p>'
        f'<p class="over">{over}</p></div></div>'
    )


def _switched(rate: float, rate_of_right: float) -> str:
    """Write both versions of a rate; the style sheet shows one of them."""
    parts = [
        in_percent(value) + ("" if math.isnan(value) else "%") for value in (rate, rate_of_right)
    ]
    return f'<span class="all">{parts[0]}</span><span class="right">{parts[1]}</span>'


def _map_section(matrix: RateMatrix) -> str:
    scale = maps.scale_of(matrix)
    ways = [by for by in WAYS if _has_groups(matrix, by)] or ["architecture"]
    drawn = "".join(maps.heat_map(matrix, by, scale).__html__() for by in ways)
    has_empty = not np.isfinite(matrix.rate).all() or not np.isfinite(matrix.rate_of_right).all()
    has_base = bool((matrix.is_base & np.isfinite(matrix.rate)).any())
    grouping = _switch("Grouped by", "by", [(by, WAYS[by]) for by in ways]) if len(ways) > 1 else ""
    counting = _switch(
        "Counting", "of", [("all", "all texts"), ("right", "texts the target had right")]
    )
    return (
        '<section id="map"><h2>Who is fooled by whose texts</h2>'
        '<p class="lead">Share of the adversarial texts of a source (row) that a target (column) '
        "gets wrong. Point at a cell, tap it, or move with the arrow keys.</p>"
        f'<div class="switches">{counting}{grouping}</div>'
        f"{maps.legend(scale, has_empty, has_base).__html__()}{drawn}"
        '<output id="cell" aria-live="polite" hidden></output>'
        '<p class="small"><span class="all">A text that a target had wrong before the attack '
        'counts as well, as in the paper: its clean error is part of the rate.</span><span class="'
        'right">Only texts whose original the target had right are counted: its clean error is no '
        "part of the rate.</span></p>"
        f"<details><summary>All values, counting all texts (%)</summary>"
        f"{maps.value_table(matrix, False)}</details>"
        f"<details><summary>All values, counting texts the target had right (%)</summary>"
        f"{maps.value_table(matrix, True)}</details></section>"
    )


def _has_groups(matrix: RateMatrix, by: str) -> bool:
    return len({model.classes.get(by) for model in (*matrix.sources, *matrix.targets)}) > 1


def _switch(legend: str, name: str, choices: Sequence[tuple[str, str]]) -> str:
    options = "".join(
        f'<label><input type="radio" name="{name}" id="{name}-{value}"'
        f"{' checked' if n == 0 else ''}><span>{label}</span></label>"
        for n, (value, label) in enumerate(choices)
    )
    return f'<fieldset class="switch"><legend>{legend}</legend>{options}</fieldset>'


def _classes_section(tables: Sequence[ClassTable], scale: maps.Scale) -> str:
    if not tables:
        return ""
    cards = "".join(_class_card(table, scale) for table in tables)
    return (
        '<section><h2>By class of model</h2><p class="lead">Mean of the cells, base rates '
        "included (small: without them); rows are sources, columns are targets.</p>"
        f'<div class="pair stacked">{cards}</div></section>'
    )


def _class_card(table: ClassTable, scale: maps.Scale) -> str:
    heads = "".join(f'<th scope="col">{isolate(name)}</th>' for name in table.columns)
    rows = ""
    for i, name in enumerate(table.rows):
        cells = (_class_cell(table, i, j, scale) for j in range(len(table.columns)))
        rows += f'<tr><th scope="row">{isolate(name)}</th>{"".join(cells)}</tr>'
    measure = "right" if table.of_right else "all"
    return (
        f'<div class="card {measure}"><h3>by {WAYS.get(table.by, escape(table.by))}</h3>'
        '<div class="scroll"><table class="classes"><thead><tr><td></td>'
        f"{heads}</tr></thead><tbody>{rows}</tbody></table></div></div>"
    )


def _class_cell(table: ClassTable, i: int, j: int, scale: maps.Scale) -> str:
    mean, without = float(table.mean[i, j]), float(table.without[i, j])
    if math.isnan(mean):
        return '<td class="ae" title="no cell has a value"></td>'
    notes = []
    if table.low is not None and table.high is not None and np.isfinite(table.low[i, j]):
        notes.append(f"{in_percent(table.low[i, j])}–{in_percent(table.high[i, j])}")
    if not math.isclose(mean, without):
        nothing = math.isnan(without)
        notes.append("base alone" if nothing else f"{in_percent(without)} without")
    small = "".join(f"<small>{note}</small>" for note in notes)
    return f'<td class="a{scale.level(mean)}"><b>{in_percent(mean)}%</b>{small}</td>'


def _factors_section(study: ReportedStudy) -> str:
    tables = [("all", study.factors), ("right", study.factors_of_right)]
    cards = "".join(_factor_card(measure, rows) for measure, rows in tables if rows)
    if not cards:
        return ""
    return (
        '<section><h2>What a difference costs</h2><p class="lead">Mean distance of the transfer '
        "rate from the target’s base rate, over pairs of models that differ in one factor alone. "
        f"A larger distance: the factor matters more.</p>{cards}</section>"
    )


def _factor_card(measure: str, factors: Sequence[FactorRow]) -> str:
    most = max([row.mean for row in factors if math.isfinite(row.mean)], default=0.0) or 1.0
    rows = "".join(
        f'<tr><th scope="row">{escape(row.factor)}</th>'
        f'<td class="n">{in_percent(row.mean)} <small>{in_percent(row.low)}–'
        f"{in_percent(row.high)}</small></td>"
        f"<td>{bar(row.mean / most) if math.isfinite(row.mean) else ''}</td>"
        f'<td class="n">{number(row.pairs)}</td></tr>'
        for row in factors
    )
    return (
        f'<div class="card {measure}"><div class="scroll"><table class="parts"><thead><tr>'
        '<th scope="col">factor</th><th scope="col" class="n">|r − base|, points</th>'
        '<th scope="col"></th><th scope="col" class="n">pairs</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div></div>"
    )


def _texts_section(study: ReportedStudy) -> str:
    if not study.texts:
        return ""
    are_all = all(text.fooled == text.targets for text in study.texts)
    title = f"Texts that fool {'every target' if are_all else 'most targets'}"
    lead = (
        f"{plural(study.fooling_all, ('text fools', 'texts fool'))} every target."
        if study.fooling_all
        else "No text fools every target."
    )
    hidden = study.winners > len(study.texts)
    more = f" The {number(len(study.texts))} that fool most are shown." if hidden else ""
    cards = "".join(map(_text_card, study.texts))
    return f'<section><h2>{title}</h2><p class="lead">{lead}{more}</p>{cards}</section>'


def _text_card(text: FoolingText) -> str:
    fields = "".join(
        marked_field(name, old, new, len(text.original) > 1)
        for (name, old), (_, new) in zip(text.original, text.adversarial)
    )
    return (
        f'<article class="card case is-broken"><header><span class="status">fools '
        f"{number(text.fooled)} of {plural(text.targets, ('target', 'targets'))}</span><span "
        f'class="verdict">label <b>{isolate(text.label)}</b></span><span class="costs">from '
        f"{isolate(text.source)}</span></header>{fields}</article>"
    )


def marked_field(name: str, old: str, new: str, is_named: bool) -> str:
    """Write a field of a text with what was taken out and put in."""
    edits = diff_strings(old, new)
    is_long = len(old) > LONG_TEXT_CHARACTERS
    context = CONTEXT_CHARACTERS if is_long else None
    parts = []
    for part in split_at_edits(old, edits, context):
        if isinstance(part, str):
            parts.append(escape(part))
            continue
        for tag, words in (("del", part.old), ("ins", part.new)):
            if words:
                whole = cut(words, CONTEXT_CHARACTERS, CONTEXT_CHARACTERS)
                parts.append(f"<{tag}>{escape(whole)}</{tag}>")
    heading = f'<p class="field">{isolate(name)}</p>' if is_named else ""
    return f'{heading}<p class="text" dir="auto">{"".join(parts)}</p>'


def _how_it_was_run(study: ReportedStudy) -> str:
    rows = "".join(
        f"<dt>{escape(name)}</dt><dd>{isolate(plain(value))}</dd>"
        for name, value in study.facts.items()
        if value not in (None, "", {}, [], ())
    )
    return f'<section class="run"><h2>How it was run</h2><dl>{rows}</dl></section>'
