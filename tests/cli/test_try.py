"""`brittle try`: every level of the ladder by default, and what it may spend."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from brittle.levels import LEVELS
from brittle.runs.options import TRIED_BUDGET
from cli.conftest import Brittle

SENTENCE = "a good film with a warm story, a fine cast and a great deal of quiet charm"
PROGRAM = """
import json, sys
for line in sys.stdin:
    print(line, end="", file=open("asked.txt", "a"))
    text = json.loads(line)["text"]
    print(json.dumps([0.1, 0.9] if "good" in text else [0.6, 0.4]), flush=True)
"""


@pytest.fixture
def network(workdir: Path) -> str:
    """The name of a target with gradients."""
    (workdir / "cli_networks.py").write_text(
        "from brittle.testing import FakeNetwork\nnetwork = FakeNetwork()\n"
    )
    return "python:cli_networks:network"


def rows(brittle: Brittle, *words: str) -> dict[str, dict[str, Any]]:
    """Return how each level or attack ended, by its name."""
    output = brittle("try", *words, "--json")
    assert output.code == 0, output.err
    found = json.loads(output.out)
    names = [row["levels"][0][0] if row["attack"] == "auto" else row["attack"] for row in found]
    return dict(zip(names, found))


def test_every_level_is_tried_by_itself(brittle: Brittle, network: str) -> None:
    for target in ("python:cli_models:weak", network):
        assert list(rows(brittle, target, SENTENCE)) == list(LEVELS)
    output = brittle("try", "python:cli_models:weak", "Zwei junge Männer sind im Freien").out
    assert output.count("not tried: for English only") == 4


def test_one_sentence_costs_no_thousands_of_queries(brittle: Brittle, network: str) -> None:
    for target in ("python:cli_models:weak", network):
        for row in rows(brittle, target, SENTENCE).values():
            assert row["queries"] <= TRIED_BUDGET
    # Without a budget this one asks thousands of times.
    (row,) = rows(brittle, "python:cli_models:strong", SENTENCE, "--attack", "genetic").values()
    assert row["status"] == "out of budget" and row["queries"] <= TRIED_BUDGET


def test_the_budget_can_be_set(brittle: Brittle) -> None:
    words = ("python:cli_models:strong", SENTENCE)
    assert all(row["queries"] <= 5 for row in rows(brittle, *words, "--budget", "5").values())
    genetic = (*words, "--attack", "genetic", "--budget", "4000")
    assert rows(brittle, *genetic)["genetic"]["queries"] > TRIED_BUDGET
    assert "  out of budget  5 queries" in brittle("try", *words, "--budget", "5").out
    assert brittle("try", *words, "--budget", "0").code == 2


def test_what_one_level_asked_the_next_need_not_ask_again(brittle: Brittle, workdir: Path) -> None:
    (workdir / "program.py").write_text(PROGRAM)
    command = f"cmd:{sys.executable} program.py"
    levels = rows(brittle, command, SENTENCE, "--labels", "negative,positive")
    assert list(levels) == list(LEVELS)
    # The later levels are told the answer on the original; a winner is asked about once more.
    asked = (workdir / "asked.txt").read_text().splitlines()
    assert sum(json.loads(line)["text"] == SENTENCE for line in asked) == 1
