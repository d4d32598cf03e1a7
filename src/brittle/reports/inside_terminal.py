"""What an attack did inside a target, on the terminal: bars, and cells of four shades."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from brittle.formatting import number, plural
from brittle.metrics.inside import (
    InsideCase,
    InsideRun,
    change_by_distance,
    distance_name,
    relative_change,
)
from brittle.metrics.summary import Figure
from brittle.reports.inside import compared_rows, edited_words, layer_words
from brittle.reports.table import Cell, Column, Row, Table
from brittle.visible import visible

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
