"""The tasks about pictures: their names, how much is done at each scale, and what needs what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from brittle.papers.request import PaperRequest
from brittle.workflow.tasks import Task


@dataclass(frozen=True)
class Scale:
    """How much is done with pictures."""

    size: str


SCALES: Mapping[str, Scale] = {
    "tiny": Scale("tiny"),
    "small": Scale("default"),
    "full": Scale("paper"),
}


def tasks(request: PaperRequest, scale: Scale) -> list[Task]:
    """List the tasks about pictures."""
    return []
