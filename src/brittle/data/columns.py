"""Which columns of a table are the text, which one is the label, and which are locked."""

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
        """The name of the field a column fills: a lone text column is always "text".

        So a sentence has one case id, and a target sees plain strings, whatever its column is
        called.
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
    """Find the columns asked for among those available, or the usual ones.

    A label of "" means that the data is to be taken as unlabelled.
    """
    names = list(available)
    if text:
        chosen = tuple(_present(where, name, names, "--text") for name in text)
        if len(set(chosen)) < len(chosen):
            raise UsageError(f"{where}: --text names a column twice: {', '.join(chosen)}.")
    else:
        usual = [name for name in TEXT_NAMES if name in names]
        if not usual:
            raise UsageError(
                f"{where}: there is no column {' or '.join(map(repr, TEXT_NAMES))}. "
                f"Columns: {_listed(names)}. {remedy}"
            )
        chosen = (_present(where, usual[0], names, "--text"),)
    if label is None:
        label = LABEL_NAME if LABEL_NAME in names and LABEL_NAME not in chosen else NO_LABEL
    if label != NO_LABEL:
        _present(where, label, names, "--label")
        if label in chosen:
            raise UsageError(f"{where}: the column {label!r} cannot be both text and label.")
    for name in locked:
        if name not in chosen:
            raise unknown("locked field", name, chosen, "Only a text column can be locked.")
    return Columns(chosen, label or None, tuple(locked))


def _present(where: str, name: str, names: list[str], flag: str) -> str:
    if name not in names:
        raise unknown(f"column of {where}:", name, names, f"({flag} takes a column's name.)")
    if names.count(name) > 1:
        raise UsageError(
            f"{where}: {names.count(name)} columns are called {name!r}. Rename all but one."
        )
    return name


def _listed(names: list[str], most: int = 20) -> str:
    shown = ", ".join(repr(name[:60]) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")
