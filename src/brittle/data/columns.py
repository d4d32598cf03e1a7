"""Which columns of a table are the text, which column is the label, and which are locked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from brittle.errors import UsageError, unknown

TEXT_NAMES = ("text", "sentence")
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
        """Return the name of the field that a column fills; a lone text column is always "text".

        So the same sentence has the same case id, and a target gets plain strings, whatever the
        column is called.
        """
        return column if len(self.text) > 1 else "text"


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
        texts = tuple(_check_column(where, name, names, "--text") for name in text)
        if len(set(texts)) < len(texts):
            raise UsageError(f"{where}: --text names a column twice: {', '.join(texts)}.")
    else:
        usual = [name for name in TEXT_NAMES if name in names]
        if not usual:
            raise UsageError(
                f"{where}: there is no column {' or '.join(map(repr, TEXT_NAMES))}. "
                f"Columns: {_listed(names)}. {remedy}"
            )
        texts = (_check_column(where, usual[0], names, "--text"),)
    if label is None:
        label = LABEL_NAME if LABEL_NAME in names and LABEL_NAME not in texts else NO_LABEL
    if label != NO_LABEL:
        _check_column(where, label, names, "--label")
        if label in texts:
            raise UsageError(f"{where}: the column {label!r} cannot be both text and label.")
    for name in locked:
        if name not in texts:
            raise unknown("locked field", name, texts, "Only a text column can be locked.")
    return Columns(texts, label or None, tuple(locked))


def _check_column(where: str, name: str, names: list[str], flag: str) -> str:
    if name not in names:
        raise unknown(f"column of {where}:", name, names, f"({flag} takes a column's name.)")
    if names.count(name) > 1:
        raise UsageError(
            f"{where}: {names.count(name)} columns are called {name!r}. Rename all but one."
        )
    return name


def _listed(names: list[str], limit: int = 20) -> str:
    listed = ", ".join(repr(name[:60]) for name in names[:limit])
    return listed + (f" and {len(names) - limit} more" if len(names) > limit else "")
