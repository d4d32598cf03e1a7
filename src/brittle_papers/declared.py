"""What paper.toml declares: claims that a rule judges, and the tables of a page.

Claims that are judged by data: paper.toml names a rule, and the figure that it is about.

    rule = "above"                  # or below, within, near
    bound = 0.9                     # 0 without it; for `near` what is `expected`, with a `margin`
    figure = { is = "success_at", attack = "beam" }

A figure is a method of the paper's results (`is`) with its arguments. With `each` a claim is about
several figures, each by its name (`named`); `figures` is a method that returns several by name, and
if it returns none, the claim is undecided, and `nothing` says why. The evidence is the figure that
supports the claim least; or with it how many agree (`evidence = "counted"`); or all of them
(`evidence = "all"`), and then `holds = "mostly"` asks for more than half of them. A claim without a
rule has a judge in Python. `is_check` marks what holds by construction, and so is a check of our
code; `not_testable` says why the models and data at hand cannot test a claim.

Tables of a page that are data: paper.toml has their rows and columns.

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

from brittle.errors import unknown
from brittle.metrics.paired import Contrast
from brittle.metrics.summary import Figure
from brittle_papers.claims import (
    FORMATS,
    Finding,
    Judge,
    JudgedClaim,
    Rule,
    above,
    altogether,
    below,
    judge,
    judge_all,
    judge_each,
    judge_near,
    mostly,
    verdict_of,
    within,
)
from brittle_papers.page import PaperPage, Row, TableCell
from brittle_papers.results import PaperResults
from brittle_papers.spec import Table, expand, fill, merge

RULES: Mapping[str, Rule] = {"above": above, "below": below, "within": within}


def figure_of(call: Table, results: PaperResults, values: Mapping[str, Any]) -> Any:
    """Return the figure that paper.toml names: a method of the results, with arguments."""
    arguments = fill(call, values)
    figure = read_from(results, arguments.pop("is"))
    return figure(**arguments) if callable(figure) else figure


def read_from(results: PaperResults, path: str) -> Any:
    """Return a method or property of the results, or (a.b) of one of their parts."""
    part: Any = results
    for name in path.split("."):
        if name.startswith("_") or not hasattr(part, name):
            known = [other for other in dir(part) if not other.startswith("_")]
            raise unknown("figure in paper.toml", path, known)
        part = getattr(part, name)
    return part


def judge_claims(
    results: PaperResults, claims: Mapping[str, Table], judges: Mapping[str, Judge[Any]]
) -> list[Finding]:
    """Judge the claims of a paper; those whose tasks were not run are left out."""
    findings = []
    for key, claim in claims.items():
        judgement = judgement_of(key, claim, results, judges)
        if judgement is not None:
            tests, is_check = tuple(claim.get("tests", ())), claim.get("is_check", False)
            if "not_testable" in claim:
                evidence = f"{judgement.evidence}; not testable here, {claim['not_testable']}"
                judgement = JudgedClaim("not testable", evidence)
            findings.append(Finding(key, claim["text"], *judgement, tests, is_check))
    return findings


def judgement_of(
    key: str, claim: Table, results: PaperResults, judges: Mapping[str, Judge[Any]]
) -> JudgedClaim | None:
    """Judge a claim in Python, or by the rule and the figures that it names.

    None if a task that it needs was not run, or there is no figure.
    """
    if claim.get("when") not in (None, *results.results):
        return None
    if key in judges:
        return judges[key](results)
    if "figure" in claim and "each" not in claim:
        figure = figure_of(claim["figure"], results, {})
        return None if figure is None else _judge_one(claim, figure)
    figures = _several(claim, results)
    return None if figures is None else _judge_several(claim, figures)


def _several(claim: Table, results: PaperResults) -> Mapping[str, Any] | None:
    """Return the figures of a claim about several: those of `each`, or a method's own."""
    if "figures" in claim:
        own: Mapping[str, Any] | None = figure_of(claim["figures"], results, {})
        return own
    figures = {
        fill(claim["named"], values): figure_of(merge(claim["figure"], changes), results, values)
        for values, changes in expand(claim["each"], _axes_of(claim, results))
    }
    return {name: figure for name, figure in figures.items() if figure is not None} or None


def _judge_several(claim: Table, figures: Mapping[str, Any]) -> JudgedClaim:
    rule, bound = RULES[claim["rule"]], claim.get("bound", 0.0)
    if not figures:
        return JudgedClaim("undecided", claim["nothing"])
    if claim.get("evidence") == "counted":
        return judge_each(rule, figures, bound)
    if claim.get("evidence") != "all":
        return judge_all(rule, figures)
    of_all = mostly if claim.get("holds") == "mostly" else altogether
    verdict = of_all([verdict_of(rule, figure, bound) for figure in figures.values()])
    text = FORMATS[claim.get("format", "value")]
    return JudgedClaim(verdict, "; ".join(f"{name} {text(f)}" for name, f in figures.items()))


def _axes_of(claim: Table, results: PaperResults) -> Mapping[str, Any]:
    """Return what axes may name as $NAME: a property of the results."""
    axes = [axis[1:] for axis in claim["each"].values() if isinstance(axis, str)]
    return {axis: read_from(results, axis) for axis in axes}


def _judge_one(claim: Table, figure: Figure | Contrast) -> JudgedClaim:
    if claim["rule"] == "near":
        assert isinstance(figure, Figure)
        verdict, evidence = judge_near(figure, claim["expected"], claim["margin"])
    else:
        verdict, evidence = judge(RULES[claim["rule"]], figure, claim.get("bound", 0.0))
    if "format" in claim:
        evidence = FORMATS[claim["format"]](figure)
    return JudgedClaim(verdict, claim.get("evidence", "{}").format(evidence))


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
