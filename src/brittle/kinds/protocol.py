"""What a kind of items must say of itself; apart from it, only reports and tables ask for it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from brittle.edits import Edit
from brittle.results import Result


@dataclass(frozen=True)
class Changes:
    """What changed between two items: edits or none, the changed item as a string, how much.

    `measures` names fields of `Result`: words_changed, l2 …
    """

    edits: tuple[Edit, ...]
    adversarial: str
    measures: Mapping[str, Any]


class Kind(Protocol):
    """A kind of items.

    `largest` is the size above which a case is skipped, None if there is no bound. `measures` are
    the fields of `Result` that say how much changed; of the other kinds they stay empty.
    """

    @property
    def name(self) -> str: ...

    @property
    def largest(self) -> int | None: ...

    @property
    def measures(self) -> tuple[str, ...]: ...

    def item(self, fields: Mapping[str, str], locked: Collection[str] = ()) -> Any:
        """Build the item of an example from its fields."""
        ...

    def original(self, item: Any) -> tuple[tuple[tuple[str, str], ...], str]:
        """Return an item's fields, and all of it as one string, as they stand in a row."""
        ...

    def joined(self, fields: Sequence[tuple[str, str]]) -> str:
        """Return stored fields as the one string of a row; ValueError if no item has them."""
        ...

    def changes(self, original: Any, changed: Any) -> Changes:
        """Say what changed between two items, and how much."""
        ...

    def edits(self, original: Any, changed: Any) -> tuple[Edit, ...]:
        """Return the edits alone, for the steps of a search; () where there are none."""
        ...

    def stored(self, result: Result) -> Any:
        """Return what is kept in a file, as JSON, to build the changed item again."""
        ...

    def restored(
        self, fields: Sequence[tuple[str, str]], stored: Any
    ) -> tuple[tuple[Edit, ...], str]:
        """Return the edits and the changed item as a string; ValueError if they do not fit."""
        ...

    def adversary(self, result: Result, locked: Collection[str] = ()) -> Any:
        """Build the changed item of a row."""
        ...
