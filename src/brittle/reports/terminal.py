"""A run in the terminal: its ladder, its cases, and pictures.

Pictures in the terminal: two pixels a character, in grey; without colour, one of ten signs. A run
in the terminal: renderables for rich, readable without colour and in 80 columns.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.padding import Padding
from rich.style import Style
from rich.table import Table as Grid
from rich.text import Text

from brittle.formatting import duration, label_in_words, number, percent, plural
from brittle.levels import LEVELS, rank
from brittle.metrics.ladder import Ladder, ladder
from brittle.metrics.summary import Summary
from brittle.picture import Picture
from brittle.redaction import revealed, visible
from brittle.reports.cases import clearest, cut, shown_fields, split_at_edits
from brittle.reports.kept import cost_name, reconstruction, way
from brittle.reports.ladder import (
    held_line,
    language_line,
    next_commands,
    reading_line,
    run_readings,
    rung_lines,
    verdict,
)
from brittle.reports.notes import notes
from brittle.reports.stored import StoredRun
from brittle.reports.summaries import summarize, winning_steps
from brittle.reports.summary_lines import (
    closing_lines,
    describe_run,
    describe_target,
    summary_lines,
    thousandths,
)
from brittle.reports.table import Cell, Column, Table
from brittle.reports.trust import short_lines, trust_facts
from brittle.results import Result

MAX_WIDTH, MAX_HEIGHT = 32, 24  # characters
GAP = 2  # characters between two pictures
SIGNS = " .:-=+*#%@"
UPPER_HALF = "▀"
ITEM_GAP = " · "


def picture_lines(pictures: list[Picture], has_colour: bool = True, columns: int = 66) -> Text:
    """Draw pictures of one size side by side, as many as `columns` hold; a wide one is smaller."""
    drawn = [_lines(_grey(picture), has_colour) for picture in pictures]
    at_a_time = max(1, (columns + GAP) // (len(drawn[0][0]) + GAP))
    rows = [drawn[start : start + at_a_time] for start in range(0, len(drawn), at_a_time)]
    between = Text(GAP * " ")
    return Text("\n").join(between.join(line) for row in rows for line in zip(*row))


def _grey(picture: Picture) -> NDArray[np.float64]:
    """Return the brightness of every pixel, in blocks if there are too many; its height is even."""
    pixels = picture.pixels[:, :, :3].mean(axis=2, dtype=np.float64)
    height, width = pixels.shape
    block = max(-(-width // MAX_WIDTH), -(-height // (2 * MAX_HEIGHT)))
    padded = np.pad(pixels, ((0, -height % (2 * block)), (0, -width % block)), mode="edge")
    rows, columns = (side // block for side in padded.shape)
    small: NDArray[np.float64] = padded.reshape(rows, block, columns, block).mean(axis=(1, 3))
    return small


def _lines(grey: NDArray[np.float64], has_colour: bool) -> list[Text]:
    lines = []
    for upper, lower in zip(grey[::2], grey[1::2]):
        line = Text()
        for high, low in zip(upper, lower):
            if has_colour:
                style = Style(color=_colour(high), bgcolor=_colour(low))
                line.append(UPPER_HALF, style)
            else:
                line.append(SIGNS[round((high + low) / 2 * (len(SIGNS) - 1))])
        lines.append(line)
    return lines


def _colour(brightness: float) -> str:
    level = f"{round(255 * brightness):02x}"
    return f"#{level * 3}"


INDENT = 2
LONG_TEXT_CHARACTERS = 400
CONTEXT_CHARACTERS = 70
FIGURES = (
    Column(no_wrap=True),
    Column(align="right", no_wrap=True),
    Column(style="dim", no_wrap=True),
    Column(style="dim", no_wrap=True),
)
"""The columns of figures: name, value, and what is said of it."""
STYLES = {"accuracy_before": "bold blue"} | dict.fromkeys(
    ("accuracy_after", "accuracy_after_by_label", "success", "valid_success"), "bold red"
)


def run_block(
    run: StoredRun, examples: int, everything: bool = False, said: Collection[str] = ()
) -> RenderableType:
    """Show the summary of a run, some of its clearest examples, and what its figures rest on.

    A run that climbed the ladder shows that first, on one screen, and the rest with `everything`.
    Notes that were `said` on the same screen before are left out.
    """
    stored = run.as_stored()  # the ladder shows nothing that is measured late
    climbed = ladder(stored.results())
    if climbed is not None and not everything:
        return ladder_block(stored, climbed, min(examples, 1), said)
    blocks = [] if climbed is None else [ladder_block(run, climbed, 0, said), ""]
    summarized = summarize(run)
    blocks += [summary_block(run, summarized, said), ""]
    if examples >= 1:
        blocks += [examples_block(run.results(), examples, cost_name(run.manifest)), ""]
    return Group(*blocks, trust_block(run, summarized))


def ladder_block(
    run: StoredRun, climbed: Ladder, examples: int, said: Collection[str] = ()
) -> RenderableType:
    """Show on one screen at which level of edits the target breaks."""
    manifest, results = run.manifest, run.results()
    read = run_readings(run, results)
    about = f"{describe_target(manifest)} · {plural(len(results), ('text', 'texts'))} · "
    about += duration(run.totals.get("seconds", 0))
    title = Text.assemble((visible(run.name), "bold"), " · ", (visible(about), "dim"))
    before = climbed.before
    right = f"{number(before.count)} of {number(before.of)} right"
    accuracy = Cell(percent(before.value), style="bold blue")
    rows = [("accuracy", accuracy, right, "")] + [
        (
            f"after {line.title}",
            Cell(line.accuracy, style="bold red"),
            f"{line.broken} broken",
            line.validity,
        )
        for line in rung_lines(climbed, read)
    ]
    table = Table(FIGURES, rows, has_head=False, indent=INDENT)
    lines = [held_line(climbed), language_line(climbed), reading_line(climbed, read)]
    below: list[RenderableType] = [_marked(" ", Items(line, "dim")) for line in lines if line]
    unsaid = [note for note in notes(summarize(run)[1], manifest, results) if note not in said]
    below += [note_block(note) for note in unsaid]
    parts: list[RenderableType] = [
        title,
        Padding(Text(verdict(climbed), style="bold"), (0, 0, 0, 2), expand=False),
        table,
        *below,
    ]
    for result in gentlest(results, examples):
        parts += ["", _outcome(result, None), Highlighted(result)]
    commands = [f"  {visible(line)}" for line in next_commands(run)]
    # Lines that are there to be copied are never cut: the terminal folds what is too long for it.
    copied = (Text(line, style="dim", no_wrap=True, overflow="ignore") for line in commands)
    return Group(*parts, "", *copied)


def gentlest(results: Sequence[Result], n: int) -> list[Result]:
    """Return the clearest broken cases of the gentlest level that has some."""
    broken = [row for row in results if row.level is not None and row.status == "broken"]
    first = min((rank(str(row.level)) for row in broken), default=0)
    return clearest([row for row in broken if rank(str(row.level)) == first], n)


def trust_block(
    run: StoredRun, summarized: tuple[list[Result], Summary] | None = None
) -> RenderableType:
    """Show in a few lines what the figures rest on, and what is missing."""
    lines = short_lines(trust_facts(run, *(summarized or summarize(run))))
    columns = (Column(style="bold", no_wrap=True), Column(style="dim"))
    rows = [("" if n else "trust", line) for n, line in enumerate(lines)]
    return Table(columns, rows, has_head=False, indent=INDENT)


def summary_block(
    run: StoredRun,
    summarized: tuple[list[Result], Summary] | None = None,
    said: Collection[str] = (),
) -> RenderableType:
    """Show accuracy before and after, success, costs, statuses and warnings of a run."""
    manifest, (results, figures) = run.manifest, summarized or summarize(run)
    read = run_readings(run, results)
    about = visible(describe_run(manifest))
    title = Text.assemble((visible(run.name), "bold"), "  ", (about, "dim"))
    rows = [
        (
            line.name,
            Cell(line.value, style=STYLES.get(line.key, "bold")),
            line.interval,
            line.over,
        )
        for line in summary_lines(figures, manifest, results)
    ]
    name, value, interval, over = FIGURES
    columns = (name, value, interval, replace(over, no_wrap=False))
    table = Table(columns, rows, has_head=False, indent=INDENT)
    *lines, effort = closing_lines(
        results, figures, run.totals, manifest, winning_steps(run, results), read
    )
    below = [_marked(" ", Items(line)) for line in lines]
    below.append(_marked(" ", Text(effort, style="dim")))
    below += [note_block(note) for note in notes(figures, manifest, results) if note not in said]
    return Group(title, "", table, "", *below)


def examples_block(
    results: Sequence[Result], n: int = 5, cost: str | None = None
) -> RenderableType:
    """Show the clearest adversarial examples, their changed words highlighted.

    `cost` is what the attack calls its costs, if they are to be shown.
    """
    examples = clearest(results, n)
    if not examples:
        return Text("  No adversarial example was found.", style="dim")
    parts: list[RenderableType] = []
    for result in examples:
        parts += [_outcome(result, cost), Highlighted(result), ""]
    return Group(*parts[:-1])


@dataclass(frozen=True)
class Highlighted:
    """A result's text with its edits marked: by colour where there is one, else [old→new]."""

    result: Result

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        has_colour = console.color_system is not None and not console.no_color
        parts: list[RenderableType]
        if self.result.l2 is None:
            parts = [highlighted(self.result, has_colour), *_way(self.result)]
        else:
            parts = [drawn(self.result, has_colour, options.max_width - INDENT)]
        for part in parts:
            yield Padding(part, (0, 0, 0, INDENT), expand=False)


