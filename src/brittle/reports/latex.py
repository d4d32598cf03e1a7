"""A table as LaTeX, with the rules of the package booktabs; every text is escaped.

What pdfLaTeX does not know without further packages, such as arrows, is written as a command. A
column of drawings alone, such as bars, is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from brittle.redaction import visible

if TYPE_CHECKING:
    from brittle.reports.table import Cell, Column, Table

_SIGNS = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "{}$&#_%"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "–": "--",
    "—": "---",
    "…": r"\ldots{}",
    "−": "$-$",
    "·": r"$\cdot$",
    "×": r"$\times$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "→": r"$\rightarrow$",
    "←": r"$\leftarrow$",
    "↓": r"$\downarrow$",
    "ε": r"$\varepsilon$",
}
_SPECIAL = re.compile("|".join(map(re.escape, _SIGNS)))


def in_latex(text: object) -> str:
    r"""Escape what LaTeX would read as a command.

    >>> print(in_latex("50% of a_b & {x} ≤ 3"))
    50\% of a\_b \& \{x\} $\leq$ 3
    """
    line = " ".join(visible(str(text)).split())
    return _SPECIAL.sub(lambda match: _SIGNS[match[0]], line)


def latex_table(table: Table, caption: str = "", label: str = "") -> str:
    """Write a table; with a caption it is a float of its own, else a tabular.

    Small print stands in brackets. Notes stand below.
    """
    kept = _kept_columns(table)
    columns = [table.columns[n] for n in kept]
    sides = "".join("r" if column.align == "right" else "l" for column in columns)
    lines = [rf"\begin{{tabular}}{{{sides}}}", r"\toprule"]
    if table.has_head:
        lines += [" & ".join(in_latex(column.name) for column in columns) + r" \\", r"\midrule"]
    lines += [*_rows(table, kept), r"\bottomrule", r"\end{tabular}"]
    lines += [rf"\par{{\footnotesize {in_latex(note)}}}" for note in table.notes]
    if caption:
        named = [rf"\label{{{label}}}"] if label else []
        head = [r"\begin{table}", r"\centering", rf"\caption{{{in_latex(caption)}}}", *named]
        lines = [*head, *lines, r"\end{table}"]
    return "\n".join(lines) + "\n"


def _kept_columns(table: Table) -> list[int]:
    """Return the numbers of the columns that hold anything but drawings."""
    rows = [row.cells for row in table.full_rows if len(row.cells) == len(table.columns)]
    return [
        n
        for n, _ in enumerate(table.columns)
        if not rows or not all(_is_drawing(cells[n]) for cells in rows)
    ]


def _is_drawing(cell: Cell) -> bool:
    return hasattr(cell.value, "__html__") and not isinstance(cell.value, str)


def _rows(table: Table, kept: list[int]) -> Iterator[str]:
    for _, cells in table.written:
        if len(cells) < len(table.columns):
            words = in_latex(cells[0][0].write(cells[0][1])) if cells else ""
            yield rf"\multicolumn{{{len(kept)}}}{{l}}{{\textbf{{{words}}}}} \\"
            continue
        yield " & ".join(_cell(*cells[n]) for n in kept) + r" \\"


def _cell(column: Column, cell: Cell) -> str:
    text = in_latex(column.write(cell))
    text = rf"\textbf{{{text}}}" if (cell.strong or column.strong) and text else text
    text += f" {in_latex(cell.beside)}" if cell.beside else ""
    small = ", ".join(in_latex(line.text) for line in cell.lines)
    return f"{text} ({small})" if small else text
