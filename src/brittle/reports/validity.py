"""What people said of a run, on a page and in the terminal.

Validity in words: the same rows for the terminal and for the page. What people said of a run, in
the terminal and as plain data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from brittle.formatting import NO_VALUE, number, percent, plural
from brittle.metrics.judged import Agreement
from brittle.metrics.summary import Figure
from brittle.reports.page import Section
from brittle.reports.summary_lines import format_interval
from brittle.reports.table import Cell, Column, Table
from brittle.reports.terminal import note_block
from brittle.validity.figures import VALID, Floors, JudgeFigures, Reading, Validity
from brittle.validity.verdicts import TableRow

NAMES = {
    "label": "label kept",
    "meaning": "meaning kept",
    "natural": "natural enough",
    VALID: "all three: valid",
}
QUESTIONS = {"label": "label", "meaning": "meaning", "natural": "naturalness", VALID: "valid"}
MISSING = {"random_edit": "random edit of the same size", "other": "another family of models"}
AGREEMENT_EXPLAINED = (
    "Krippendorff’s α: 1 is perfect agreement, 0 what chance gives. Where one answer is most "
    "frequent by far, α is low though nearly all agree."
)
FLOORS_EXPLAINED = (
    "Floors need no people. What a random edit of the same size breaks was not found by searching. "
    "Where a model of another family no longer reads the label, the label itself may be gone."
)


@dataclass(frozen=True)
class Line:
    """A figure for a reader: its name, value and interval, what it is over, and a remark."""

    name: str
    value: str
    interval: str
    over: str
    remark: str = ""

    @property
    def basis(self) -> str:
        """What the figure is over, with the remark."""
        return f"{self.over}; {self.remark}" if self.remark else self.over


def figure_line(name: str, figure: Figure, remark: str = "") -> Line:
    """Format a share, with what it is computed over."""
    counted = f"{number(figure.count)} of " if figure.count is not None else "of "
    over = f"{counted}{plural(figure.of, figure.over)}"
    return Line(name, percent(figure.value), format_interval(figure, percent), over, remark)


def validity_lines(validity: Validity, success: Figure) -> list[Line]:
    """Format validity, its parts and valid success beside the success that it is made from."""
    lines = [] if validity.reading is None else _reading_lines(validity.reading)
    if validity.judge is not None:
        lines += _judge_lines(validity.judge)
    valid = validity.valid_success(success)
    interval = format_interval(valid, percent)
    return [
        *lines,
        figure_line("attack success", success),
        Line("valid success", percent(valid.value), interval, "success × validity"),
    ]


def _reading_lines(reading: Reading) -> list[Line]:
    return [
        figure_line(NAMES[part], figure, _beside(reading.originals.get(part)))
        for part, figure in reading.parts.items()
    ]


def _beside(original: Figure | None) -> str:
    if original is None or not original.of:
        return ""
    return f"originals {percent(original.value)} of {number(original.of)}"


def _judge_lines(judge: JudgeFigures) -> list[Line]:
    said = f"it calls {number(judge.said_valid)} of {number(judge.judged)} valid"
    return [
        figure_line("judge: sensitivity", judge.sensitivity),
        figure_line("judge: specificity", judge.specificity),
        figure_line("validity by judge", judge.validity, said),
    ]


def agreement_rows(agreement: Mapping[str, Agreement]) -> list[Mapping[str, str]]:
    """Return a row for each question: how far people agree, and how far that had to be so."""
    return [
        {
            "agreement on": QUESTIONS[part],
            "α": NO_VALUE if one.alpha is None else f"{one.alpha:.2f} {one.measure}",
            "same answer": f"{percent(one.observed)} of pairs",
            "most frequent": f"{_answer(one)} ({percent(one.base_rate)})",
            "items": number(one.items),
        }
        for part, one in agreement.items()
        if one.items
    ]


def _answer(one: Agreement) -> str:
    return str({True: "yes", False: "no"}.get(one.most_frequent, one.most_frequent))


def floor_lines(floors: Floors) -> list[Line]:
    """Format the floors that were measured."""
    lines = [figure_line("clean error", floors.clean_error)]
    if floors.random_edit is not None:
        lines.append(figure_line("random edit breaks", floors.random_edit))
    if floors.other is not None:
        other = floors.other
        remark = f"by {other.name}, of their originals {percent(other.originals.value)}"
        lines.append(figure_line("another family reads", other.adversaries, remark))
    return lines


def missing_lines(floors: Floors) -> list[str]:
    """Say which floors are missing, and why."""
    return [f"missing, {MISSING[name]}: {why}" for name, why in floors.missing.items()]


def validity_notes(validity: Validity, broken: int, attacked: int) -> list[str]:
    """Say what a reader must know of a validity before trusting it."""
    notes = []
    if (validity.broken, validity.attacked) != (broken, attacked):
        notes.append(
            f"Validity was measured when {number(validity.broken)} of "
            f"{plural(validity.attacked, 'attacked cases')} were broken; the run has changed "
            "since. Have it read again: brittle validity write."
        )
    judge = validity.judge
    if judge is not None and judge.method != "poststratified":
        listed = ", ".join(judge.calibrated_on)
        notes.append(
            f"The judge {judge.name} was held against people on other cases ({listed}): its "
            "figure holds as far as it errs as often on these."
        )
    return notes


def table_rows(table: Sequence[TableRow]) -> list[Mapping[str, str]]:
    """Return a table of answers with its columns by name; those that nothing has are left out."""
    rows = []
    for row in table:
        is_mean = row.unit == "mean"
        write = number if is_mean else percent
        rows.append(
            {
                "question": row.question,
                "about": row.about,
                "people say": ("mean " if is_mean else "") + write(row.figure.value),
                "interval": format_interval(row.figure, write),
                "vs best": NO_VALUE if row.relative is None else f"{row.relative:.2f}",
                "median person": percent(row.median),
                "cases": number(row.figure.of),
                "answers": number(row.answers),
            }
        )
    empty = {name for name in ("vs best", "median person") if _is_empty(rows, name)}
    return [{name: cell for name, cell in row.items() if name not in empty} for row in rows]


def _is_empty(rows: Sequence[Mapping[str, str]], name: str) -> bool:
    return all(row[name] == NO_VALUE for row in rows)


def validity_section(
    validity: Validity | None, floors: Floors | None, success: Figure
) -> Section | None:
    """Show what was measured; nothing if nothing was."""
    if validity is None and floors is None:
        return None
    reading = None if validity is None else validity.reading
    agreement = [] if reading is None else agreement_rows(reading.agreement)
    shown: dict[str, Any] = {
        "measured": None,
        "notes": [],
        "thresholds": None if reading is None else reading.thresholds,
        "agreement": Table.of(agreement, notes=(AGREEMENT_EXPLAINED,)) if agreement else None,
        "floors": None,
    }
    if validity is not None:
        shown["measured"] = lines_table(validity_lines(validity, success))
        shown["notes"] = validity_notes(validity, success.count or 0, success.of)
    if floors is not None:
        notes = (FLOORS_EXPLAINED, *missing_lines(floors))
        shown["floors"] = lines_table(floor_lines(floors), notes)
    return Section("run_parts.validity", shown, "Validity")


def lines_table(lines: Sequence[Line], notes: Sequence[str] = ()) -> Table:
    """Build a table of figures for a page: name and basis, value, interval."""
    columns = (Column("figure"), Column("value", "right"), Column("interval", "right"))
    rows = [
        (Cell(line.name, small=(line.basis,)), Cell(line.value, strong=True), line.interval)
        for line in lines
    ]
    return Table(columns, rows, notes=notes, css="figures", has_head=False)


UNBROKEN = ("question", "people say", "interval", "α", "same answer")
STRONG = ("all three: valid", "validity by judge", "valid success")


def validity_block(
    title: str,
    success: Figure,
    validity: Validity | None = None,
    floors: Floors | None = None,
    table: Sequence[TableRow] = (),
    remark: str = "",
) -> RenderableType:
    """Show validity with its parts, agreement, floors, and tables of other questionnaires.

    `remark` stands below a table: which paper it is from.
    """
    parts: list[RenderableType] = [Text(title, style="bold")]
    if table:
        parts += ["", Padding(_grid(table_rows(table)), (0, 0, 0, 2))]
        parts += ["", Padding(Text(remark, style="dim"), (0, 0, 0, 2))] if remark else []
    if validity is not None:
        parts += ["", _lines(validity_lines(validity, success))]
        if validity.reading and (rows := agreement_rows(validity.reading.agreement)):
            parts += ["", Padding(_grid(rows), (0, 0, 0, 2))]
        broken = success.count or 0
        parts += [note_block(note) for note in validity_notes(validity, broken, success.of)]
    if floors is not None:
        parts += ["", Text("  without people", style="dim"), _lines(floor_lines(floors))]
        parts += [note_block(line) for line in missing_lines(floors)]
    return Group(*parts)


def validity_json(
    success: Figure,
    validity: Validity | None = None,
    floors: Floors | None = None,
    table: Sequence[TableRow] = (),
) -> dict[str, Any]:
    """Return the same as plain data."""
    valid = None if validity is None else asdict(validity.valid_success(success))
    return {
        "success": asdict(success),
        "validity": None if validity is None else asdict(validity.figure),
        "valid_success": valid,
        "measured": None if validity is None else asdict(validity),
        "floors": None if floors is None else asdict(floors),
        "answers": [asdict(row) for row in table],
        "notes": []
        if validity is None
        else validity_notes(validity, success.count or 0, success.of),
    }


def _lines(lines: Sequence[Line]) -> Table:
    columns = (
        Column(no_wrap=True),
        Column(align="right", strong=True, no_wrap=True),
        Column(style="dim", no_wrap=True),
        Column(style="dim"),
    )
    rows = [
        (
            line.name,
            Cell(line.value, style="red" if line.name in STRONG else ""),
            line.interval,
            line.basis,
        )
        for line in lines
    ]
    return Table(columns, rows, has_head=False, indent=2)


def _grid(rows: Sequence[Mapping[str, str]]) -> Table:
    columns = [Column(name, no_wrap=name in UNBROKEN) for name in rows[0]]
    return Table(columns, [list(row.values()) for row in rows])