def highlighted(result: Result, has_colour: bool = True) -> Text:
    """Write a result's fields with their edits; a long text is cut around its edits."""
    text = Text(overflow="fold")
    context = CONTEXT_CHARACTERS if len(result.original) > LONG_TEXT_CHARACTERS else None
    fields = shown_fields(result)
    for field, raw, edits in fields:
        if len(fields) > 1:
            text.append(("\n" if text else "") + visible(field) + ": ", style="dim")
        for part in split_at_edits(raw, edits, context):
            if isinstance(part, str):
                text.append(visible(part))
                continue
            old, new = _shortened(part.old), _shortened(revealed(part.new, part.old))
            if has_colour:
                text.append(old, style="red strike")
                text.append(" " if old and new else "")
                text.append(new, style="bold green")
            else:
                text.append(f"[{old}→{new}]")
    return text


def drawn(result: Result, has_colour: bool = True, columns: int = 66) -> Text:
    """Draw a picture, its reconstruction, if there is one, and its adversary side by side."""
    rebuilt = reconstruction(result)
    texts = (result.original, None if rebuilt is None else rebuilt.item, result.adversarial)
    return picture_lines([Picture.decode(text) for text in texts if text], has_colour, columns)


def _way(result: Result) -> list[Table]:
    """List what a generator makes of a text, and the sentences from there to the adversary."""
    first = reconstruction(result)
    if first is None:
        return []
    rows = [
        ("" if item.cost is None else thousandths(item.cost), _shortened(item.item))
        for item in (first, *way(result))
    ]
    return [Table((Column(align="right", style="dim"), Column()), rows, has_head=False)]


