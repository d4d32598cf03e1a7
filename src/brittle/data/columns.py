"""Which columns of a table are the text, which column is the label, and which are locked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from brittle.errors import UsageError, unknown

TEXT_NAMES = ("text", "sentence")
"""Names are compared without regard to case and outer blanks, here and where a user gives them."""
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
            raise UsageError(f"{where}: --text names a column twice: {', '.join(texts)}.")
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
