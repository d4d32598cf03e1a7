"""Stop words keep their place; other words have the candidates they had."""

from __future__ import annotations

from brittle.attacks import build
from brittle.proposals.sparing import SparingStopWords
from brittle.proposals.synonyms import SubstituteTable, Synonyms


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
        assert isinstance(build(name, {}, []).proposal, Synonyms)  # type: ignore[attr-defined]
        attack = build(name, {"stop_words": False}, [])
        assert attack.proposal == SparingStopWords(Synonyms())  # type: ignore[attr-defined]