@dataclass(frozen=True)
class Items:
    """A line of items with dots between them: it is broken between two items, never inside one."""

    line: str
    style: str = ""

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        lines = [""]
        for item in visible(self.line).split(ITEM_GAP):
            longer = f"{lines[-1]}{ITEM_GAP}{item}" if lines[-1] else item
            if cell_len(longer) > options.max_width and lines[-1]:
                lines.append(item)
            else:
                lines[-1] = longer
        yield from (Text(line, style=self.style) for line in lines)


def note_block(note: str) -> RenderableType:
    """Show something that a reader must know before trusting the figures."""
    return _marked("!", Text(visible(note), style="yellow"))


def _marked(mark: str, text: RenderableType) -> RenderableType:
    """Indent a paragraph as a whole, with a mark before it."""
    grid = Grid.grid(padding=(0, 1, 0, 0))
    grid.add_column(style="bold yellow")
    grid.add_column()
    grid.add_row(mark, text)
    return grid


def _shortened(text: str) -> str:
    return visible(cut(text, CONTEXT_CHARACTERS, CONTEXT_CHARACTERS))


def _outcome(result: Result, cost: str | None) -> Text:
    """Write the labels before and after, and what the attack needed."""
    needed = _cost(result, cost)
    if result.predicted is None:
        reached = Text.assemble("  ", (visible(result.goal), "bold red"))
        return Text.assemble(reached, (needed, "dim"))
    before = _label(result.predicted, result.confidence)
    after = _label(result.adversarial_label, result.adversarial_confidence)
    return Text.assemble(("  " + before, "blue"), " → ", (after, "bold red"), (needed, "dim"))


def _cost(result: Result, cost: str | None) -> str:
    changed = f"{number(result.words_changed)} of {plural(result.words, ('word', 'words'))} changed"
    if result.l2 is not None:
        changed = f"by at most {thousandths(result.linf)}, L2 {number(result.l2)}"
    if result.level in LEVELS:
        changed = f"{LEVELS[str(result.level)].title}, {changed}"
    if cost is not None and result.cost is not None:
        changed = f"{cost} {thousandths(result.cost)}, {changed}"
    return f"   {changed}, {plural(result.queries, ('query', 'queries'))}"


def _label(label: str | None, confidence: float | None) -> str:
    return visible(label_in_words(label)) + ("" if confidence is None else f" {confidence:.0%}")


def as_text(block: RenderableType, width: int = 80) -> str:
    """Return what the terminal shows as plain text: no colours, and no blanks at line ends."""
    console = Console(width=width, color_system=None, file=io.StringIO())
    with console.capture() as captured:
        console.print(block)
    return "\n".join(line.rstrip() for line in captured.get().splitlines()).strip("\n")
