"""A run in the terminal: renderables for rich, readable without colour and in 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from brittle.formatting import number, percent, plural
from brittle.metrics.paired import Contrast, paired
from brittle.metrics.summary import Figure, Summary, summary
from brittle.reports.grids import grid_of, grid_table
from brittle.reports.stored import StoredRun
from brittle.reports.summaries import summed
from brittle.reports.texts import clearest, cut, pieces, visible
from brittle.reports.wording import Write, edited, effort, interval, lines, notes, setting, statuses
from brittle.results import Result

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table
    from rich.text import Text

LONG = 400  # characters; a longer text is cut around its edits
AROUND = 70


def summary_block(run: StoredRun) -> RenderableType:
    """Show accuracy before and after, success, costs, statuses and warnings of a run."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    manifest, (results, figures) = run.manifest, summed(run)
    title = Text.assemble((visible(run.name), "bold"), "  ", (visible(setting(manifest)), "dim"))
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True, style="dim")
    table.add_column(style="dim")
    for line in lines(figures, manifest, results):
        value = Text(line.value, style=_STYLES.get(line.key, "bold"))
        table.add_row(f"  {line.name}", value, line.interval, line.over)
    told = [_marked(" ", Text(line)) for line in edited(results)]
    told.append(_marked(" ", Text(visible(statuses(figures)))))
    told.append(_marked(" ", Text(effort(run.totals), style="dim")))
    told += [_note(note) for note in notes(figures, manifest)]
    return Group(title, "", table, "", *told)


_STYLES = {"accuracy_before": "bold blue", "accuracy_after": "bold red", "success": "bold red"}


def examples_block(results: Sequence[Result], n: int = 5) -> RenderableType:
    """Show the clearest adversarial examples, their changed words highlighted."""
    from rich.console import Group
    from rich.text import Text

    chosen = clearest(results, n)
    if not chosen:
        return Text("  No adversarial example was found.", style="dim")
    parts: list[RenderableType] = []
    for result in chosen:
        parts += [_outcome(result), Highlighted(result), ""]
    return Group(*parts[:-1])


@dataclass(frozen=True)
class Highlighted:
    """A result's text with its edits marked: by colour where there is one, else [old→new]."""

    result: Result

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        from rich.padding import Padding

        coloured = console.color_system is not None and not console.no_color
        yield Padding(highlighted(self.result, coloured), (0, 0, 0, 2), expand=False)


def highlighted(result: Result, coloured: bool = True) -> Text:
    """Write a result's fields with every edit in its place; long texts only around their edits."""
    from rich.text import Text

    text = Text(overflow="fold")
    around = AROUND if len(result.original) > LONG else None
    for position, (name, raw) in enumerate(result.fields):
        if len(result.fields) > 1:
            text.append(("\n" if position else "") + visible(name) + ": ", style="dim")
        for piece in pieces(raw, [e for e in result.edits if e.field == name], around):
            if isinstance(piece, str):
                text.append(visible(piece))
                continue
            old, new = (visible(cut(side, AROUND, AROUND)) for side in (piece.old, piece.new))
            if coloured:
                text.append(old, style="red strike")
                text.append(" " if old and new else "")
                text.append(new, style="bold green")
            else:
                text.append(f"[{old}→{new}]")
    return text


def comparison(runs: Sequence[StoredRun]) -> RenderableType:
    """Show several runs side by side, each later one paired with the first."""
    from rich.console import Group

    rows = [run.results() for run in runs]
    sums = [summary(rs, run.manifest.get("examples")) for run, rs in zip(runs, rows)]
    parts: list[RenderableType] = [_side_by_side(runs, sums)]
    if len(runs) > 1:
        parts += ["", _paired_table(runs, rows)]
    if len(runs) > 2:
        table = grid_of(runs)
        if min(len(table.targets), len(table.attacks)) > 1:
            parts += ["", grid_table(table)]
    for run, figures in zip(runs, sums):
        parts += [_note(f"{run.name}: {note}") for note in notes(figures, run.manifest)]
    return Group(*parts)


def _side_by_side(runs: Sequence[StoredRun], sums: Sequence[Summary]) -> Table:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("run", overflow="fold")
    for heading in ("before", "under attack", "success", "queries", "words"):
        table.add_column(heading, justify="right")
    for run, s in zip(runs, sums):
        shares = (_cell(figure, percent) for figure in (s.before, s.after, s.success))
        means = (_cell(figure, number) for figure in (s.queries, s.words))
        table.add_row(_named(run), *shares, *means)
    return table


def _paired_table(runs: Sequence[StoredRun], rows: Sequence[list[Result]]) -> Table:
    from rich.table import Table
    from rich.text import Text

    title = Text(
        f"paired with {visible(runs[0].name)}, case by case (p: exact McNemar)", style="bold"
    )
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    table.title, table.title_justify = title, "left"
    table.add_column("", overflow="fold")
    table.add_column("difference", justify="right")
    table.add_column("over", justify="right")
    table.add_column("only first", justify="right")
    table.add_column("only here", justify="right")
    table.add_column("p", justify="right")
    for run, rs in zip(runs[1:], rows[1:]):
        found = paired(rows[0], rs)
        shared = f"  {number(found.shared)} shared"
        table.add_row(Text.assemble((visible(run.name), "bold"), (shared, "dim")))
        table.add_row("  accuracy before", *_contrasted(found.before))
        table.add_row("  accuracy under attack", *_contrasted(found.accuracy))
        table.add_row("  attack success", *_contrasted(found.success))
    return table


def _contrasted(contrast: Contrast) -> tuple[Text | str, ...]:
    from rich.text import Text

    if contrast.difference is None or contrast.low is None or contrast.high is None:
        return (Text("no shared case", style="dim"), "0", "–", "–", "–")
    points = f"{100 * contrast.difference:+.1f}"
    within = f"{100 * contrast.low:+.1f} to {100 * contrast.high:+.1f}"
    difference = Text.assemble((points, "bold"), " points\n", (within, "dim"))
    p = "<0.001" if contrast.p < 0.001 else f"{contrast.p:.3f}"
    return difference, *map(number, (contrast.of, contrast.only_a, contrast.only_b)), p


def _outcome(result: Result) -> Text:
    from rich.text import Text

    before = f"{visible(str(result.predicted))} {_sure(result.confidence)}"
    after = f"{visible(str(result.adversarial_label))} {_sure(result.adversarial_confidence)}"
    changed = f"{number(result.words_changed)} of {plural(result.words, ('word', 'words'))}"
    cost = plural(result.queries, ("query", "queries"))
    return Text.assemble(
        ("  " + before.strip(), "blue"),
        " → ",
        (after.strip(), "bold red"),
        (f"   {changed} changed, {cost}", "dim"),
    )


def _cell(figure: Figure, write: Write) -> Text:
    from rich.text import Text

    return Text.assemble((write(figure.value), "bold"), "\n", (interval(figure, write), "dim"))


def _named(run: StoredRun) -> Text:
    from rich.text import Text

    return Text.assemble((visible(run.name), "bold"), "\n", (visible(setting(run.manifest)), "dim"))


def _note(note: str) -> Table:
    from rich.text import Text

    return _marked("!", Text(visible(note), style="yellow"))


def _marked(mark: str, text: Text) -> Table:
    """Indent a paragraph as a whole, with a mark before it."""
    from rich.table import Table

    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(style="bold yellow")
    grid.add_column()
    grid.add_row(mark, text)
    return grid


def _sure(confidence: float | None) -> str:
    return "" if confidence is None else f"{confidence:.0%}"
