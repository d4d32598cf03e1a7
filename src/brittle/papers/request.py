"""The request of a user: which paper, at which scale, on which data."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class PaperRequest:
    """A paper, its scale and its data; `cases` limits the texts that each attack runs on."""

    paper: str
    scale: str
    data: str
    words: str | None = None
    cases: int | None = None
    seed: int = 0

    def command(self) -> str:
        """Format the request as a command; of an absolute path only the name is shown."""
        parts = ["brittle", "papers", self.paper, "--scale", self.scale, "--data", shown(self.data)]
        parts += ["--words", shown(self.words)] if self.words else []
        parts += ["--cases", str(self.cases)] if self.cases else []
        parts += ["--seed", str(self.seed)] if self.seed else []
        return shlex.join(parts)


def shown(path: str) -> str:
    """Format a path as the user typed it, without the folders of this machine.

    >>> shown("../data/sst2"), shown("/home/me/data/sst2"), shown("imdb")
    ('../data/sst2', 'sst2', 'imdb')
    """
    return Path(path).name if Path(path).is_absolute() else path
