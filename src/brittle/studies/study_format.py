"""How studies are stored: one JSON file, NAME.study.json, that says at its beginning what it is."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from brittle import files
from brittle.errors import UsageError

S = TypeVar("S")
SUFFIX = ".study.json"
FIRST_KIND = "transfer"
"""The kind of the studies that were stored before there were several kinds."""
_KIND = re.compile(r'\{"kind": "([a-z-]+)"')


@dataclass(frozen=True)
class StudyFormat:
    """A kind of study as it is stored: its name, the version of its layout, and who writes it."""

    kind: str
    version: int
    noun: str
    command: str

    def save(self, study: Any, path: Path) -> None:
        """Write a study, a dataclass, in one step."""
        content = {"kind": self.kind, "format": self.version, **asdict(study)}
        files.write_whole(path, json.dumps(content, ensure_ascii=False) + "\n")

    def load(self, path: Path, build: Callable[[dict[str, Any]], S]) -> S:
        """Load a study, which `build` makes of the stored fields; any other file is an error."""
        try:
            content = json.loads(path.read_text("utf-8"))
            if (
                content.pop("kind", FIRST_KIND) != self.kind
                or content.pop("format") != self.version
            ):
                raise ValueError("of another kind, or of another version of brittle")
            return build(content)
        except (OSError, *files.DAMAGED) as error:
            raise UsageError(
                f"{path} is no {self.noun} that this version of brittle can read ({error}). Name a "
                f"file that {self.command} has written."
            ) from error


def stored_kind(path: Path) -> str:
    """Return the kind of study that a file says it is, without loading the whole file."""
    with path.open(encoding="utf-8", errors="replace") as file:
        named = _KIND.match(file.read(80))
    return FIRST_KIND if named is None else named[1]
