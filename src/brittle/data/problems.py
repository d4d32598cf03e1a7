"""What is wrong with a table: all problems of a file at once, by kind, with the flags that mend it.

Reading goes on after a bad row. At the end one error lists every kind of problem, how many rows
have it and the first of them; or, with `skip_bad`, these rows are left out and counted.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from brittle.errors import UsageError
from brittle.formatting import plural

MAX_PLACES = 5
SKIP = "--skip-bad"
KINDS: Mapping[str, str] = {
    "encoding": "not UTF-8",
    "quotes": "quotation marks that do not match",
    "cells": "not as many cells as the first line",
    "json": "no JSON object",
    "text": "no text",
    "label": "no label",
    "value": "a value that cannot be used",
}
"""What is wrong with a row, by kind."""
SELF_EXPLAINED = ("text", "label")
"""Kinds for which the message about the first row adds nothing to the summary."""
_PLACE = re.compile(r"\b(line|row) (\d+)$")


@dataclass
class RowProblem:
    """The rows with one kind of problem: how many, the first ones, and the error of the first."""

    kind: str
    first: UsageError
    count: int = 0
    places: list[str] = field(default_factory=list)

    def line(self) -> str:
        """Describe the problem in a line: how many rows, what, and which are the first."""
        numbers = [match for place in self.places if (match := _PLACE.search(place))]
        where = ""
        if numbers:
            word = numbers[0][1]
            noun = word if len(numbers) == 1 else f"{word}s"
            listed = ", ".join(match[2] for match in numbers)
            where = f" ({noun} {listed}{', …' if self.count > len(numbers) else ''})"
        return f"{plural(self.count, 'rows')}: {KINDS[self.kind]}{where}"


class RowProblems:
    """Collects the problems of rows while a table is read."""

    def __init__(self) -> None:
        self.kinds: dict[str, RowProblem] = {}

    def add(self, kind: str, place: str, error: UsageError) -> None:
        """Note one row that cannot be used, and why."""
        problem = self.kinds.setdefault(kind, RowProblem(kind, error))
        problem.count += 1
        if len(problem.places) < MAX_PLACES:
            problem.places.append(place)

    def join(self, other: RowProblems) -> RowProblems:
        """Return the problems of both."""
        joined = RowProblems()
        for problem in (*self.kinds.values(), *other.kinds.values()):
            there = joined.kinds.setdefault(problem.kind, RowProblem(problem.kind, problem.first))
            there.count += problem.count
            there.places = [*there.places, *problem.places][:MAX_PLACES]
        return joined

    @property
    def count(self) -> int:
        return sum(problem.count for problem in self.kinds.values())

    @property
    def sorted(self) -> list[RowProblem]:
        """The problems in the order of `KINDS`."""
        return [self.kinds[kind] for kind in KINDS if kind in self.kinds]

    def counts(self) -> dict[str, int]:
        """Return how many rows have each kind of problem, by what is wrong."""
        return {KINDS[problem.kind]: problem.count for problem in self.sorted}


class BadTable(UsageError):
    """A table cannot be used as it is; `flags` name the columns that were probably meant.

    `problems` is the message without what mends the table, which names flags that not every
    command has. `labels` has how many rows have each label, as far as it was read.
    """

    def __init__(
        self,
        problems: str,
        remedy: str = "",
        flags: Sequence[str] = (),
        labels: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__(f"{problems}{remedy}")
        self.problems, self.remedy = problems, remedy
        self.flags = tuple(flags)
        self.labels = dict(labels or {})


def bad_table(
    where: str,
    problems: RowProblems,
    rows: int,
    *,
    columns: Sequence[UsageError] = (),
    flags: Sequence[str] = (),
    labels: Mapping[str, int] | None = None,
    can_skip: bool = True,
) -> BadTable:
    """Build the error that lists all problems of a table: of its columns and of its rows.

    `columns` are the errors about columns, `flags` those that name the right ones. If there is only
    one problem, the error is the one about it, and says what mends it.
    """
    remedy = _remedy(problems.count, list(flags), can_skip)
    first = [*columns, *(problem.first for problem in problems.sorted)]
    if len(first) == 1 and (columns or problems.count == 1):
        return BadTable(str(first[0]), f" {remedy}".rstrip(), flags, labels)
    lines = [str(error).removeprefix(f"{where}: ") for error in columns]
    for problem in problems.sorted:
        lines.append(problem.line())
        if problem.kind not in SELF_EXPLAINED:
            lines.append(f"  {str(problem.first).removeprefix(f'{where}, ')}")
    body = "\n".join(f"    {line}" if line.startswith("  ") else f"  - {line}" for line in lines)
    count = len(columns) + len(problems.kinds)
    head = f"{where}: {plural(count, 'problems')}"
    head += f" in {plural(rows, 'rows')}" if rows else ""
    return BadTable(f"{head}.\n{body}", f"\n{remedy}".rstrip(), flags, labels)


def _remedy(bad: int, flags: list[str], can_skip: bool) -> str:
    """Say what mends a table, on the command line and in Python."""
    options = [f"{flag.removeprefix('--')}={value!r}" for flag, value in _in_pairs(flags)]
    if bad and can_skip:
        what = "the bad row out" if bad == 1 else f"the {bad:,} bad rows out"
        words = " ".join(map(shlex.quote, [*flags, SKIP]))
        in_python = _in_python([*options, "skip_bad=True"])
        return f"Correct the file, or leave {what}: {words} ({in_python})."
    if not flags:
        return ""
    return f"Try {' '.join(map(shlex.quote, flags))} ({_in_python(options)})."


def _in_pairs(flags: Sequence[str]) -> Iterator[tuple[str, str]]:
    return zip(flags[::2], flags[1::2])


def _in_python(options: Sequence[str]) -> str:
    return f"in Python brittle.data.load({', '.join(['…', *options])})"


def left_out(where: str, counts: Mapping[str, int], rows: int) -> str:
    """Say how many rows were left out, and why."""
    bad = sum(counts.values())
    listed = ", ".join(f"{what}: {count:,}" for what, count in counts.items())
    return f"{where}: {bad:,} of {plural(rows, 'rows')} left out by {SKIP} ({listed})."
