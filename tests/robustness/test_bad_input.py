"""Bad input gives a clear error or its own status, and loses nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from robustness import environment, files, pictures, targets, texts, translators, white_box
from robustness.table import TABLE, Check, Row

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "resume.md"


def check_name(r: Row) -> str:
    """Name a check by its file and its input, so that the checks of one file can be selected."""
    return f"{r.check.__module__.rpartition('.')[2]}: {r.what}"


@pytest.mark.parametrize(
    "check",
    [pytest.param(r.check, id=check_name(r), marks=[pytest.mark.slow] * r.slow) for r in TABLE],
)
def test_bad_input(check: Check, tmp_path: Path) -> None:
    check(tmp_path)


def test_every_row_stands_in_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8").splitlines()
    assert {f"| {r.what} | {r.outcome} |" for r in TABLE} <= set(page)
    stated = [line for line in page if line.startswith("| ") and "|---" not in line]
    heads = [line for line in stated if line == "| what goes in | what comes out |"]
    assert len(stated) - len(heads) == len(TABLE), "a row of the page has no check"


def test_all_rows_are_there() -> None:
    modules = (texts, pictures, targets, translators, environment, files, white_box)
    assert all(module.__doc__ for module in modules)
    assert len({r.what for r in TABLE}) == len(TABLE)
