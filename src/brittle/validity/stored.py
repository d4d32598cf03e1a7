"""What was measured of a run, as the plain data that its file keeps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol, TypeVar

from brittle.errors import UsageError
from brittle.results import Result
from brittle.schema import Malformed, parse
from brittle.validity.figures import Floors, Validity

VALIDITY, FLOORS, JUDGEMENTS = "validity", "floors", "judgements"
"""The names of what is measured of a run after it was made."""
M = TypeVar("M", Validity, Floors)


class Rechecked(Protocol):
    """An adversary that the target was asked about again."""

    @property
    def row(self) -> Result: ...

    @property
    def still_wins(self) -> bool: ...


class MeasuredRun(Protocol):
    """A stored run, as what measures its validity sees it."""

    @property
    def name(self) -> str: ...

    @property
    def path(self) -> Path: ...

    @property
    def manifest(self) -> dict[str, Any]: ...

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the fields of its examples."""
        ...

    @property
    def shape(self) -> tuple[int, int, int] | None:
        """The height, width and channels of its pictures."""
        ...

    def results(self) -> list[Result]: ...

    def measured(self, name: str) -> dict[str, Any]:
        """Return what was measured of it before; {} if nothing was."""
        ...

    def keep_measured(self, name: str, value: Mapping[str, Any]) -> None: ...

    def recheck(self, target: Any, rows: Sequence[Result]) -> Iterator[Rechecked]:
        """Ask a target again about the adversaries of rows."""
        ...


def as_stored(measured: Validity | Floors) -> dict[str, Any]:
    """Return what was measured as plain data."""
    return asdict(measured)


def restore_validity(content: Mapping[str, Any]) -> Validity | None:
    """Return the validity that a run keeps; None if nobody has measured it."""
    return _restored(Validity, content)


def restore_floors(content: Mapping[str, Any]) -> Floors | None:
    """Return the floors that a run keeps; None if they were not measured."""
    return _restored(Floors, content)


def _restored(kind: type[M], content: Mapping[str, Any]) -> M | None:
    try:
        return parse(kind, content) if content else None
    except Malformed as error:
        raise UsageError(
            f"The {kind.__name__.lower()} that the run keeps cannot be read: {error}. It is "
            "damaged, or of another version. Measure it again: brittle validity."
        ) from error
