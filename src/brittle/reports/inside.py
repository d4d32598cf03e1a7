"""What an attack did inside a target, as a section of the report.

Attention before and after (Figures 1–3 of the self-attention paper), the change of every word's
vector layer by layer (Figure 4), and the relative change of the vector of the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from brittle.formatting import number, plural
from brittle.metrics.inside import (
    AttendedText,
    InsideCase,
    InsideRun,
    change_by_distance,
    distance_name,
    relative_change,
)
from brittle.reports.escaping import escape, isolate
from brittle.reports.figures import bar
from brittle.reports.word_map import Cell, cell, heat_map

MAX_CASES = 3
MAX_ROWS = 20
WORDS = ("word", "words")


def inside_section(inside: InsideRun) -> str:
    """Show the means over all cases that were looked at, and the clearest of the cases."""
    shown = clearest_cases(inside.cases)[:MAX_CASES]
    notes = "".join(f"<li>{isolate(note)}</li>" for note in inside.notes)
    parts = [
        "<h2>Inside the target</h2>",
        f'<ul class="notes" aria-label="Left out">{notes}</ul>' if notes else "",
        _means(inside),
        *(_case(case, inside) for case in shown),
    ]
    return f'<section class="inside">{"".join(parts)}</section>'


def unreadable_section(reason: str) -> str:
    """Say why there is nothing to show."""
    return f'<section><h2>Inside the target</h2><p class="small">{isolate(reason)}</p></section>'


def clearest_cases(cases: Sequence[InsideCase]) -> list[InsideCase]:
    """Sort cases: the fewest edited words first, then the shortest texts."""
    return sorted(cases, key=lambda case: (len(case.edited), len(case.after.words)))


def _means(inside: InsideRun) -> str:
    """Show the mean Re as a card, and the mean change by layer and distance as a table."""
    figure = relative_change(inside.cases)
    cards = ""
    if figure.value is not None:
        cards = (
            '<div class="card"><h3>Relative change of the vector of the text</h3>'
            f'<p class="value">{number(figure.value)}</p><p class="within">{number(figure.low)} – '
            f'{number(figure.high)}</p><p class="over">‖z − z′‖ / ‖z‖, mean over '
            f"{plural(figure.of, ('broken case', 'broken cases'))}</p></div>"
        )
    if not inside.layers:
        return f'<div class="cards single">{cards}</div>'
    by_layer = change_by_distance(inside.cases, inside.layers)
    columns = sorted({distance for layer in by_layer.values() for distance in layer})
    highest = max((f.value or 0 for layer in by_layer.values() for f in layer.values()), default=0)
    rows = []
    for layer in inside.layers:
        cells: list[Cell] = []
        for distance in columns:
            mean = by_layer[layer].get(distance)
            value = None if mean is None else mean.value
            where = f"{layer}, distance {distance_name(distance)}"
            cells.append(cell(value, highest, f"{where}: {_interval(mean)}"))
        rows.append((layer, cells))
    heads = [distance_name(distance) for distance in columns]
    figure_svg = heat_map(heads, rows, [heads.index("0")] if "0" in heads else [])
    return (
        f'<div class="cards single">{cards}<div class="card"><h3>Mean change of a word’s vector '
        f'(L2) by its distance from the edited word</h3><div class="scroll">{figure_svg}</div>'
        f'<p class="small">Rows are layers, columns positions before (−) and after (+) the edited '
        f"word, marked. The full colour is {number(highest)}.</p></div></div>"
    )


def _interval(mean: object) -> str:
    value, low, high, of = (getattr(mean, name, None) for name in ("value", "low", "high", "of"))
    return (
        f"{number(value)} ({number(low)} – {number(high)}, {plural(of, 'cases')})"
        if of
        else "no word"
    )


def _case(case: InsideCase, inside: InsideRun) -> str:
    relative = "" if case.relative is None else f"Re {number(case.relative)}"
    edits = ", ".join(f"{isolate(old)} → {isolate(new)}" for old, new in edited_words(case))
    parts = [f"<header><span>{edits}</span><span>{relative}</span>"]
    parts.append(f'<span class="id">{escape(case.case)}</span></header>')
    if case.before.summary is not None and case.after.summary is not None:
        parts.append(_summary_table(case, inside.attention))
    if case.before.weights is not None and case.after.weights is not None:
        highest = max(
            max(map(max, text.weights or ((0.0,),))) for text in (case.before, case.after)
        )
        maps = "".join(
            f"<figure><figcaption>{when}</figcaption>"
            f'<div class="scroll">{_attention_map(text, highest, marked)}</div></figure>'
            for when, text, marked in (
                ("From word (row) to word (column), before", case.before, _edited_before(case)),
                ("After", case.after, case.edited),
            )
        )
        parts.append(f'<div class="pair">{maps}</div>')
    if case.changes:
        parts.append(_change_map(case, inside.layers))
    return f'<div class="card case">{"".join(parts)}</div>'


def edited_words(case: InsideCase) -> list[tuple[str, str]]:
    """Return the words that an attack changed, before and after; "∅" where there was none."""
    old = {new: before for before, new in case.pairs}
    return [
        (case.before.words[old[n]] if n in old else "∅", case.after.words[n]) for n in case.edited
    ]


def _edited_before(case: InsideCase) -> list[int]:
    return [before for before, after in case.pairs if after in case.edited]


def compared_rows(case: InsideCase) -> list[tuple[int | None, int | None]]:
    """Return the positions before and after of every word of the two texts, in reading order."""
    rows: list[tuple[int | None, int | None]] = []
    old = new = 0
    for before, after in (*case.pairs, (len(case.before.words), len(case.after.words))):
        rows += [(n, None) for n in range(old, before)]
        rows += [(None, n) for n in range(new, after)]
        rows.append((before, after))
        old, new = before + 1, after + 1
    return rows[:-1]


def _summary_table(case: InsideCase, layer: str) -> str:
    """Show what the summary position gives each word; of a long text, the words that get most."""
    before, after = case.before, case.after
    assert before.summary is not None and after.summary is not None
    sides = ((before, before.summary, "tone-0"), (after, after.summary, "tone-1"))
    highest = max((*before.summary, *after.summary), default=1.0) or 1.0
    positions = strongest_rows(case, MAX_ROWS)
    rows = []
    for both in positions:
        words = [None if n is None else text.words[n] for n, (text, _, _) in zip(both, sides)]
        word = isolate(words[0] or "∅")
        if words[0] != words[1]:
            word = f"<del>{word}</del> <ins>{isolate(words[1] or '∅')}</ins>"
        cells = "".join(
            '<td></td><td class="n"></td>'
            if n is None
            else f'<td class="{tone}">{bar(summary[n] / highest)}</td>'
            f'<td class="n">{summary[n]:.3f}</td>'
            for n, (_, summary, tone) in zip(both, sides)
        )
        rows.append(f'<tr><th scope="row">{word}</th>{cells}</tr>')
    if before.elsewhere is not None and after.elsewhere is not None:
        rest = "".join(
            f'<td></td><td class="n">{text.elsewhere:.3f}</td>' for text in (before, after)
        )
        rows.append(f'<tr><th scope="row"><small>elsewhere</small></th>{rest}</tr>')
    left_out = len(compared_rows(case)) - len(positions)
    return (
        '<div class="scroll"><table class="attended"><thead><tr><th scope="col">word</th>'
        '<th scope="col" colspan="2">attention before</th>'
        '<th scope="col" colspan="2">after</th></tr></thead>'
        f'<tbody>{"".join(rows)}</tbody></table></div><p class="small">What the summary position '
        f"gives each word: {escape(layer_words(layer))}, mean over heads. "
        f"{plural(left_out, WORDS) + ' with less are left out. ' if left_out else ''}"
        "Elsewhere are special tokens, punctuation and fields that the attack could not edit.</p>"
    )


def strongest_rows(case: InsideCase, count: int) -> list[tuple[int | None, int | None]]:
    """Return the edited words and those with most attention, before or after, in reading order."""
    rows = compared_rows(case)
    old, new = case.before.summary or (), case.after.summary or ()

    def strength(row: tuple[int | None, int | None]) -> tuple[bool, float]:
        before, after = row
        weight = max(0 if before is None else old[before], 0 if after is None else new[after])
        return before is None or after is None or after in case.edited, weight

    chosen = sorted(rows, key=strength, reverse=True)[:count]
    return [row for row in rows if row in chosen]


def layer_words(layer: str) -> str:
    """Return the layer of the attention in words."""
    return f"{layer} layer" if layer in ("first", "last") else f"layer {layer}"


def _attention_map(text: AttendedText, highest: float, marked: Sequence[int]) -> str:
    rows = []
    for word, values in zip(text.words, text.weights or ()):
        cells = [
            cell(value, highest, f"{word} → {other}: {value:.3f}")
            for other, value in zip(text.words, values)
        ]
        rows.append((word, cells))
    return heat_map(text.words, rows, marked, marked)


def _change_map(case: InsideCase, layers: Sequence[str]) -> str:
    values = [value for layer in case.changes for value in layer if value is not None]
    highest = max(values, default=0.0)
    words = [case.after.words[after] for _, after in case.pairs]
    rows = []
    for layer, changes in zip(layers, case.changes):
        cells = [
            cell(value, highest, f"{layer}, {word}: {number(value)}")
            for word, value in zip_longest(words, changes)
        ]
        rows.append((layer, cells))
    marked = [n for n, (_, after) in enumerate(case.pairs) if after in case.edited]
    return (
        "<figure><figcaption>Change of every word’s vector (L2), layer by layer</figcaption>"
        f'<div class="scroll">{heat_map(words, rows, marked)}</div></figure>'
        f'<p class="small">The full colour is {number(highest)}; the edited word is marked.</p>'
    )
