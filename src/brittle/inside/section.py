"""What an attack did inside a target: a section of the report, and the terminal.

Attention before and after (Figures 1–3 of the self-attention paper), the change of every word's
vector layer by layer (Figure 4), and the relative change of the vector of the text. The terminal
shows bars, and cells of four shades.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from brittle.formatting import number, plural
from brittle.inside.measures import (
    AttendedText,
    InsideCase,
    InsideRun,
    change_by_distance,
    distance_name,
    relative_change,
)
from brittle.metrics.summary import Figure
from brittle.redaction import visible
from brittle.reports.heat_map import ShadedMap, max_strength
from brittle.reports.page import Section
from brittle.reports.table import Cell, Column, Row, Table

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


SHADES = "·░▒▓█"
BAR_WIDTH = 16
CELL_WIDTH = 3
EIGHTHS = " ▏▎▍▌▋▊▉"


def run_block(inside: InsideRun) -> RenderableType:
    """Show the means over the cases: Re, and the change by layer and distance from the edit."""
    parts: list[RenderableType] = [_title(inside), *_notes(inside)]
    figure = relative_change(inside.cases)
    if figure.value is not None:
        interval = f"{number(figure.low)} – {number(figure.high)}"
        parts.append(
            f"\nRe {number(figure.value)} ({interval}), the relative change of the vector of the "
            f"text: ‖z − z′‖ / ‖z‖, mean over {plural(figure.of, ('case', 'cases'))}"
        )
    if inside.layers:
        by_layer = change_by_distance(inside.cases, inside.layers)
        parts += [
            Text("\nMean change of a word's vector (L2) by its distance from the edited word")
        ]
        parts.append(_means_table(by_layer))
    return Group(*parts)


def case_block(inside: InsideRun, width: int) -> RenderableType:
    """Show one case: the attention to every word, and the change of every vector."""
    (case,) = inside.cases
    parts: list[RenderableType] = [_title(inside), *_notes(inside)]
    edits = ", ".join(f"{old} → {new}" for old, new in edited_words(case))
    relative = "" if case.relative is None else f"  Re {number(case.relative)}"
    parts.append(Text.assemble("\n", (visible(case.case), "bold"), "  ", visible(edits), relative))
    if case.before.summary is not None and case.after.summary is not None:
        what = f"attention of the summary position, {layer_words(inside.attention)}, mean of heads"
        parts += [Text(f"\n{what}", style="dim"), _attention_table(case)]
    if case.changes:
        parts += [Text("\nchange of every word's vector (L2), layer by layer", style="dim")]
        parts += _change_tables(case, inside.layers, width)
    return Group(*parts)


def _title(inside: InsideRun) -> Text:
    return Text.assemble((visible(inside.run), "bold"), "  ", (visible(inside.target), "dim"))


def _notes(inside: InsideRun) -> list[RenderableType]:
    return [Text(visible(note), style="yellow") for note in inside.notes]


def _means_table(by_layer: Mapping[str, Mapping[int, Figure]]) -> Table:
    columns = sorted({distance for layer in by_layer.values() for distance in layer})
    heads = [
        Column(distance_name(d), "right", number, style="" if d else "bold red", no_wrap=True)
        for d in columns
    ]
    rows = [
        [layer, *(means[d].value if d in means else None for d in columns)]
        for layer, means in by_layer.items()
    ]
    return Table([Column(no_wrap=True), *heads], rows, gap=1)


def _attention_table(case: InsideCase) -> Table:
    before, after = case.before, case.after
    assert before.summary is not None and after.summary is not None
    highest = max((*before.summary, *after.summary), default=0.0)
    rows: list[Row] = []
    for old, new in compared_rows(case):
        words = [None if n is None else t.words[n] for n, t in ((old, before), (new, after))]
        word = " → ".join(w or "∅" for w in dict.fromkeys(words))
        cells = []
        for n, summary in ((old, before.summary), (new, after.summary)):
            value = None if n is None else summary[n]
            cells += [Cell(_bar(value, highest), style="blue"), Cell(_three_digits(value))]
        style = "bold red" if words[0] != words[1] else ""
        rows.append(Row([Cell(word, style=style), *cells]))
    rest = [_three_digits(text.elsewhere) for text in (before, after)]
    rows.append(Row(["elsewhere", "", rest[0], "", rest[1]], style="dim"))
    heads = ("word", "before", "", "after", "")
    return Table([Column(head, no_wrap=True) for head in heads], rows)


def _change_tables(case: InsideCase, layers: Sequence[str], width: int) -> list[RenderableType]:
    """Build tables with a column for every word, as many side by side as the terminal has room."""
    values = [value for layer in case.changes for value in layer if value is not None]
    highest = max(values, default=0.0)
    name_width = max(map(len, layers), default=0) + 2
    room = max(1, (width - name_width) // CELL_WIDTH)
    blocks: list[RenderableType] = []
    for start in range(0, len(case.pairs), room):
        columns = range(start, min(start + room, len(case.pairs)))
        head = Text(" " * name_width)
        for n in columns:
            style = "bold red" if case.pairs[n][1] in case.edited else "dim"
            head.append(f"{n + 1:<{CELL_WIDTH}}", style)
        blocks.append(head)
        for layer, changes in zip(layers, case.changes):
            line = Text(f"{visible(layer):<{name_width}}")
            for n in columns:
                line.append(_shade(changes[n], highest) * (CELL_WIDTH - 1) + " ", "red")
            blocks.append(line)
    words = ((n, case.after.words[after]) for n, (_, after) in enumerate(case.pairs, 1))
    named = "  ".join(f"{n} {visible(word)}" for n, word in words)
    scale = f"{SHADES[0]} less than a tenth of {number(highest)}, {SHADES[-1]} about as much"
    return [*blocks, Text(named, style="dim"), Text(scale, style="dim")]


def _shade(value: float | None, highest: float) -> str:
    """Return a sign for a value: a dot below a tenth of the highest, then four shades."""
    if value is None:
        return " "
    share = value / highest if highest else 0.0
    return SHADES[0] if share < 0.1 else SHADES[min(4, 1 + int(4 * (share - 0.1) / 0.9))]


def _bar(value: float | None, highest: float) -> str:
    if value is None or not highest:
        return ""
    whole, eighths = divmod(round(8 * BAR_WIDTH * value / highest), 8)
    return "█" * whole + EIGHTHS[eighths].strip()


def _three_digits(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
