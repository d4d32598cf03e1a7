"""What a report needs of a run: what is stored, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from brittle.results import Result, Step
from brittle.validity.figures import Floors, Validity


class StoredRun(Protocol):
    """A run as it was stored, finished or not."""

    @property
    def name(self) -> str: ...

    @property
    def manifest(self) -> Mapping[str, Any]: ...

    @property
    def totals(self) -> Mapping[str, float]: ...

    @property
    def stored_validity(self) -> Validity | None: ...

    @property
    def stored_floors(self) -> Floors | None: ...

    @property
    def command(self) -> str | None: ...

    @property
    def try_command(self) -> str | None: ...

    def measured(self, name: str) -> Mapping[str, Any]: ...

    def as_stored(self) -> StoredRun:
        """Return the run with its rows as they are stored: nothing is measured for them."""
        ...

    def results(self) -> list[Result]: ...

    def steps(self) -> list[Step]: ...
