"""Filters that read across the ends of lines: every text is answered as it is alone."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from brittle.errors import TargetError
from brittle.opening import as_target
from brittle.targets.translators import ALONE, PARTED, PLAIN, PROBES, LineLayout, find_layout
from brittle.text import Text

# The first word of a sentence goes to its end; how many lines it has does not matter.
TURNING = """
import re, sys

def turn(sentence):
    words = re.findall(r"\\S+", sentence)
    turned = iter(words[1:] + words[:1])
    return re.sub(r"\\S+", lambda _: next(turned), sentence)

print("".join(map(turn, re.split(r"(SEPARATOR)", sys.stdin.read()))), end="")
"""


def mixing(folder: Path, separator: str) -> Any:
    script = folder / "filter.py"
    script.write_text(TURNING.replace("SEPARATOR", separator))
    return as_target(f"filter:'{sys.executable}' -S '{script}'")


@pytest.mark.parametrize(
    ("separator", "layout"),
    [(r"\n\n", PARTED), (r"\n", PARTED), (r"\t", ALONE)],
    ids=["by a blank line", "by every line", "by no line"],
)
def test_a_batch_is_answered_as_each_text_alone(
    tmp_path: Path, separator: str, layout: LineLayout
) -> None:
    target = mixing(tmp_path, separator)
    texts = ["a child makes a move", "man on a wall", "", "one", "two words"]
    items = [Text.of(text) for text in texts]
    alone = [target.translate([item])[0] for item in items]
    assert alone[:3] == ["child makes a move a", "on a wall man", ""]
    assert target.translate(items) == alone and target.translate(items[::-1]) == alone[::-1]
    assert (target._layout, target.mixes_texts) == (layout, layout == ALONE)


def test_plain_lines_of_such_a_filter_are_mixed(tmp_path: Path) -> None:
    target = mixing(tmp_path, r"\n\n")
    assert target._run(["a b", "c d"], 1000, PLAIN) == ["b c", "d a"]


Ask = Callable[[Sequence[str], LineLayout], list[str]]


def program(mix: Callable[[list[str]], list[str]]) -> Ask:
    """Return what asks a function from lines to lines."""

    def ask(texts: Sequence[str], layout: LineLayout) -> list[str]:
        return layout.read(mix(layout.write(texts)), "It", len(texts))

    return ask


def numbered() -> Ask:
    starts: list[int] = []

    def mix(lines: list[str]) -> list[str]:
        starts.append(1)
        return [line and f"{line} {len(starts)}" for line in lines]

    return program(mix)


@pytest.mark.parametrize(
    ("ask", "layout"),
    [
        (program(lambda lines: [line.upper() for line in lines]), PARTED),
        (program(lambda lines: [line for line in lines if line]), PLAIN),
        (program(lambda lines: [line or "blank" for line in lines]), PLAIN),
        (program(lambda lines: [f"{line} {n}" for n, line in enumerate(lines)]), ALONE),
        (program(lambda lines: lines if len(lines) == 1 else lines[1:]), ALONE),
        (numbered(), PARTED),
    ],
    ids=[
        "keeps blank lines",
        "drops blank lines",
        "translates blank lines",
        "counts",
        "fails on batches",
        "random",
    ],
)
def test_the_layout_of_a_program(ask: Ask, layout: LineLayout) -> None:
    assert find_layout(ask) == layout


def test_a_program_that_fails_on_a_sentence_has_no_layout() -> None:
    with pytest.raises(TargetError, match="gave 0 lines for 1"):
        find_layout(program(lambda lines: lines[1:]))


def test_blank_lines_are_written_between_and_expected_back() -> None:
    assert PARTED.write(["a", "", "b"]) == ["a", "", "", "", "b"]
    assert PARTED.read(["a", "", "", " ", "b"], "It", 3) == ["a", "", "b"]
    assert PARTED.write(["a"]) == ["a"] == PLAIN.write(["a"]) == PLAIN.read(["a"], "It", 1)
    with pytest.raises(TargetError, match=r"It gave 1 line for 3 \(every second"):
        PARTED.read(["a"], "It", 2)
    with pytest.raises(TargetError, match="out of step: it gave a text for a blank line"):
        PARTED.read(["a", "b", ""], "It", 2)


def test_the_sentences_asked_have_no_full_stop() -> None:
    assert len(PROBES) > 1 and not any("." in sentence for sentence in PROBES)
