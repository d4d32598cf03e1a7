"""`brittle explain nearest` and `brittle papers`: what they print, and how they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import Brittle

MODEL = """
import numpy as np

class Vectored:
    name = "vectored"
    fingerprint = "vectored 1"
    labels = ("negative", "positive")
    vocabulary = ("good", "goad", "food", "bad", "film")
    layers = ("embedding", "highway 1")

    def scores(self, texts):
        wrong = [any(word in ("goxd", "baad") for word in text.words) for text in texts]
        rows = [["bad" in text.words or "baad" in text.words] for text in texts]
        first = [0.9 if is_bad[0] != is_wrong else 0.1 for is_bad, is_wrong in zip(rows, wrong)]
        return np.array([[p, 1 - p] for p in first])

    def words_read(self, texts):
        return [range(len(text)) for text in texts]

    def embeddings(self, texts, layer, level="words"):
        return [np.array([self.vector(str(word)) for word in text.words]) for text in texts]

    def vector(self, word):
        spots = np.zeros(26)
        for letter in word.lower():
            spots[ord(letter) - 97] += 1
        return spots

model = Vectored()
"""
ATTACK = """
from dataclasses import dataclass
from typing import ClassVar
from brittle.asks import Try

@dataclass(frozen=True)
class Typo:
    asks: ClassVar = (Try,)

    def __call__(self, case, rng):
        places = [i for i, word in enumerate(case.text.words) if word in ("good", "bad")]
        yield from Try([case.text.swap(i, "goxd" if case.text.words[i] == "good" else "baad")
                        for i in places])
"""
TARGET = "python:vectored_model:model"


@pytest.fixture
def vectored(workdir: Path) -> None:
    (workdir / "vectored_model.py").write_text(MODEL)
    (workdir / "typo_attack.py").write_text(ATTACK)


def test_nearest_words_of_a_word(brittle: Brittle, vectored: None) -> None:
    output = brittle("explain", "nearest", TARGET, "good", "--k", "2")
    assert output.code == 0
    lines = output.out.splitlines()
    assert lines[0] == "vectored, layer highway 1, 5 words"
    # Cosines of letter counts: food 5/6, goad 4/√24.
    assert lines[2].split() == ["food", "0.833"] and lines[3].split() == ["goad", "0.816"]
    output = brittle("explain", "nearest", TARGET, "good", "--json", "--layer", "embedding")
    data = json.loads(output.out)
    assert data["layer"] == "embedding" and data["nearest"][0]["word"] == "food"
    assert brittle("explain", "nearest", TARGET, "good", "--quiet").out == ""


def test_nearest_words_before_and_after_an_edit(brittle: Brittle, vectored: None) -> None:
    output = brittle("explain", "nearest", TARGET, "good", "goad")
    assert output.code == 0 and "nearer to goad than good is (cosine 0.816)" in output.out
    (change,) = json.loads(brittle("explain", "nearest", TARGET, "good", "goad", "--json").out)[
        "changes"
    ]
    assert (change["word"], change["edited"], change["is_lost"]) == ("good", "goad", False)


def test_nearest_words_of_a_run_s_edits(brittle: Brittle, vectored: None) -> None:
    words = ("attack", TARGET, "python:typo_attack:Typo", "--data", "films.csv", "--name", "typo")
    assert brittle(*words, "--quiet").code == 0
    output = brittle("explain", "nearest", "--run", "typo", "--k", "1")
    assert output.code == 0 and "good → goxd" in output.out and "bad → baad" in output.out
    changes = json.loads(
        brittle("explain", "nearest", "--run", "typo", "--pairs", "1", "--json").out
    )
    assert len(changes["changes"]) == 1


def test_a_report_with_nearest_words(brittle: Brittle, vectored: None, workdir: Path) -> None:
    words = ("attack", TARGET, "python:typo_attack:Typo", "--data", "films.csv", "--name", "typo")
    assert brittle(*words, "--quiet").code == 0
    assert brittle("report", "typo", "--out", "plain.html").code == 0
    assert brittle("report", "typo", "--out", "near.html", "--nearest").code == 0
    row = "<bdi>good</bdi> → <bdi>goxd</bdi></th><td><bdi>food</bdi>, <bdi>goad</bdi>"
    assert row in (workdir / "near.html").read_text()
    assert row not in (workdir / "plain.html").read_text()
    output = brittle("report", "weak", "--nearest", "--target", "python:cli_models:weak")
    assert output.code == 2 and "shows no vectors of words" in output.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            (
                "explain",
                "nearest",
            ),
            "Expected a target and a word",
        ),
        (("explain", "nearest", TARGET, "good", "--run", "typo"), "Give one of the two"),
        (("explain", "nearest", TARGET, "good", "--layer", "highway"), "Did you mean 'highway 1'?"),
        (("explain", "nearest", "python:cli_models:weak", "good"), "shows no vectors of words"),
        (("explain", "nearest", "--run", "weak"), "no broken case changed a word by one character"),
        (("papers", "hotflop"), "Did you mean 'hotflip'?"),
        (("papers", "hotflip"), "--data FOLDER"),
        (("papers", "imdb", "--words", "x"), "--words works only with hotflip"),
        (("papers", "imdb", "--pairs", "x"), "--pairs works only with attention,"),
        (("papers", "attention", "--pairs", "nowhere"), "There is no data at 'nowhere'"),
        (("papers", "attention", "--translations", "x"), "--translations works only with"),
        (("papers", "imdb", "--only", "1 swap on LSTN"), "Did you mean '1 swap on LSTM'?"),
        (
            ("papers", "hotflip", "--data", "nowhere"),
            "There is no data at 'nowhere'. Expected a folder",
        ),
    ],
)
def test_what_is_refused(
    brittle: Brittle, vectored: None, words: tuple[str, ...], message: str
) -> None:
    output = brittle(*words)
    assert output.code == 2 and message in output.err


@pytest.mark.parametrize("command", ["explain nearest", "papers"])
def test_help_has_examples(brittle: Brittle, command: str) -> None:
    output = brittle(*command.split(), "--help")
    assert output.code == 0 and f"brittle {command}" in output.out.split("examples", 1)[1]
    assert "tiny" not in output.out
