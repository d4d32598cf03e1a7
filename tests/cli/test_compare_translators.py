"""`brittle compare` on translators: BLEU and success; the gate asks whether success rose."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from brittle import attack
from brittle.answers import TEXTS
from brittle.goals import Measured
from brittle.text import Text
from cli.conftest import Brittle

SENTENCES = [f"a good film of {n} scenes" for n in range(8)]


class Capitals:
    """A translator into capitals, which may lose a word that it does not know."""

    fingerprint = "capitals"

    def __init__(self, name: str, lost: str = "") -> None:
        self.name, self.lost = name, lost

    def translate(self, items: list[Text]) -> list[str]:
        return [str(text).replace(self.lost or "\0", "").upper() for text in items]


@pytest.fixture(scope="module", autouse=True)
def runs(workdir: Path) -> None:
    words = workdir / "fine.json"
    words.write_text(json.dumps({"good": ["fine"]}))
    goal = Measured(lambda text: float("FILM" not in text), 1.0, TEXTS)
    for name, lost, texts in (
        ("steady", "", SENTENCES),
        ("shaky", "fine film", SENTENCES),
        ("elsewhere", "", ["a good book"]),
    ):
        attack(
            *(Capitals(name, lost), texts, "random-swap"),
            goal=goal,
            candidates=str(words),
            name=name,
            folder=workdir / "runs",
        )


def test_bleu_stands_where_accuracy_does(brittle: Brittle) -> None:
    pytest.importorskip("sacrebleu")
    output = brittle("compare", "steady", "shaky")
    assert output.code == 0 and "BLEU before" in output.out and "+100.0 points" in output.out
    assert "accuracy" not in output.out and "no shared case" not in output.out


def test_the_gate_goes_by_success(brittle: Brittle) -> None:
    assert brittle("compare", "shaky", "steady", "--fail-if-worse", "--quiet").code == 0
    output = brittle("compare", "steady", "shaky", "--fail-if-worse", "--quiet")
    assert output.code == 1, output.err
    assert "attack success rose by 100.0 points over 8 shared cases" in output.err
    assert "clean accuracy" not in output.err


def test_the_gate_says_what_it_cannot_test(brittle: Brittle) -> None:
    for names, reason in (
        (("steady", "elsewhere"), "'elsewhere' shares no case with 'steady'"),
        (("steady", "weak"), "only one is about a translator"),
        (("weak", "steady"), "only one is about a translator"),
    ):
        output = brittle("compare", *names, "--fail-if-worse", "--quiet")
        assert output.code == 2 and reason in output.err
