"""What is asked for when a paper is set beside our figures, and what a paper must offer."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brittle.papers.page import Page
from brittle.workflow.tasks import Task


@dataclass(frozen=True)
class PaperRequest:
    """Which paper, how large, and on what; `cases` is how many are attacked in every cell."""

    paper: str
    scale: str
    data: str
    words: str | None = None
    cases: int | None = None
    seed: int = 0

    def command(self) -> str:
        """Give the command that does it; of an absolute path only the name is shown."""
        parts = ["brittle", "papers", self.paper, "--scale", self.scale, "--data", shown(self.data)]
        parts += ["--words", shown(self.words)] if self.words else []
        parts += ["--cases", str(self.cases)] if self.cases else []
        parts += ["--seed", str(self.seed)] if self.seed else []
        return shlex.join(parts)


def shown(path: str) -> str:
    """Write a path as it was given, without the folders of this machine.

    >>> shown("../data/sst2"), shown("/home/me/data/sst2"), shown("imdb")
    ('../data/sst2', 'sst2', 'imdb')
    """
    return Path(path).name if Path(path).is_absolute() else path


@dataclass(frozen=True)
class PaperResults:
    """What the steps of an order have left: their results, and the folder of their files."""

    order: PaperRequest
    folder: Path
    results: Mapping[str, Any]
    notes: Mapping[str, str]
    seconds: float


@dataclass(frozen=True)
class Paper:
    """A paper as a command: its steps, and the page that is written from what they leave."""

    name: str
    plan: Callable[[PaperRequest], Sequence[Task]]
    page: Callable[[PaperResults], Page]
