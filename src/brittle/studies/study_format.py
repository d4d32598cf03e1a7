"""How studies are stored: one JSON file, NAME.study.json, that says at its beginning what it is.

What is stored is checked as it is loaded, here and by the `check` of each kind: whoever has a study
can rely on its types, and on its parts fitting together.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from brittle import files
from brittle.errors import UsageError
from brittle.schema import Malformed, load_json, parse

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

    def save(self, study: Any, path: str | Path) -> None:
        """Write a study, a dataclass, in one step."""
        content = {"kind": self.kind, "format": self.version, **asdict(study)}
        save_content(content, Path(path))

    def load(self, path: str | Path, study: type[S], check: Callable[[S], None]) -> S:
        """Load a study of a class, whose parts `check` holds together; other files are an error."""
        try:
            content = load_content(Path(path))
            kind, version = content.pop("kind", FIRST_KIND), content.pop("format", None)
            if (kind, version) != (self.kind, self.version):
                expected = f"kind {self.kind}, format {self.version}: it is of another kind, or of "
                raise Malformed(f"{expected}another version of brittle", [kind, version])
            loaded = parse(study, content)
            check(loaded)
            return loaded
        except (OSError, Malformed) as error:
            raise UsageError(
                f"{path} is no {self.noun} that this version of brittle can read: {error}. Name a "
                f"file that {self.command} has written."
            ) from error


def load_content(path: Path) -> dict[str, Any]:
    """Load the fields of a study's file, unchecked; what holds none is `Malformed`."""
    content = load_json(path)
    if not isinstance(content, dict):
        raise Malformed("an object", content)
    return content


def save_content(content: Mapping[str, Any], path: Path) -> None:
    """Write the fields of a study in one step, for its owner alone."""
    text = json.dumps(content, ensure_ascii=False)
    # UTF-8 cannot hold the lone surrogates of a message; JSON has them as \udXXX.
    files.write_whole(path, f"{text}\n", errors="backslashreplace", private=True)


def check_known(what: str, names: Collection[str], known: Collection[str]) -> None:
    """Refuse names, of a field of a study, that its other fields do not know."""
    for name in names:
        if name not in known:
            raise Malformed(f"one of {', '.join(known) or 'none'}", name, what)


def stored_kind(path: Path) -> str:
    """Return the kind of study that a file says it is, without loading the whole file."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            named = _KIND.match(file.read(80))
    except OSError as error:
        raise UsageError(f"The study {path} cannot be read: {error.strerror}.") from error
    return FIRST_KIND if named is None else named[1]
