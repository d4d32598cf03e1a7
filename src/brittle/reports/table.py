"""One table that draws itself: for the terminal, a page, Markdown, LaTeX, and for programs.

A table is data: columns, and rows of values. How a value is written belongs to its column; a `Cell`
is a value that shows more than itself, such as its interval in small print. rich and jinja2 are
imported where a table is drawn.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from brittle.formatting import NO_VALUE
from brittle.redaction import visible
from brittle.safety.files import write_csv

if TYPE_CHECKING:
    from markupsafe import Markup
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
    from rich.text import Text

GAP = 2  # columns of a terminal between two cells
MARKDOWN_SIGNS = str.maketrans(
    {sign: f"\\{sign}" for sign in "\\|`*[]"} | {"<": "&lt;", ">": "&gt;"}
)

_EDGE_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")


@dataclass(frozen=True)
class Cell:
    """A value, and what is shown with it.

    `text` is written in place of the formatted value, `beside` behind it; `small` are further lines
    in small print. `title` is what the cell says on hover. `style` is its style in the terminal,
    `css` its classes on a page, such as the colour of a heat map.
    """

    value: Any = None
    text: str | None = None
    small: Sequence[str | Cell] = ()
    strong: bool = False
    title: str = ""
    style: str = ""
    css: str = ""
    beside: str = ""

    @property
    def lines(self) -> list[Cell]:
        """The small print as cells."""
        return [one if isinstance(one, Cell) else Cell(text=one) for one in self.small]


@dataclass(frozen=True)
class Column:
    """A column: its heading, the side on which it stands, and how its values are written.

    `small` is a second line of the heading, `key` its name in CSV and JSON if it is not `name`.
    On a page, cells on the right have the class `n`; texts on the left, which may be written from
    right to left, are isolated; `css` and `isolate` say otherwise. `is_name`: so is the heading, a
    name that the user chose. In a narrow terminal a column with `no_wrap` cuts its cells, one with
    `fold` breaks words.
    """

    name: str = ""
    align: Literal["left", "right"] = "left"
    format: Callable[[Any], str] = str
    small: str = ""
    key: str = ""
    strong: bool = False
    style: str = ""
    css: str | None = None
    isolate: bool | None = None
    is_name: bool = False
    no_wrap: bool = False
    fold: bool = False

    @property
    def classes(self) -> str:
        """The classes of its cells on a page."""
        return self.css if self.css is not None else "n" if self.align == "right" else ""

    @property
    def is_isolated(self) -> bool:
        """Whether its texts must not change the writing direction of what is around them."""
        return self.align == "left" if self.isolate is None else self.isolate

    def write(self, cell: Cell) -> str:
        """Write the value of a cell; no value, or NaN, is a dash."""
        if cell.text is not None:
            return cell.text
        return NO_VALUE if plain(cell.value) is None else self.format(cell.value)


@dataclass(frozen=True)
class Row:
    """The cells of a row; one cell alone in a wider table is a heading of the rows below it."""

    cells: Sequence[Any]
    style: str = ""
    css: str = ""


@dataclass(frozen=True)
class Table:
    """Columns and rows, with a title above and notes below.

    A row is a `Row` or its cells, a cell is a `Cell` or its value. `css` are the classes on a page,
    `card` those of the card around it; with `corner`, the first heading names rows and columns, and
    is not a heading there. In the terminal, everything is moved right by `indent`. With
    `keeps_words`, lines break between words only, so that names can be copied; where the terminal
    is too narrow for that, a row is its first cell on a line, and the others below it. `gap` is
    that between two columns.
    """

    columns: Sequence[Column]
    rows: Sequence[Row | Sequence[Any]]
    title: str = ""
    notes: Sequence[str] = ()
    css: str = ""
    card: str = ""
    corner: bool = False
    has_head: bool = True
    indent: int = 0
    keeps_words: bool = False
    gap: int = GAP
    shown_as: ClassVar = "table"

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, Any]], **settings: Any) -> Table:
        """Build a table of mappings; the keys of the first are the headings.

        >>> print(Table.of([{"name": "pwws", "share": 0.5}]).markdown())
        | name | share |
        | --- | --- |
        | pwws | 0.5 |
        """
        names = list(rows[0]) if rows else []
        values = [[row[name] for name in names] for row in rows]
        return cls([Column(name) for name in names], values, **settings)

    @property
    def full_rows(self) -> list[Row]:
        """Every row as a `Row` of `Cell`s."""
        rows = [row if isinstance(row, Row) else Row(row) for row in self.rows]
        return [
            Row([c if isinstance(c, Cell) else Cell(c) for c in r.cells], r.style, r.css)
            for r in rows
        ]

    @property
    def written(self) -> Iterator[tuple[Row, list[tuple[Column, Cell]]]]:
        """Every row, with its cells, each with its column."""
        for row in self.full_rows:
            yield row, list(zip(self.columns, row.cells))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the table for a terminal."""
        from rich.text import Text

        margin = " " * self.indent
        if self.title:
            yield Text(margin + visible(self.title), style="bold")
        yield from self._stacked_or_grid(options.max_width)
        for note in self.notes:
            yield Text(margin + visible(note), style="dim")

    def html(self) -> Markup:
        """Draw the table for a page, without its title and its notes."""
        from brittle.reports.page import fragment

        return fragment("table.html.jinja", table=self)

    __html__ = html

    def _repr_html_(self) -> str:
        """Draw the table for a notebook, which has no style sheet of ours."""
        from brittle.reports.page import draw_part

        return str(draw_part("notebook.table", self))

    def markdown(self) -> str:
        """Write the table in Markdown; small print stands in brackets, notes are paragraphs."""
        head = [column.name.replace("\n", " ") for column in self.columns]
        lines = [_markdown_row(map(in_markdown, head)), _markdown_row(["---"] * len(head))]
        for _, cells in self.written:
            lines.append(_markdown_row(_markdown_cell(column, cell) for column, cell in cells))
        below = "".join(f"\n\n{in_markdown(note)}" for note in self.notes)
        return "\n".join(lines) + below

    def latex(self, caption: str = "", label: str = "") -> str:
        """Write the table in LaTeX, with the rules of booktabs; with a caption, as a float."""
        from brittle.reports.latex import latex_table

        return latex_table(self, caption, label)

    def csv(self, exact: bool = False) -> str:
        """Write the values as CSV; with `exact`, a cell that begins as a formula stays one."""
        file = io.StringIO(newline="")
        write_csv(file, self._keys, self.records(), exact=exact)
        return file.getvalue()

    def records(self) -> list[dict[str, Any]]:
        """Return the values of every row by their columns, for JSON; NaN is None."""
        return [
            {key: plain(cell.value) for key, cell in zip(self._keys, row.cells)}
            for row in self.full_rows
            if len(row.cells) == len(self.columns)
        ]

    @property
    def _keys(self) -> list[str]:
        return [column.key or column.name for column in self.columns]

    def _stacked_or_grid(self, room: int) -> Iterator[RenderableType]:
        widths: list[int | None] = [None] * len(self.columns)
        if self.keeps_words:
            texts = [[visible(column.name)] for column in self.columns]
            for _, cells in self.written:
                for column, (kind, cell) in zip(texts, cells):
                    column.append(visible(kind.write(cell)))
            fitting = column_widths(texts, room - self.gap * (len(texts) - 1))
            if fitting is None:
                yield from self._stacked()
                return
            widths = list(fitting)
        yield self._grid(widths)

    def _grid(self, widths: Sequence[int | None]) -> RenderableType:
        from rich.table import Table as Grid
        from rich.text import Text

        shown = {"padding": (0, self.gap, 0, 0), "pad_edge": False, "header_style": "dim"}
        grid = Grid(box=None, show_header=self.has_head, **shown)  # type: ignore[arg-type]
        margin = " " * self.indent
        for n, (column, width) in enumerate(zip(self.columns, widths)):
            head = Text(("" if n else margin) + visible(column.name))
            if column.small:
                head = Text.assemble((head.plain, "not dim bold"), "\n", visible(column.small))
            overflow: Any = "fold" if column.fold or width is not None else "ellipsis"
            grid.add_column(
                head,
                justify=column.align,
                style=column.style,
                no_wrap=column.no_wrap,
                overflow=overflow,
                width=width,
            )
        for row, cells in self.written:
            texts = [_terminal_text(column, cell) for column, cell in cells]
            if margin:
                texts[0] = Text.assemble(margin, texts[0])
            grid.add_row(*texts, style=row.style)
        return grid

    def _stacked(self) -> Iterator[RenderableType]:
        from rich.padding import Padding
        from rich.text import Text

        for _, (first, *others) in self.written:
            values = [(column.name, column.write(cell)) for column, cell in others]
            below = visible(", ".join(f"{name}: {value}" for name, value in values if value))
            yield Text(visible(first[0].write(first[1])), no_wrap=True, overflow="ignore")
            yield Padding(Text(below, style="dim", overflow="fold"), (0, 0, 0, 2))


