"""Tables of a page that are data: paper.toml has their rows and columns.

    [tables."table 2"]
    columns = [
      { head = "trained on", text = "{about}" },
      { head = "error, here", figure = { is = "error", task = "clean {row}" }, key = "error" },
    ]
    [tables."table 2".rows]
    plain = { about = "baseline", error = "8.27%" }

A column has a `text`, or a `figure` (see judging.py; one in words stands in the table alone). {row}
is the name of the row; the row's own values have the names that they have there. `over` names a
property of the results with the names of the rows, where they depend on what was run.
The other words of a column:

- `key`: the JSON of the row holds the figure under it; without `head` it stands in the JSON alone
- `format`: how the figure is written; `blank` names a row where it is not
- `beside`: a value of the row, in brackets behind the figure
- `otherwise`: what stands where a row has no such value, or there is no figure
- `when`: a task without whose result the column is left out
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brittle_papers.formats import FORMATS
from brittle_papers.judging import figure_of, read_from
from brittle_papers.page import PaperPage, Row, TableCell
from brittle_papers.results import PaperResults
from brittle_papers.spec import Table, fill


def add_table(page: PaperPage, key: str, results: PaperResults, **more: Any) -> None:
    """Add a table of paper.toml; `more` are values that its columns name."""
    table = page.spec.tables[key]
    columns = [c for c in table["columns"] if c.get("when") in (None, *results.results)]
    texts = table.get("rows", {})
    names = read_from(results, table["over"]) if "over" in table else texts
    rows: dict[str, Row] = {}
    for name in names:
        values = {**more, **texts.get(name, {}), "row": name}
        cells = {number: _cell(column, results, values) for number, column in enumerate(columns)}
        rows[name] = [cell for number, cell in cells.items() if "head" in columns[number]]
        for number, cell in cells.items():
            if "head" not in columns[number]:
                assert isinstance(cell, TableCell)
                page.record((key, name), {cell.key: cell.value})
    heads = [fill(column["head"], more) for column in columns if "head" in column]
    page.add_table(key, heads, rows)


def _cell(column: Table, results: PaperResults, values: Mapping[str, Any]) -> str | TableCell:
    if "text" in column:
        return _text(column["text"], column, values)
    figure = figure_of(column["figure"], results, values)
    if figure is None:
        return str(column["otherwise"])
    if isinstance(figure, str):
        return figure
    cell = figure if isinstance(figure, TableCell) else TableCell(figure)
    text = cell.text
    if text is None:
        text = FORMATS[column.get("format", "value")](cell.value)
    if "beside" in column:
        text = f"{text} [{_text(column['beside'], column, values)}]"
    is_blank = column.get("blank") == values["row"]
    return TableCell(cell.value, fill(column.get("key", ""), values), "" if is_blank else text)


def _text(text: str, column: Table, values: Mapping[str, Any]) -> str:
    try:
        return str(fill(text, values))
    except KeyError:
        if "otherwise" not in column:
            raise
        return str(column["otherwise"])
