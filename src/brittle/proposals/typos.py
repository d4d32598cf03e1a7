"""Typos that people make: a list of words, each with wrong spellings of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from brittle.english.forms import match_case
from brittle.errors import MissingPackage, UsageError, install_command
from brittle.text import is_word

PACKAGE = "nlpaug"
PACKAGE_FILE = Path("res", "word", "spelling", "spelling_en.txt")


@dataclass(frozen=True)
class Typos:
    """Wrong spellings by the right word in lower case."""

    entries: Mapping[str, tuple[str, ...]]

    @staticmethod
    def load(path: str | Path | None = None) -> Typos:
        """Load a file of lines `word typo typo …`; without one, the list of the package nlpaug.

        Entries of a word in several cases are joined. What is not one word (`P?lina`), and what
        differs from the word in case alone, is left out.
        """
        path = Path(path) if path is not None else _package_file()
        try:
            lines = path.read_text("utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(
                f"The typos in {str(path)!r} cannot be read ({error}). Expected a UTF-8 file with "
                "lines such as 'because becuase becouse'."
            ) from error
        entries: dict[str, dict[str, None]] = {}
        for line in lines:
            word, *forms = line.split() or [""]
            typos = {form: None for form in forms if is_word(form) and _key(form) != _key(word)}
            if typos and is_word(word):
                entries.setdefault(_key(word), {}).update(typos)
        if not entries:
            raise UsageError(
                f"The typos in {str(path)!r} have no line with a word and a typo of it. Expected "
                "lines such as 'because becuase becouse'."
            )
        return Typos({word: tuple(typos) for word, typos in entries.items()})

    def of(self, word: str) -> tuple[str, ...]:
        """List the typos of a word, written as the word is: Title, UPPER, else in lower case."""
        return tuple(dict.fromkeys(match_case(t, word) for t in self.entries.get(_key(word), ())))


def _key(word: str) -> str:
    return word.lower().replace("’", "'")


def _package_file() -> Path:
    """Find the list without importing the package, which would import much else."""
    spec = find_spec(PACKAGE)
    folders = [] if spec is None else list(spec.submodule_search_locations or ())
    if not folders:
        raise MissingPackage(
            f"The list of typos is that of the package {PACKAGE!r}, which is not installed. "
            f"Install it with: {install_command('typos')}; or name a list of your own: --typos "
            "FILE, with lines such as 'because becuase becouse'."
        )
    return Path(folders[0]) / PACKAGE_FILE
