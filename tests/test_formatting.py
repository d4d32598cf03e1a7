"""Numbers and counts as people read them: one thing is never called by its plural."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import brittle
from brittle.formatting import plural

ROOT = Path(brittle.__file__).parent
PRINTED = ("reports", "cli", "studies")
"""The rooms whose texts people read on a terminal or a page."""
COUNTED = (
    *("adversaries", "answers", "attacks", "cases", "calls", "classes", "columns", "comparisons"),
    *("examples", "files", "items", "labels", "members", "models", "originals", "pairs", "people"),
    *("pictures", "points", "queries", "reasons", "replacements", "rows", "rules", "runs"),
    *("samples", "sentences", "sources", "steps", "targets", "tasks", "tests", "texts"),
    *("translations", "winners", "words", "workers"),
)
FIXED_PLURAL = re.compile(
    r"^(?:</\w+>)? (?:(?!of |has |have |holds |that |reads |needs |contains |answers )[a-z]+ )?"
    rf"(?:{'|'.join(COUNTED)})\b"
)
NEVER_ONE = {
    " columns here; brittle report draws it, brittle export writes it.": "wider than a terminal",
    " points": "a difference, with a decimal",
    " points is still possible in ": "a tolerance, several points",
    " points more": "a difference, with a decimal",
    " points or more is excluded.": "a tolerance, several points",
    " points over ": "a difference, with a decimal",
    " points worse": "a difference, with a decimal",
    " words": "behind a range of lengths",
    " points.": "a difference, with a decimal",
    " cases.csv writes the names of all cases.": "the name of a file",
    " rows/s": "a speed",
    " cases; expected 1 or more.": "got 0 or less",
    " samples and ": "one of the two is 0 or less",
    " winners a source; expected 1 or more.": "got 0 or less",
    " workers (": "more than one",
    " steps, seed ": "of a training",
}
"""What follows a count that is written in plural though `plural` does not write it, and why."""


def follows_a_value(path: Path) -> Iterator[tuple[int, str]]:
    """Yield what stands after the values in the f-strings of a file, with its line."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.JoinedStr):
            for value, text in zip(node.values, node.values[1:]):
                if isinstance(value, ast.FormattedValue) and isinstance(text, ast.Constant):
                    yield value.lineno, str(text.value)


@pytest.mark.parametrize("room", PRINTED)
def test_counts_are_written_by_one_function(room: str) -> None:
    fixed = [
        f"{path.relative_to(ROOT)}:{line}: …{text!r}"
        for path in sorted((ROOT / room).rglob("*.py"))
        for line, text in follows_a_value(path)
        if FIXED_PLURAL.match(text) and text not in NEVER_ONE
    ]
    assert not fixed, "Write counts by brittle.formatting.plural."


def test_no_other_place_chooses_between_singular_and_plural() -> None:
    by_hand = re.compile(r"""(?<!\w)["']e?s["'] if |if [^\n]*(?:== 1|!= 1|> 1) else ["']e?s["']""")
    found = [
        path.relative_to(ROOT)
        for path in sorted(ROOT.rglob("*.py"))
        if by_hand.search(path.read_text("utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("name", "one"),
    [
        ("words", "1 word"),
        ("queries", "1 query"),
        ("attacked cases", "1 attacked case"),
        ("examples answered, 1 of them already wrong", None),
        ("classes", "1 class"),
        ("searches", "1 search"),
        ("people", "1 person"),
        ("adversaries that people read", "1 adversary that people read"),
        ("read", "1 read"),
    ],
)
def test_the_first_noun_is_written_in_singular(name: str, one: str | None) -> None:
    assert plural(1, name) == (one or "1 example answered, 1 of them already wrong")
    assert plural(0, name) == f"0 {name}" and plural(1200, name) == f"1,200 {name}"
    assert plural(1.0, name) == plural(1, name) and plural(1.5, name) == f"1.50 {name}"