def plain(value: Any) -> Any:
    """Return a value as programs read it: NaN, and a drawing such as a bar, is None."""
    is_nothing = isinstance(value, float) and math.isnan(value)
    is_drawing = hasattr(value, "__html__") and not isinstance(value, str)
    return None if is_nothing or is_drawing else value


def in_markdown(text: object) -> str:
    """Escape what Markdown would read as a cell, a line or markup.

    An underscore within a word is none of it, so that commands can be copied.

    >>> in_markdown("a|b\\nc_d _e_")
    'a\\\\|b c_d \\\\_e\\\\_'
    """
    line = " ".join(visible(str(text)).split()).translate(MARKDOWN_SIGNS)
    return _EDGE_UNDERSCORE.sub(r"\_", line)


def column_widths(columns: Sequence[Sequence[str]], room: int) -> list[int] | None:
    """Divide the room between columns so that no word is broken; None if it does not suffice.

    Every column gets its longest word; what is left goes evenly to those that need more.

    >>> column_widths([["a name", "x"], ["some words to read"]], 14)
    [6, 8]
    >>> column_widths([["a-long-name"], ["another"]], 14) is None
    True
    """
    from rich.cells import cell_len

    widths = [max(cell_len(w) for cell in cells for w in [*cell.split(), ""]) for cells in columns]
    wanted = [max(map(cell_len, cells)) for cells in columns]
    left = room - sum(widths)
    while left > 0 and widths != wanted:
        for n, width in enumerate(widths):
            if width < wanted[n] and left > 0:
                widths[n], left = width + 1, left - 1
    return None if left < 0 else widths


def _terminal_text(column: Column, cell: Cell) -> Text:
    from rich.text import Text

    style = "bold" if cell.strong or column.strong else ""
    text = Text(visible(column.write(cell)), style=f"{style} {cell.style}".strip())
    small = [visible(cell.beside), *(f"\n{visible(line.text or '')}" for line in cell.lines)]
    for line in filter(None, small):
        text.append(line, "not bold dim")
    return text


def _markdown_cell(column: Column, cell: Cell) -> str:
    text = in_markdown(column.write(cell))
    text = f"**{text}**" if cell.strong and text else text
    text += visible(cell.beside) and f" {in_markdown(cell.beside)}"
    small = ", ".join(in_markdown(line.text) for line in cell.lines)
    return f"{text} ({small})" if small else text


def _markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
