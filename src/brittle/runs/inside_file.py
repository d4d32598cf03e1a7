"""The file beside a run that keeps what was seen inside its target: NAME.inside.json.

A case is computed once; one that the run no longer has, or has with other texts, is left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Protocol

from brittle.errors import UsageError
from brittle.files import DAMAGED, write_whole
from brittle.metrics.inside import AttendedText, InsideCase, InsideRun
from brittle.results import Result
from brittle.runs.inside import Rows, look_inside, texts_of, words_in

LAYOUT = 1


class StoredRows(Rows, Protocol):
    """What is needed of a run: its rows, and its file."""

    @property
    def path(self) -> Path: ...


def looked_at(run: StoredRows, target: Any, rows: Sequence[Result], layer: str) -> InsideRun:
    """Return what the target shows of cases; those not yet in the file are computed and added."""
    path, known = inside_path(run.path), None
    with suppress(UsageError, FileNotFoundError):  # a damaged file is written anew
        known = fitting(load_inside(path), run)
    is_same = known is not None and (known.fingerprint, known.attention) == (
        target.fingerprint,
        layer,
    )
    cases = {case.case: case for case in known.cases} if known and is_same else {}
    lacking = [row for row in rows if row.case not in cases]
    if lacking or not known:
        looked = look_inside(run, target, lacking, layer)
        cases |= {case.case: case for case in looked.cases}
        known = replace(looked, cases=tuple(cases.values()))
        save_inside(known, path)
    return replace(known, cases=tuple(cases[row.case] for row in rows))


def fitting(inside: InsideRun, run: Rows) -> InsideRun:
    """Keep the cases that are about the texts of this run, which may have been made anew."""
    rows = {row.case: row for row in run.results() if row.status == "broken" and row.adversarial}
    cases = [
        case
        for case in inside.cases
        if case.case in rows
        and tuple(map(words_in, texts_of(run, rows[case.case])))
        == (case.before.words, case.after.words)
    ]
    return replace(inside, run=run.name, cases=tuple(cases))


def inside_sections(run: StoredRows) -> list[str]:
    """Return the report's section on what was seen inside the target, if there is a file."""
    from brittle.reports.inside import inside_section, unreadable_section

    path = inside_path(run.path)
    if not path.exists():
        return []
    try:
        inside = fitting(load_inside(path), run)
    except UsageError as error:
        return [unreadable_section(str(error))]
    return [inside_section(inside)] if inside.cases else []


def inside_path(run: Path) -> Path:
    """Return the path of the file that belongs to the file of a run."""
    return run.with_suffix(".inside.json")


def save_inside(inside: InsideRun, path: Path) -> None:
    """Write the file, whole or not at all."""
    write_whole(path, json.dumps({"layout": LAYOUT, **asdict(inside)}, ensure_ascii=False) + "\n")


def load_inside(path: Path) -> InsideRun:
    """Load the file; one that is damaged or of another layout is refused by name."""
    try:
        content = json.loads(path.read_text("utf-8"))
        reason = f"its layout is {content['layout']!r}, expected {LAYOUT}"
        if content["layout"] == LAYOUT:
            return _parse(content)
    except DAMAGED:
        reason = "it is damaged"
    raise UsageError(
        f"Cannot read {path.name!r}: {reason}. Delete it, and look again: brittle inside "
        f"{path.name.removesuffix('.inside.json')}"
    )


def _parse(content: Mapping[str, Any]) -> InsideRun:
    run, target, fingerprint, attention = (
        str(content[name]) for name in ("run", "target", "fingerprint", "attention")
    )
    cases = tuple(map(_case, content["cases"]))
    layers, notes = (tuple(map(str, content[name])) for name in ("layers", "notes"))
    if any(len(case.changes) != len(layers) for case in cases):
        raise TypeError("a case has other layers than its run")
    return InsideRun(run, target, fingerprint, attention, layers, notes, cases)


def _case(row: Mapping[str, Any]) -> InsideCase:
    pairs = tuple((int(old), int(new)) for old, new in row["pairs"])
    changes = tuple(
        tuple(None if value is None else float(value) for value in layer)
        for layer in row["changes"]
    )
    before, after = _text(row["before"]), _text(row["after"])
    relative = row["relative"]
    if any(len(layer) != len(pairs) for layer in changes):
        raise TypeError("a layer has other words than the case")
    if any(old >= len(before.words) or new >= len(after.words) for old, new in pairs):
        raise TypeError("a position is outside of the text")
    edited = tuple(map(int, row["edited"]))
    relative = None if relative is None else float(relative)
    return InsideCase(str(row["case"]), before, after, pairs, edited, changes, relative)


def _text(row: Mapping[str, Any]) -> AttendedText:
    words, summary, rest = tuple(map(str, row["words"])), row["summary"], row["elsewhere"]
    weights = row["weights"]
    rows = [summary, *(weights or ())]
    if any(values is not None and len(values) != len(words) for values in rows):
        raise TypeError("a row has other words than the text")
    return AttendedText(
        words,
        None if summary is None else tuple(map(float, summary)),
        None if rest is None else float(rest),
        None if weights is None else tuple(tuple(map(float, values)) for values in weights),
    )
