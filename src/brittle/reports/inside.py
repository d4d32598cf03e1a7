"""What an attack did inside a target, as a section of the report.

Attention before and after (Figures 1–3 of the self-attention paper), the change of every word's
vector layer by layer (Figure 4), and the relative change of the vector of the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from brittle.formatting import number, plural
from brittle.metrics.inside import (
    AttendedText,
    InsideCase,
    InsideRun,
    change_by_distance,
    distance_name,
    relative_change,
)
from brittle.reports.heat_map import ShadedMap, max_strength
from brittle.reports.page import Section

MAX_CASES = 3
MAX_ROWS = 20
HEADING = "Inside the target"


def inside_section(inside: InsideRun) -> Section:
    """Show the means over all cases that were looked at, and the clearest of the cases."""
    figure = relative_change(inside.cases)
    shown = {
        "notes": inside.notes,
        "relative": None if figure.value is None else figure,
        "means": _means_map(inside) if inside.layers else None,
        "cases": [_shown_case(case, inside) for case in clearest_cases(inside.cases)[:MAX_CASES]],
    }
    return Section("inside_parts.inside", shown, HEADING, "inside")


def unreadable_section(reason: str) -> Section:
    """Say why there is nothing to show."""
    return Section("run_parts.remark", reason, HEADING)


def clearest_cases(cases: Sequence[InsideCase]) -> list[InsideCase]:
    """Sort cases: the fewest edited words first, then the shortest texts."""
    return sorted(cases, key=lambda case: (len(case.edited), len(case.after.words)))


def _means_map(inside: InsideRun) -> ShadedMap:
    """Draw the mean change by layer and distance from the edited word."""
    by_layer = change_by_distance(inside.cases, inside.layers)
    columns = sorted({distance for layer in by_layer.values() for distance in layer})
    heads = [distance_name(distance) for distance in columns]
    rows, hints = [], []
    for layer in inside.layers:
        means = [by_layer[layer].get(distance) for distance in columns]
        rows.append((layer, [None if mean is None else mean.value for mean in means]))
        hints.append(
            [f"{layer}, distance {head}: {_interval(mean)}" for head, mean in zip(heads, means)]
        )
    marked = [heads.index("0")] if "0" in heads else []
    return _map(rows, heads, hints, marked)


def _map(
    rows: Sequence[tuple[str, Sequence[float | None]]],
    columns: Sequence[str],
    hints: Sequence[Sequence[str]],
    marked_columns: Sequence[int] = (),
    marked_rows: Sequence[int] = (),
    highest: float = 0.0,
) -> ShadedMap:
    """Draw a map without numbers; what screen readers say is the strongest cell of every row."""
    strongest = []
    for (_, values), names in zip(rows, hints):
        known = [(value, name) for value, name in zip(values, names) if value is not None]
        strongest += [max(known)[1]] if known else []
    return ShadedMap(
        rows,
        columns,
        hints,
        f"Heat map; the strongest cell of every row: {'; '.join(strongest)}",
        has_numbers=False,
        highest=highest or max_strength(rows),
        marked_rows=marked_rows,
        marked_columns=marked_columns,
    )


def _interval(mean: object) -> str:
    value, low, high, of = (getattr(mean, name, None) for name in ("value", "low", "high", "of"))
    return (
        f"{number(value)} ({number(low)} – {number(high)}, {plural(of, 'cases')})"
        if of
        else "no word"
    )


def _shown_case(case: InsideCase, inside: InsideRun) -> dict[str, Any]:
    attention: list[tuple[str, ShadedMap]] = []
    if case.before.weights is not None and case.after.weights is not None:
        highest = max(
            max(map(max, text.weights or ((0.0,),))) for text in (case.before, case.after)
        )
        attention = [
            (when, _attention_map(text, highest, marked))
            for when, text, marked in (
                ("From word (row) to word (column), before", case.before, _edited_before(case)),
                ("After", case.after, case.edited),
            )
        ]
    return {
        "id": case.case,
        "edits": edited_words(case),
        "relative": case.relative,
        "attended": _attended(case, inside.attention),
        "attention": attention,
        "changes": _change_map(case, inside.layers) if case.changes else None,
    }


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


@dataclass(frozen=True)
class AttendedWord:
    """A word before and after, "∅" where there is none, and what the summary position gives it."""

    old: str
    new: str
    before: float | None
    after: float | None


def _attended(case: InsideCase, layer: str) -> dict[str, Any] | None:
    """Return what the summary position gives each word; of a long text, those that get most."""
    before, after = case.before, case.after
    if before.summary is None or after.summary is None:
        return None
    positions = strongest_rows(case, MAX_ROWS)
    rows = [
        AttendedWord(
            "∅" if old is None else before.words[old],
            "∅" if new is None else after.words[new],
            None if old is None else before.summary[old],
            None if new is None else after.summary[new],
        )
        for old, new in positions
    ]
    has_rest = before.elsewhere is not None and after.elsewhere is not None
    return {
        "rows": rows,
        "highest": max((*before.summary, *after.summary), default=1.0) or 1.0,
        "elsewhere": [before.elsewhere, after.elsewhere] if has_rest else [],
        "layer": layer_words(layer),
        "left_out": len(compared_rows(case)) - len(positions),
    }


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


def _attention_map(text: AttendedText, highest: float, marked: Sequence[int]) -> ShadedMap:
    rows = list(zip(text.words, text.weights or ()))
    hints = [
        [f"{word} → {other}: {value:.3f}" for other, value in zip(text.words, values)]
        for word, values in rows
    ]
    return _map(rows, text.words, hints, marked, marked, highest)


def _change_map(case: InsideCase, layers: Sequence[str]) -> ShadedMap:
    words = [case.after.words[after] for _, after in case.pairs]
    rows = list(zip(layers, case.changes))
    hints = [
        [f"{layer}, {word}: {number(value)}" for word, value in zip_longest(words, changes)]
        for layer, changes in rows
    ]
    marked = [n for n, (_, after) in enumerate(case.pairs) if after in case.edited]
    return _map(rows, words, hints, marked)
