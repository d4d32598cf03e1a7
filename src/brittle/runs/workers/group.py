"""What a driver needs of the place where its workers live."""

from __future__ import annotations

from typing import Any, Protocol

from brittle.runs.workers.messages import Died, Report


class WorkerGroup(Protocol):
    """Where workers live; they are numbered."""

    def start(self, number: int) -> None:
        """Start a worker, or one more in place of a dead one."""
        ...

    def send(self, number: int, message: Any) -> None:
        """Send a message; one to a worker that is gone is lost."""
        ...

    def wait(self, seconds: float) -> list[tuple[int, Report | Died]]:
        """Wait until workers have sent something, or for so many seconds."""
        ...

    def close(self) -> None:
        """End all workers."""
        ...
