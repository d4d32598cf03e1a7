"""The file next to a run that keeps what was seen inside its target: NAME.inside.json.

A case is computed once. One that the run no longer has, or has with other texts, is left out.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Protocol

from brittle.errors import UsageError
from brittle.inside import inside_path
from brittle.inside.looking import BrokenRun, look_inside, texts_of, words_in
from brittle.inside.measures import InsideCase, InsideRun, inside_json
from brittle.inside.section import inside_section, unreadable_section
from brittle.reports.page import Section, still_page
from brittle.results import Result, has_adversary
from brittle.safety.files import write_whole
from brittle.safety.schema import Malformed, load_json, parse

LAYOUT = 1


class RunWithFile(BrokenRun, Protocol):
    """What is needed of a run: its rows, and its file."""

    @property
    def path(self) -> Path: ...


def looked_at(run: RunWithFile, target: Any, rows: Sequence[Result], layer: str) -> InsideRun:
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


def fitting(inside: InsideRun, run: BrokenRun) -> InsideRun:
    """Keep the cases that are about the texts of this run, which may have been made anew."""
    rows = {row.case: row for row in run.results() if has_adversary(row)}
    cases = [
        case
        for case in inside.cases
        if case.case in rows
        and tuple(map(words_in, texts_of(run, rows[case.case])))
        == (case.before.words, case.after.words)
    ]
    return replace(inside, run=run.name, cases=tuple(cases))


def inside_sections(run: RunWithFile) -> list[Section]:
    """Return the report's section on what was seen inside the target, if there is a file."""
    path = inside_path(run.path)
    if not path.exists():
        return []
    try:
        inside = fitting(load_inside(path), run)
    except UsageError as error:
        return [unreadable_section(str(error))]
    return [inside_section(inside)] if inside.cases else []


def check_name(out: Path, shown: str) -> None:
    """Refuse the name of a file of which nobody knows what it is to hold."""
    if out.suffix not in (".html", ".json"):
        raise UsageError(f"Got --out {shown}; expected a file that ends in .html or .json.")


def write_inside(inside: InsideRun, out: Path) -> None:
    """Write what was seen as a page, or as the figures in JSON."""
    text = json.dumps(inside_json(inside), indent=2, ensure_ascii=False) + "\n"
    if out.suffix == ".html":
        text = still_page(f"{inside.run}: inside", [inside_section(inside)])
    out.parent.mkdir(parents=True, exist_ok=True)
    write_whole(out, text, errors="replace")


def save_inside(inside: InsideRun, path: Path) -> None:
    """Write the file, whole or not at all."""
    content = json.dumps({"layout": LAYOUT, **asdict(inside)}, ensure_ascii=False)
    write_whole(path, f"{content}\n", private=True)


def load_inside(path: Path) -> InsideRun:
    """Load the file; one that is damaged or of another layout is refused by name."""
    try:
        content = load_json(path)
        if not isinstance(content, dict) or content.pop("layout", None) != LAYOUT:
            raise Malformed(f"a file with layout {LAYOUT}", content)
        inside = parse(InsideRun, content)
        for number, case in enumerate(inside.cases):
            _check(case, len(inside.layers), f"cases.{number}")
    except Malformed as error:
        raise UsageError(
            f"Cannot read {path.name!r}: {error}. Delete it, then repeat: brittle show "
            f"{path.name.removesuffix('.inside.json')} --inside"
        ) from error
    return inside


def _check(case: InsideCase, layers: int, field: str) -> None:
    """Refuse a case whose parts do not fit together."""
    before, after = len(case.before.words), len(case.after.words)
    if [len(layer) for layer in case.changes] != [len(case.pairs)] * layers:
        raise Malformed(f"{layers} layers of {len(case.pairs)} words", case.changes, field)
    if any(not (0 <= old < before and 0 <= new < after) for old, new in case.pairs):
        raise Malformed("positions in the texts", case.pairs, f"{field}.pairs")
    if any(not 0 <= position < after for position in case.edited):
        raise Malformed("positions in the text", case.edited, f"{field}.edited")
    for name, text in (("before", case.before), ("after", case.after)):
        rows = [text.summary, *(text.weights or ())]
        if any(row is not None and len(row) != len(text.words) for row in rows):
            raise Malformed(f"rows of {len(text.words)} words", rows, f"{field}.{name}")
