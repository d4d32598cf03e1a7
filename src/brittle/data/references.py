"""Rows of pairs with an empty side: left out if the label is a text, else warned of."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from statistics import median

import numpy as np

from brittle.data.columns import Columns

MIN_WORDS = 3
"""The label column holds texts, not classes, if half of its labels have as many words."""


class EmptySides:
    """Counts, row by row, the sides of a table that are empty.

    Rows whose labels are classes are kept, with a warning if they are pairs of which one side is
    empty. Where labels are texts, rows with an empty side are left out, unless none is whole.
    """

    def __init__(self, columns: Columns) -> None:
        self.columns = columns
        self.labels = LabelTexts()
        self.rows = self.whole = self.halved = 0
        self.blank: Counter[str] = Counter()

    def add(self, row: Mapping[str, object]) -> bool:
        """Count a row; tell whether it has all its sides."""
        columns = self.columns
        blank = [name for name in columns.text if is_blank(row.get(name))]
        self.rows += 1
        self.halved += bool(blank)
        if columns.label is not None:
            label = row.get(columns.label)
            self.labels.add(label)
            if is_blank(label):
                blank.append(columns.label)
        if blank:
            self.blank.update(blank)
            return False
        self.whole += 1
        return True

    @property
    def are_left_out(self) -> bool:
        """Whether the rows with an empty side are left out."""
        return 0 < self.whole < self.rows and self._have_texts

    @property
    def _have_texts(self) -> bool:
        return self.columns.label is not None and self.labels.are_texts

    def warnings(self, where: str) -> tuple[str, ...]:
        """Warn of what is left out, and of pairs of which one side is empty."""
        text = self.columns.text
        if self.are_left_out:
            sides = (*text, str(self.columns.label))
            return (
                f"{where}: {self.rows - self.whole:,} of {self.rows:,} rows have an empty side "
                f"({self._count_blank(sides)}) and are left out. Fill them in if they should "
                "count.",
            )
        if self._have_texts or len(text) < 2 or not self.halved:
            return ()
        return (
            f"{where}: {self.halved:,} of {self.rows:,} rows have an empty side "
            f"({self._count_blank(text)}). They are read as they are, though a label says little "
            "of half a pair: fill them in, or leave these rows out.",
        )

    def _count_blank(self, sides: Sequence[str]) -> str:
        counts = [(self.blank[name], name) for name in sides if self.blank[name]]
        return ", ".join(f"{count:,} without {name!r}" for count, name in counts)


class LabelTexts:
    """Tells whether labels are texts, such as translations: words, and mostly different ones.

    >>> LabelTexts(["Ein Mann geht.", "", "Zwei Hunde schlafen hier."]).are_texts
    True
    >>> LabelTexts(["very good film"] * 5).are_texts, LabelTexts(["good", "bad"]).are_texts
    (False, False)
    >>> LabelTexts([1, 2]).are_texts
    False
    """

    def __init__(self, labels: Iterable[object] = ()) -> None:
        # A million translations take 100 MB; their hashes tell them apart as well.
        self.hashes, self.words = array("q"), array("L")
        for label in labels:
            self.add(label)

    def add(self, label: object) -> None:
        if isinstance(label, str) and label.strip():
            self.hashes.append(hash(label))
            self.words.append(len(label.split()))

    @property
    def are_texts(self) -> bool:
        if not self.hashes or 2 * len(np.unique(self.hashes)) <= len(self.hashes):
            return False
        return median(self.words) >= MIN_WORDS


def is_blank(value: object) -> bool:
    """Tell whether a cell is empty."""
    return value is None or (isinstance(value, str) and not value.strip())
