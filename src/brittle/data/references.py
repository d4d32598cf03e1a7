"""Rows of pairs with an empty side: left out if the label is a text, else warned of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from brittle.data.columns import Columns

Rows = Sequence[tuple[str, Mapping[str, object]]]

MIN_WORDS = 3
"""The label column holds texts, not classes, if half of its labels have as many words."""


def without_empty_sides(where: str, rows: Rows, columns: Columns) -> tuple[Rows, tuple[str, ...]]:
    """Return the rows of a pairs file that have all their sides, and a warning if not all have.

    Rows whose labels are classes are returned as they are, with a warning if they are pairs of
    which one side is empty; so are rows of which none is whole.
    """
    if columns.label is None or not holds_texts([row.get(columns.label) for _, row in rows]):
        return rows, _empty_fields(where, rows, columns.text)
    sides = (*columns.text, columns.label)
    whole = [pair for pair in rows if not any(is_blank(pair[1].get(name)) for name in sides)]
    if not whole or len(whole) == len(rows):
        return rows, ()
    return whole, (
        f"{where}: {len(rows) - len(whole):,} of {len(rows):,} rows have an empty side "
        f"({_count_blank(rows, sides)}) and are left out. Fill them in if they should count.",
    )


def _empty_fields(where: str, rows: Rows, fields: Sequence[str]) -> tuple[str, ...]:
    """Warn of pairs, such as premise and hypothesis, of which one side is empty."""
    count = sum(any(is_blank(row.get(name)) for name in fields) for _, row in rows)
    if len(fields) < 2 or not count:
        return ()
    return (
        f"{where}: {count:,} of {len(rows):,} rows have an empty side "
        f"({_count_blank(rows, fields)}). They are read as they are, though a label says little of "
        "half a pair: fill them in, or leave these rows out.",
    )


def _count_blank(rows: Rows, sides: Sequence[str]) -> str:
    blank = {name: sum(is_blank(row.get(name)) for _, row in rows) for name in sides}
    return ", ".join(f"{count:,} without {name!r}" for name, count in blank.items() if count)


def holds_texts(labels: Sequence[object]) -> bool:
    """Tell whether labels are texts, such as translations: words, and mostly different ones.

    >>> holds_texts(["Ein Mann geht.", "", "Zwei Hunde schlafen hier."])
    True
    >>> holds_texts(["very good film"] * 5), holds_texts(["good", "bad"]), holds_texts([1, 2])
    (False, False, False)
    """
    texts = [label for label in labels if isinstance(label, str) and label.strip()]
    if not texts or 2 * len(set(texts)) <= len(texts):
        return False
    return median(len(text.split()) for text in texts) >= MIN_WORDS


def is_blank(value: object) -> bool:
    """Tell whether a cell is empty."""
    return value is None or (isinstance(value, str) and not value.strip())
