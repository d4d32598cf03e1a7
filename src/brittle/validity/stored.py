"""What was measured of a run, as the plain data that its file keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, TypeVar

from brittle.errors import UsageError
from brittle.schema import Malformed, parse
from brittle.validity.floors import Floors
from brittle.validity.verdicts import Validity

M = TypeVar("M", Validity, Floors)


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
