"""Accepted failures: a file of cases and edits that are known, reviewed as text.

An entry names a case and the text that breaks it. The gate leaves such a case out. An entry whose
case no longer breaks by this text makes the gate fail, so that the file holds only what is true.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brittle.errors import UsageError
from brittle.results import Result, has_adversary
from brittle.safety.files import check_is_file, write_whole

ACCEPTED_FILE = "accepted.toml"
HEAD = """\
# Failures that are known and accepted: the gate leaves them out. `brittle accept` adds entries.
# An entry that no longer fails makes the gate fail: delete it then.
"""
NAMES = ("case", "text", "breaks", "edits", "why")


@dataclass(frozen=True)
class AcceptedFailure:
    """A known failure: the case, its text, the text that breaks it, what was edited, and why."""

    case: str
    text: str
    breaks: str
    edits: str
    why: str

    @classmethod
    def of(cls, row: Result, why: str) -> AcceptedFailure:
        """Return the entry of a broken case."""
        edits = ", ".join(f"{edit.old} -> {edit.new}" for edit in row.edits)
        return cls(row.case, row.original, row.adversarial or "", edits, why)

    def __str__(self) -> str:
        return f"{self.case}: {self.edits}"

    def entry(self) -> str:
        """Return the entry as TOML; a string of JSON is one of TOML."""
        rows = (f"{name} = {_quoted(getattr(self, name))}" for name in NAMES)
        return "\n".join(["", "[[accepted]]", *rows, ""])


@dataclass(frozen=True)
class KnownRows:
    """The rows of a run without accepted failures, how many those are, and the unused entries."""

    others: tuple[Result, ...]
    count: int
    unused: tuple[AcceptedFailure, ...]


def split_accepted(rows: Sequence[Result], accepted: Sequence[AcceptedFailure]) -> KnownRows:
    """Split off the rows of accepted failures: the same case, broken by the same text."""
    known = {(entry.case, entry.breaks) for entry in accepted}
    failing = {(row.case, row.adversarial) for row in rows if has_adversary(row)}
    others = tuple(
        row for row in rows if not (has_adversary(row) and (row.case, row.adversarial) in known)
    )
    unused = tuple(entry for entry in accepted if (entry.case, entry.breaks) not in failing)
    return KnownRows(others, len(rows) - len(others), unused)


def read_accepted(path: str | Path) -> list[AcceptedFailure]:
    """Read the file of accepted failures."""
    path = Path(path)
    check_is_file(path)
    if not path.exists():
        raise UsageError(f"No file of accepted failures at {path}. `brittle accept` writes one.")
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}. Mend the line that is named.") from error
    entries = table.get("accepted", [])
    if table.keys() - {"accepted"} or not isinstance(entries, list):
        raise UsageError(f"{path} holds {', '.join(table)}; expected entries [[accepted]].")
    return [_entry(path, number, entry) for number, entry in enumerate(entries, 1)]


def _entry(path: Path, number: int, entry: Any) -> AcceptedFailure:
    if not isinstance(entry, dict) or {*entry} != {*NAMES}:
        got = ", ".join(entry) if isinstance(entry, dict) else type(entry).__name__
        raise UsageError(f"Entry {number} of {path} has {got}; expected {', '.join(NAMES)}.")
    if not all(isinstance(value, str) and value.strip() for value in (entry["case"], entry["why"])):
        raise UsageError(f"Entry {number} of {path} needs a case, and a reason in `why`.")
    return AcceptedFailure(**{name: str(entry[name]) for name in NAMES})


def accept(rows: Sequence[Result], cases: Sequence[str], why: str, path: Path) -> int:
    """Add broken cases to a file, by their ids or the starts of these; return how many are new."""
    if not why.strip():
        raise UsageError("Got an empty reason; expected why this failure is accepted.")
    before = read_accepted(path) if path.exists() else []
    known = {(entry.case, entry.breaks) for entry in before}
    chosen = {row.case: AcceptedFailure.of(row, why) for row in (_case(rows, it) for it in cases)}
    added = [it for it in chosen.values() if (it.case, it.breaks) not in known]
    text = path.read_text(encoding="utf-8") if path.exists() else HEAD
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text + "".join(entry.entry() for entry in added))
    return len(added)


def _case(rows: Sequence[Result], start: str) -> Result:
    found = [row for row in rows if row.case == start]
    found = found or [row for row in rows if row.case.startswith(start)]
    if len(found) != 1:
        what = "begins several cases" if found else "is no case of this run"
        raise UsageError(f"{start!r} {what}. `brittle show RUN --all` lists them.")
    if not has_adversary(found[0]):
        raise UsageError(
            f"The case {found[0].case} is {found[0].status}, not broken: nothing to accept."
        )
    return found[0]


def _quoted(text: str) -> str:
    """Write a string of TOML: as in JSON, and characters that nobody sees are escaped."""
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(sign if sign.isprintable() else f"\\U{ord(sign):08x}" for sign in quoted)
