"""The request of a user: which paper, at which scale, on which data."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

FURTHER_DATA = ("words", "pairs", "translations")
"""The further data that a paper may take, each by a flag of this name."""


@dataclass(frozen=True)
class PaperRequest:
    """A paper, its scale and its data; `cases` limits the texts that each attack runs on.

    `words`, `pairs` and `translations` are further data, of papers that are about such.
    """

    paper: str
    scale: str
    data: str
    words: str | None = None
    cases: int | None = None
    seed: int = 0
    pairs: str | None = None
    translations: str | None = None

    def command(self) -> str:
        """Format the request as a command; of an absolute path only the name is shown."""
        parts = ["brittle", "papers", self.paper, "--scale", self.scale, "--data", shown(self.data)]
        for name in FURTHER_DATA:
            source = getattr(self, name)
            parts += [f"--{name}", shown(source)] if source else []
        parts += ["--cases", str(self.cases)] if self.cases else []
        parts += ["--seed", str(self.seed)] if self.seed else []
        return shlex.join(parts)


def shown(path: str) -> str:
    """Format a path as the user typed it, without the folders of this machine.

    >>> shown("../data/sst2"), shown("/home/me/data/sst2"), shown("imdb")
    ('../data/sst2', 'sst2', 'imdb')
    """
    return Path(path).name if Path(path).is_absolute() else path
