"""Which columns of a table are text, label and locked, and what becomes of their empty cells.

Which columns of a table are the text, which column is the label, and which are locked. Rows of
pairs with an empty side: left out if the label is a text, else warned of.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from brittle.errors import UsageError, unknown

TEXT_NAMES = ("text", "sentence")
"""Names are compared without case and outer spaces, here and in what users type."""
LABEL_NAME = "label"
NO_LABEL = ""

NAME_THE_TEXT = "Name the column of the text with --text COLUMN (several, as a pair: --text A,B)."


@dataclass(frozen=True)
class Columns:
    """The columns an example is made of."""

    text: tuple[str, ...]
    label: str | None = None
    locked: tuple[str, ...] = ()

    def field(self, column: str) -> str:
        """Return the name of the field that a column fills: the column's, without outer blanks.

        A lone text column is always "text".
        So the same sentence has the same case id, and a target gets plain strings, whatever the
        column is called.
        """
        return column.strip() if len(self.text) > 1 else "text"


def choose(
    where: str,
    available: Iterable[str],
    text: Sequence[str] | None = None,
    label: str | None = None,
    locked: Sequence[str] = (),
    remedy: str = NAME_THE_TEXT,
) -> Columns:
    """Choose the columns asked for among those available, or the usual ones.

    A label of "" takes the data as unlabelled.
    """
    names = list(available)
    if text:
        texts = tuple(_find_column(where, name, names, "--text") for name in text)
        if len(set(texts)) < len(texts):
            raise UsageError(
                f"{where}: --text has a column twice: {', '.join(texts)}. Leave one out."
            )
    else:
        usual = [name for name in TEXT_NAMES if matches(name, names)]
        if not usual:
            raise UsageError(
                f"{where}: there is no column {' or '.join(map(repr, TEXT_NAMES))}. "
                f"Columns: {_listed(names)}. {remedy}"
            )
        texts = (_find_column(where, usual[0], names, "--text"),)
    if label is None:
        others = [name for name in names if name not in texts]
        is_there = matches(LABEL_NAME, others)
        label = _find_column(where, LABEL_NAME, others, "--label") if is_there else NO_LABEL
    elif label != NO_LABEL:
        label = _find_column(where, label, names, "--label")
        if label in texts:
            raise UsageError(f"{where}: the column {label!r} cannot be both text and label.")
    locked_texts = []
    for name in locked:
        if not matches(name, texts):
            raise unknown("locked field", name, texts, "Only a text column can be locked.")
        locked_texts += matches(name, texts)
    return Columns(texts, label or None, tuple(locked_texts))


def matches(name: str, names: Sequence[str]) -> list[str]:
    """List the columns that a name means: those spelt so, else those that differ in case or blanks.

    >>> matches("label", ["text", " Label"]), matches("label", ["Label", "label"])
    ([' Label'], ['label'])
    """
    exact = [column for column in names if column == name]
    return exact or [column for column in names if normalize(column) == normalize(name)]


def normalize(name: str) -> str:
    """Return a column's name in lower case, without outer blanks."""
    return name.strip().casefold()


def _find_column(where: str, name: str, names: list[str], flag: str) -> str:
    found = matches(name, names)
    if not found:
        raise unknown(f"column of {where}:", name, names, f"({flag} takes a column's name.)")
    if len(found) > 1:
        spelt = "" if found[0] == found[-1] == name else f" ({_listed(found)})"
        raise UsageError(
            f"{where}: {len(found)} columns are called {name!r}{spelt}. Rename all but one."
        )
    return found[0]


def _listed(names: list[str], limit: int = 20) -> str:
    listed = ", ".join(repr(name[:60]) for name in names[:limit])
    return listed + (f" and {len(names) - limit} more" if len(names) > limit else "")


MIN_WORDS = 3
"""The label column holds texts, not classes, if half of its labels have this many words."""


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
                f"{where}: {self.rows - self.whole:,} of {self.rows:,} rows have an empty "
                f"side ({self._count_blank(sides)}) and are left out. Fill them in to "
                "include them.",
            )
        if self._have_texts or len(text) < 2 or not self.halved:
            return ()
        return (
            f"{where}: {self.halved:,} of {self.rows:,} rows have an empty side "
            f"({self._count_blank(text)}). They are kept, but a label means little for "
            "half a pair: fill them in, or leave these rows out.",
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
