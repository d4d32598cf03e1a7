"""Substitutes that a person would write: what speaks for them, and the sentence they stand in."""

from __future__ import annotations

import math

import numpy as np
import pytest

from brittle.asks import Answer, Case, Tag, Unfit
from brittle.attacks.requests import substitutes
from brittle.english.tags import Tagger
from brittle.errors import UsageError
from brittle.proposals import Careful, ContextProposal, Synonyms
from brittle.proposals.careful import INTERCEPT, WEIGHTS, Evidence, evidence_of
from brittle.proposals.choice import choose_proposal
from brittle.text import Text


def options(raw: str, proposal: ContextProposal | None = None) -> dict[str, tuple[str, ...]]:
    """Drive the search by hand: the tagger answers its two questions."""
    text = Text.of(raw)
    start = Answer(np.array([[0.9, 0.1]]), np.array([0.1]), np.array([False]))
    case = Case("one", text, label=0, start=start)
    search = substitutes(case, proposal or Careful())
    ask = next(search)
    try:
        while True:
            assert isinstance(ask, Tag)
            ask = search.send(Tagger().tags(ask.items))
    except Unfit:
        return {}
    except StopIteration as stop:
        return {str(w): words for w, words in zip(text.words, stop.value) if words}


def test_a_score_is_the_logistic_of_what_is_known() -> None:
    evidence = Evidence("tale", 0, 2, 3, 0.7, 0.9)
    features = (1.0, 0.0, math.log(3), math.log(4), 1.0, 0.7, 0.9, -0.5)
    assert evidence.features(-0.5) == pytest.approx(features)
    total = INTERCEPT + sum(w * x for w, x in zip(WEIGHTS, features))
    assert evidence.score(-0.5) == pytest.approx(1 / (1 + math.exp(-total)))


def test_later_senses_and_less_similar_words_score_lower() -> None:
    best = Evidence("a", 0, 0, 2, 0.8, 0.9)
    for worse in (
        Evidence("a", 3, 0, 2, 0.8, 0.9),
        Evidence("a", 0, 4, 2, 0.8, 0.9),
        Evidence("a", 0, 0, 20, 0.8, 0.9),
        Evidence("a", 0, 0, 2, 0.1, 0.9),
        Evidence("a", 0, 0, 2, 0.8, 0.0),
    ):
        assert worse.score(0.0) < best.score(0.0)
    assert best.score(-2.0) < best.score(0.0)


def test_evidence_comes_from_senses_and_from_the_list() -> None:
    found = {e.form: e for e in evidence_of("movies", "NNS")}
    assert found["films"].sense == 0 and found["films"].listed is not None
    assert "movie" not in found  # another form of the same word
    assert all(e.listed is None for e in evidence_of("movies", "NNS", listed=False))
    assert all(e.sense == 0 for e in evidence_of("film", "NN", senses=1, listed=False))
    assert evidence_of("the", "DT") == ()


def test_names_numbers_auxiliaries_and_function_words_stay() -> None:
    sentence = "john has seen 12 movies while bill murray was three"
    assert set(options(sentence)) <= {"seen", "movies"}


def test_the_edited_sentence_keeps_its_tags_and_its_article() -> None:
    found = options("this is an amusing story with a happy end")
    assert all(word[0] in "aeiou" for word in found.get("amusing", ()))
    text = Text.of("this is an amusing story with a happy end")
    tags = Tagger().tags([text])[0]
    for word, forms in found.items():
        i = [str(w) for w in text.words].index(word)
        assert all(Tagger().tags([text.swap(i, form)])[0] == tags for form in forms)


def test_a_substitute_is_not_there_already() -> None:
    assert "movie" in options("the film was long")["film"]
    assert "movie" not in options("the funny film of the movie was long").get("film", ())


def test_idioms_keep_their_words() -> None:
    assert "erroneous" not in options("it is funny for all the wrong reasons").get("wrong", ())
    assert "aid" not in options("i could not help being stunned").get("help", ())


def test_capitals_are_kept() -> None:
    assert "MOVIE" in options("the FILM was long")["FILM"]


def test_a_text_without_careful_candidates_is_unfit() -> None:
    case = Case("one", Text.of("john has been there"), label=0)
    search = substitutes(case, Careful())
    next(search)
    with pytest.raises(Unfit, match="no candidates"):
        search.send([("NN", "VBZ", "VBN", "RB")])


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, Synonyms()),
        ({"candidates": "paper"}, Synonyms()),
        ({"candidates": "paper", "senses": "2"}, Synonyms(senses=2)),
        ({"candidates": "paper", "senses": "likely"}, Careful(listed=False, protects=False)),
        ({"candidates": "careful"}, Careful()),
        ({"candidates": "strict"}, Careful()),
        ({"candidates": "careful", "senses": "1"}, Careful(senses=1)),
    ],
)
def test_presets_and_senses(settings: dict[str, str], expected: object) -> None:
    assert choose_proposal(**settings) == expected  # type: ignore[arg-type]


def test_senses_are_a_number_or_likely() -> None:
    for senses in ("0", "-1", "many", "1.5"):
        with pytest.raises(UsageError, match="expected how many senses"):
            choose_proposal(senses=senses)
    with pytest.raises(UsageError, match="--senses chooses among WordNet's synonyms"):
        choose_proposal(neighbours="glove", senses="1")


def test_a_misspelt_preset_is_named() -> None:
    with pytest.raises(UsageError, match=r"Unknown candidates 'carefull'\. Did you mean 'careful'"):
        choose_proposal(candidates="carefull")


def test_likely_senses_leave_out_rare_ones() -> None:
    likely = Careful(listed=False, protects=False)
    every = Synonyms().of("family", "NN")
    assert "sept" in every and "sept" not in likely.of("family", "NN")
