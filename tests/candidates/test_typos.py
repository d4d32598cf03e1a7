"""Lists of typos: files as they come, and the package that has one, without its import."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from brittle.candidates.typos import PACKAGE_FILE, Typos
from brittle.errors import MissingPackage, UsageError

LINES = """\
because becuase Becouse bec?use
Because beacuse because

Lila lila
humans' human's
dodo's dodoes
P?lina Polina
film
"""


def listed(path: Path, content: bytes | str = LINES) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize("content", [LINES, "\ufeff" + LINES.replace("\n", "\r\n")])
def test_lines_of_words_and_typos(tmp_path: Path, content: str) -> None:
    typos = Typos.load(listed(tmp_path / "en.natural", content))
    assert typos.of("because") == ("becuase", "becouse", "beacuse")
    assert typos.of("dodo’s") == ("dodoes",)
    # What is no word, what differs in case alone, and a word without typos.
    assert sorted(typos.entries) == ["because", "dodo's"]
    assert typos.of("film") == typos.of("Lila") == typos.of("unheard") == ()


def test_a_typo_is_written_as_its_word_is(tmp_path: Path) -> None:
    typos = Typos.load(listed(tmp_path / "en.natural"))
    assert typos.of("Because") == ("Becuase", "Becouse", "Beacuse")
    assert typos.of("BECAUSE") == ("BECUASE", "BECOUSE", "BEACUSE")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "have no line with a word and its typo. Expected lines such as 'because"),
        ("because,becuase\n", "have no line with a word"),
        (b"because b\xe9cause\n", "cannot be read .* Expected a UTF-8 file"),
        (None, "cannot be read .*No such file"),
    ],
)
def test_files_that_are_no_list(tmp_path: Path, content: bytes | str | None, message: str) -> None:
    path = tmp_path / "typos"
    if content is not None:
        listed(path, content)
    with pytest.raises(UsageError, match=message):
        Typos.load(path)


def test_the_list_of_the_package_is_found_without_its_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed(tmp_path / "nlpaug" / "__init__.py", "raise ImportError('pandas is missing')\n")
    listed(tmp_path / "nlpaug" / PACKAGE_FILE)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert "because" in Typos.load().entries
    assert "nlpaug" not in sys.modules


def test_without_the_package_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("brittle.candidates.typos.find_spec", lambda name: None)
    with pytest.raises(MissingPackage, match=r"pip install nlpaug==.*--typos FILE"):
        Typos.load()
