"""From the rows of a table to examples, with a warning for labels that nobody named.

From the rows of a table to examples, row by row: no more than one row need be in memory. Warnings
for data that counts as unlabelled though one of its columns could hold the labels.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from brittle.data.columns import (
    LABEL_NAME,
    NO_LABEL,
    Columns,
    EmptySides,
    LabelTexts,
    choose,
    is_blank,
    normalize,
)
from brittle.data.dataset import ExampleCollector, labels_of, select
from brittle.data.example import Example, frame_columns, is_frame, row_reader
from brittle.data.problems import SKIP, RowProblems, bad_table, left_out
from brittle.errors import UsageError

MAX_CLASSES = 1000
"""The largest number of labels noted while rows are read; data with more has texts as labels."""

Row = tuple[str, Mapping[str, object]]
"""The name of a row in messages, and its cells by column."""


@dataclass(frozen=True)
class ReadRows:
    """The examples of a table, their classes in alphabetical order, warnings, and what is left out.

    `left_out` is how many rows were left out, by what is wrong with them.
    """

    examples: Sequence[Example]
    labels: tuple[str, ...]
    warnings: tuple[str, ...]
    left_out: Mapping[str, int]


@dataclass
class _Rows:
    """What is known of the rows of a table while they are read."""

    columns: Columns
    collector: ExampleCollector
    sides: EmptySides
    whole: array[int]
    written: Counter[str]
    in_whole: RowProblems
    in_others: RowProblems
    blank: RowProblems
    count: int = 0

    def add(
        self, read: Callable[[str, Mapping[str, object]], Example], place: str, row: Any
    ) -> None:
        is_whole = self.sides.add(row)
        try:
            example = read(place, row)
        except UsageError as error:
            problems = self.in_whole if is_whole else self.in_others
            problems.add(_kind_of(row, self.columns), place, error)
            return
        self.collector.add(example)
        if example.label is not None and len(self.written) <= MAX_CLASSES:
            cell = row[str(self.columns.label)]
            self.written[cell if isinstance(cell, str) else example.label] += 1
        if is_whole:
            self.whole.append(self.count)
        else:
            self.blank.add("text", place, UsageError(f"{place}: the text is empty."))
        self.count += 1


def read_rows(
    where: str,
    rows: Iterable[Row],
    columns: Columns,
    *,
    bad: RowProblems | None = None,
    skip_bad: bool = False,
    about_columns: tuple[Sequence[UsageError], Sequence[str]] = ((), ()),
) -> ReadRows:
    """Build examples from rows, and warn of those with an empty side, or leave these out.

    `bad` are rows that could not be read at all. With `skip_bad`, bad rows and those with an empty
    cell are left out; otherwise the bad ones are an error at the end, for which rows count is known
    only then. `about_columns` are errors about the columns, which are then guesses, and the flags
    that name these.
    """
    read = row_reader(columns)
    problems = (RowProblems(), RowProblems(), RowProblems())
    state = _Rows(
        columns, ExampleCollector(), EmptySides(columns), array("Q"), Counter(), *problems
    )
    for place, row in rows:
        state.add(read, place, row)
    unread, sides, examples = bad or RowProblems(), state.sides, state.collector.collected()
    found = unread.join(state.in_whole)
    if not sides.are_left_out:
        found = found.join(state.in_others)
    total = sides.rows + unread.count
    errors, flags = about_columns
    if errors or (found.count and not skip_bad):
        listed = found if sides.are_left_out else found.join(state.blank)
        if not found.count:
            listed = found
        raise bad_table(
            where,
            listed,
            total,
            columns=errors,
            flags=flags,
            labels=_counts(state.written),
            can_skip=len(state.whole) > 0,
        )
    warnings, counts = sides.warnings(where), dict[str, int]()
    if sides.are_left_out or (skip_bad and len(state.whole) < state.count):
        examples = select(examples, state.whole)
    if skip_bad:
        counts = (found if sides.are_left_out else found.join(state.blank)).counts()
        warnings = () if counts and not sides.are_left_out else warnings
        warnings += (left_out(where, counts, total),) if counts else ()
    elif len(columns.text) == 1 and state.blank.count and not sides.are_left_out:
        warnings += (_empty_texts(where, state.blank, total),)
    if not len(examples):
        raise UsageError(f"{where}: every row is bad, so none is left. {warnings[-1]}")
    return _with_labels(where, examples, state, warnings, counts)


def _with_labels(
    where: str,
    examples: Sequence[Example],
    state: _Rows,
    warnings: tuple[str, ...],
    counts: Mapping[str, int],
) -> ReadRows:
    """Read labels that differ only by case as one, unless labels are texts."""
    written = state.written
    if len(written) > MAX_CLASSES or state.sides.are_left_out:
        return ReadRows(examples, labels_of(examples), warnings, counts)
    names, said = one_spelling(written)
    if any(name != own for name, own in names.items()):
        collector = ExampleCollector()
        for example in examples:
            collector.add(replace(example, label=names.get(str(example.label), example.label)))
        examples = collector.collected()
    warnings += (f"{where}: {said}",) if said else ()
    labels = labels_of(examples) if counts else tuple(sorted(set(names.values())))
    return ReadRows(examples, labels, warnings, counts)


def _counts(written: Mapping[str, int]) -> dict[str, int]:
    """Return how many rows have each label, in one spelling; {} if these are too many."""
    counts: Counter[str] = Counter()
    if len(written) <= MAX_CLASSES:
        names, _ = one_spelling(written)
        for label, count in written.items():
            counts[names[label.strip()]] += count
    return dict(counts)


def one_spelling(written: Mapping[str, int]) -> tuple[dict[str, str], str]:
    """Return for every label the spelling it is read as, and what to say of those that differ.

    Labels that differ only by case and outer blanks are one label, in its most frequent spelling.

    >>> one_spelling({"good": 2, "Good ": 1, "bad": 1})[0]
    {'good': 'good', 'Good': 'good', 'bad': 'bad'}
    """
    groups: dict[str, list[str]] = {}
    for label in written:
        groups.setdefault(normalize(label), []).append(label)
    names, lines = dict[str, str](), []
    for spellings in groups.values():
        chosen = max(spellings, key=lambda label: written[label]).strip()
        names |= {label.strip(): chosen for label in spellings}
        if len(spellings) > 1:
            listed = ", ".join(f"{label!r} ({written[label]:,})" for label in spellings)
            lines.append(f"{listed} as {chosen!r}")
    said = "labels that differ only in case or outer spaces count as one label: "
    return names, f"{said}{'; '.join(lines)}." if lines else ""


def merge_labels(examples: Sequence[Example]) -> tuple[tuple[Example, ...], tuple[str, ...]]:
    """Return examples whose labels are spelt in one way, with a line about those that were not."""
    written = Counter(example.label for example in examples if example.label is not None)
    if not written or len(written) > MAX_CLASSES or LabelTexts(written.elements()).are_texts:
        return tuple(examples), ()
    names, said = one_spelling(written)
    if not said:
        return tuple(examples), ()
    merged = (
        example if example.label is None else replace(example, label=names[example.label.strip()])
        for example in examples
    )
    return tuple(merged), (f"{said[0].upper()}{said[1:]}",)


def _kind_of(row: Mapping[str, object], columns: Columns) -> str:
    """Return the kind of problem of a row that is no example."""
    if any(row.get(name) is None for name in columns.text):
        return "text"
    if columns.label is not None:
        label = row.get(columns.label)
        if is_blank(label) or label != label:  # NaN
            return "label"
    return "value"


def _empty_texts(where: str, blank: RowProblems, rows: int) -> str:
    (problem,) = blank.sorted
    return f"{where}: {problem.line()}, of {rows:,}. They count as skipped; {SKIP} leaves them out."


MIN_WORDS_OF_TEXT = 2.0
"""A column whose cells have fewer words on average is not chosen as the text."""


def guess_columns(
    where: str,
    available: Sequence[str],
    values_of: Callable[[str], Iterable[object]],
    text: Sequence[str] | None,
    label: str | None,
) -> tuple[Columns | None, list[UsageError], list[str]]:
    """Guess the columns that the user probably means, where those that were named are not there.

    Return the guess or None, the errors about columns, all of them, and the flags that name the
    guess.
    """
    values = {name: list(islice(values_of(name), MAX_ROWS_LOOKED_AT)) for name in available}
    errors: list[UsageError] = []
    flags: list[str] = []
    try:
        texts = choose(where, available, text, NO_LABEL).text
    except UsageError as error:
        errors.append(error)
        longest = max(available, key=lambda name: _mean_words(values[name]))
        is_text = _mean_words(values[longest]) >= MIN_WORDS_OF_TEXT
        texts = (longest,) if is_text and len(text or ()) < 2 else ()
        flags += ["--text", longest] if texts else []
    try:
        labels = choose(where, available, texts or [available[0]], label).label
    except UsageError as error:
        errors.append(error)
        labels = None
    if labels is None and label != NO_LABEL:
        others = [name for name in available if name not in texts]
        possible = [name for name in others if could_be_label(name, values[name])]
        labels = possible[0] if possible else None
        flags += ["--label", labels] if labels else []
    return (Columns(texts, labels) if texts else None), errors, flags


def _mean_words(values: Sequence[object]) -> float:
    counts = [len(value.split()) for value in values if isinstance(value, str)]
    return sum(counts) / len(counts) if counts else 0.0


USUAL_NAMES = {
    *("label", "labels", "sentiment", "class", "classes", "category", "categories", "target", "y"),
    *("gold", "polarity", "topic", "intent", "emotion", "stars", "rating", "score", "spam"),
    *("toxic", "language", "lang"),
}
MAX_LABEL_VALUES = 20
MIN_ROWS_PER_CLASS = 10  # of a column that only its few values make a possible label
MAX_VALUE_CHARACTERS = 40
MAX_ROWS_LOOKED_AT = 1000
MAX_COLUMNS_SHOWN, MAX_VALUES_SHOWN = 3, 4


def unused_labels(
    where: str,
    columns: Columns,
    available: Iterable[str],
    values_of: Callable[[str], Iterable[object]],
) -> tuple[str, ...]:
    """Warn if there is no label column, but another column that could be it."""
    if columns.label is not None:
        return ()
    unused = [name for name in available if name not in columns.text]
    possible = _describe_possible(
        {name: list(islice(values_of(name), MAX_ROWS_LOOKED_AT)) for name in unused}
    )
    if not possible:
        return ()
    return (
        f"{where}: there is no column {LABEL_NAME!r}, so the data counts as unlabelled "
        "and all figures compare with the target's own predictions. Are these the "
        f"labels: {possible}? If so, name the column with --label COLUMN (in Python "
        "brittle.data.load(…, label='COLUMN'), or rename it). If there are no labels, "
        "use --label ''.",
    )


def unused_labels_of(data: Any, examples: Sequence[Example]) -> tuple[str, ...]:
    """Warn likewise of examples made of Python objects: a data frame, or dicts of named fields."""
    if any(example.label is not None for example in examples):
        return ()
    if is_frame(data):
        names, columns = frame_columns(data)
        return unused_labels(f"The {type(data).__name__}", columns, names, data.__getitem__)
    values: dict[str, list[object]] = {}
    for example in examples:
        for name, value in example.fields if len(example.fields) > 1 else ():
            values.setdefault(name, []).append(value)
    possible = _describe_possible(values, by_name_only=True)
    if not possible:
        return ()
    return (
        f"The examples have no key {LABEL_NAME!r}, so they count as unlabelled, and "
        f"attacks may edit every field. Are these the labels: {possible}? If so, rename "
        f"the key to {LABEL_NAME!r}.",
    )


def could_be_label(name: str, values: Sequence[object], by_name_only: bool = False) -> bool:
    """Tell whether a column could hold labels: a usual name, or few short values that repeat.

    >>> could_be_label("Gold_Label", ["a", "b"]), could_be_label("id", ["1", "2"])
    (True, False)
    >>> could_be_label("mood", ["sad", "glad"] * 20), could_be_label("mood", ["sad", "glad"])
    (True, False)
    """
    distinct = _distinct(values)
    has_usual_name = not USUAL_NAMES.isdisjoint(re.split(r"[\W_]+", name.casefold()))
    if has_usual_name and distinct:
        return len(distinct) <= max(MAX_LABEL_VALUES, len(values) // 2)
    is_few = 2 <= len(distinct) <= min(MAX_LABEL_VALUES, len(values) // MIN_ROWS_PER_CLASS)
    return not by_name_only and is_few and max(map(len, distinct)) <= MAX_VALUE_CHARACTERS


def _describe_possible(values: dict[str, list[object]], by_name_only: bool = False) -> str:
    names = [name for name in values if could_be_label(name, values[name], by_name_only)]
    shown = []
    for name in names[:MAX_COLUMNS_SHOWN]:
        distinct = _distinct(values[name])
        more = ", …" if len(distinct) > MAX_VALUES_SHOWN else ""
        examples = [value[:MAX_VALUE_CHARACTERS] for value in distinct[:MAX_VALUES_SHOWN]]
        shown.append(f"{name!r} ({', '.join(examples)}{more})")
    return ", ".join(shown)


def _distinct(values: Sequence[object]) -> list[str]:
    """List the values that occur, as strings, in the order of their first occurrence."""
    return list(dict.fromkeys(str(value) for value in values if value is not None))
