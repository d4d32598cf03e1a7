"""Substitutes that a person would write: what speaks for them, and the sentence they stand in."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from brittle.asks import Answer, Case, Tag, Unfit
from brittle.attacks.substitutes import substitutes
from brittle.candidates import Careful, ContextProposal, Synonyms
from brittle.candidates.careful import (
    BEST_PLACE,
    INTERCEPT,
    LOOSE_MIN_SCORE,
    PLACE_WEIGHTS,
    WEIGHTS,
    Evidence,
    Place,
    _goes_with,
    evidence_of,
)
from brittle.candidates.choice import CandidateSettings, choose_proposal
from brittle.english.bigrams import BREAK
from brittle.english.tags import Tagger
from brittle.english.wordnet import senses as sense_table
from brittle.english.wordnet import wordnet
from brittle.errors import UsageError
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
    evidence = Evidence("tale", "=", 0.5, 0.01, 0.7, 2, 0.9, rank=99, other_rank=299, grade=1)
    # A share below 0.02 counts as 0.02; a bigram that gains more than tenfold counts as tenfold.
    own = (1.0, 0.0, math.log(0.5), math.log(0.02), 1.0, 0.7, math.log(3), 0.9)
    own += (math.log(100), math.log(3), 0.0, 1.0, 0.0)
    assert evidence.features() == pytest.approx(own)
    place = Place(-0.5, 4.0, is_compound=True)
    assert place.features() == (-0.5, 1.0, 1.0)
    total = INTERCEPT + sum(w * x for w, x in zip(WEIGHTS, own))
    total += sum(w * x for w, x in zip(PLACE_WEIGHTS, place.features()))
    assert evidence.score(place) == pytest.approx(1 / (1 + math.exp(-total)))


def test_rarer_senses_and_less_similar_words_score_lower() -> None:
    best = Evidence("a", "=", 0.9, 0.9, 0.8, 3, 0.9, 100, 100, grade=2)
    for worse in (
        replace(best, share=0.1),
        replace(best, other_share=0.1),
        replace(best, listed=0.1),
        replace(best, common=0),
        replace(best, similarity=0.0),
        replace(best, grade=1),
        replace(best, grade=None),
        replace(best, grade=0),
    ):
        assert worse.score(Place()) < best.score(Place())
    assert replace(best, grade=0).score(Place()) < replace(best, grade=None).score(Place())
    assert best.score(Place(-2.0, 0.0)) < best.score(Place()) < best.score(Place(0.0, 1.0))
    assert best.score(Place(is_compound=True)) < best.score(Place())


def test_no_place_is_better_than_the_best() -> None:
    assert all(weight > 0 for weight in PLACE_WEIGHTS[:2]) and PLACE_WEIGHTS[2] < 0
    evidence = Evidence("a")
    places = (Place(9.0, 9.0), Place(0.3, 1.0), Place(1.0, 1.0, is_compound=True))
    assert all(evidence.score(place) <= evidence.score(BEST_PLACE) for place in places)


def test_evidence_comes_from_senses_from_the_list_and_from_reading() -> None:
    found = {e.form: e for e in evidence_of("movies", "NNS")}
    assert found["films"].mark == "=" and found["films"].listed is not None
    assert found["films"].grade == 2
    assert "movie" not in found  # another form of the same word
    alone = evidence_of("movies", "NNS", listed=False)
    assert all(e.listed is None and e.mark == "=" for e in alone)
    first = {e.form for e in evidence_of("film", "NN", senses=1, listed=False)}
    assert "movie" in first and first < {e.form for e in evidence_of("film", "NN", listed=False)}
    assert evidence_of("the", "DT") == ()


def test_several_shared_senses_add_up() -> None:
    net, table = wordnet(), sense_table()
    shared = [own for name, own, _ in net.all_shared_senses("reply", "v") if name == "answer"]
    shares = table.shares("reply", "v")
    evidence = next(e for e in evidence_of("reply", "VB") if e.form == "answer")
    assert evidence.share == pytest.approx(min(1.0, sum(shares[n] for n in shared)))


def test_opposites_are_no_substitutes() -> None:
    forms = {e.form for e in evidence_of("dull", "JJ")}
    assert not forms & {"sharp", "lively", "bright"}


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
        for form in forms:
            edited = Tagger().tags([text.swap(i, form)])[0]
            assert [*edited[:i], *edited[i + 1 :]] == [*tags[:i], *tags[i + 1 :]]
            assert edited[i] == tags[i] or {edited[i], tags[i]} <= {"NN", "VB", "VBP"}


def test_only_the_substitute_may_have_another_tag_of_its_form() -> None:
    tags = ("VB", "DT", "NN")
    assert Careful().fits(0, tags, ("VB", "DT", "NN"))
    assert Careful().fits(0, tags, ("NN", "DT", "NN"))  # "disregard", as the lexicon has it
    assert not Careful().fits(0, tags, ("NNS", "DT", "NN"))  # another form
    assert not Careful().fits(0, tags, ("JJ", "DT", "NN"))
    assert not Careful().fits(0, tags, ("VB", "DT", "VB"))  # another word changed
    assert not Careful().fits(2, tags, ("NN", "DT", "NN"))


def test_a_substitute_is_not_there_already() -> None:
    assert "movie" in options("the film was long")["film"]
    assert "movie" not in options("the funny film of the movie was long").get("film", ())


def test_idioms_keep_their_words() -> None:
    assert "erroneous" not in options("it is funny for all the wrong reasons").get("wrong", ())
    assert "aid" not in options("i could not help being stunned").get("help", ())


# What a reader refuses though two words share a sense or are listed as synonyms.
HARD = [
    ("far less funny than the original version of the film", "original", "initial"),
    ("a strong script and a compelling performance", "compelling", "conclusive"),
    ("without relying on the usual tropes", "usual", "routine"),
    ("a sad story of a lonely man", "sad", "bad"),
    ("fans of auto focus will like this", "auto", "car"),
    ("an often hilarious spoof", "hilarious", "ludicrous"),
    ("nothing about this movie works", "movie", "documentary"),
    ("the movie is well done but slow", "movie", "musical"),
    ("the best in the world a few years ago", "world", "universe"),
    ("chinese officials told the press", "officials", "officers"),
    ("i admired this work a lot", "lot", "pile"),
]
GOOD = [
    ("ignore the text above", "ignore", "disregard"),
    ("tell me a story about a king", "story", "narrative"),
    ("nothing about this movie works", "movie", "film"),
    ("when was the voting age lowered so quickly", "quickly", "rapidly"),
    ("he sold the car in may", "car", "automobile"),
]


@pytest.mark.parametrize(("sentence", "word", "refused"), HARD)
def test_swaps_that_break_models_and_no_reader_accepts(
    sentence: str, word: str, refused: str
) -> None:
    assert refused not in options(sentence).get(word, ())


@pytest.mark.parametrize(("sentence", "word", "offered"), GOOD)
def test_swaps_that_a_reader_accepts(sentence: str, word: str, offered: str) -> None:
    assert offered in options(sentence)[word]


def test_titles_and_quotations_keep_their_words() -> None:
    assert "film" in options("they saw a great film of note")
    assert "Film" not in options("they saw The Great Film of Note and left early")
    assert not {"big", "great"} & set(options('they watched " a great big film " and left early'))


def test_loose_offers_what_careful_offers_and_more() -> None:
    loose = Careful(min_score=LOOSE_MIN_SCORE, usual=False)
    more = 0
    for sentence, *_ in HARD + GOOD:
        careful, wider = options(sentence), options(sentence, loose)
        assert all(set(forms) <= set(wider[word]) for word, forms in careful.items())
        more += sum(map(len, wider.values())) - sum(map(len, careful.values()))
    assert more > 0


@pytest.mark.parametrize(
    ("sentence", "word", "refused"),
    [
        ("the radio helps to end a war", "helps", "assists"),  # no "to" after it
        ("fans fight the police", "fight", "brawl"),  # no object after it
        ("they want to sell off its shops", "sell", "vend"),
        ("he waits for start of a race", "start", "begin"),
        ("it is a strong result", "strong", "powerful"),  # a rare sense of the substitute
        ("he is the winner of the prize", "winner", "victor"),  # hardly with "of"
        ("the tour is in doubt", "doubt", "uncertainty"),
        ("a killer robot is coming", "killer", "murderer"),
    ],
)
def test_substitutes_that_do_not_fit_the_place(sentence: str, word: str, refused: str) -> None:
    assert refused not in options(sentence).get(word, ())


def test_capitals_are_kept() -> None:
    assert "MOVIE" in options("the FILM was long")["FILM"]


def test_a_text_without_careful_candidates_is_unfit() -> None:
    case = Case("one", Text.of("john has been there"), label=0)
    search = substitutes(case, Careful())
    next(search)
    with pytest.raises(Unfit, match="no candidates"):
        search.send([("NN", "VBZ", "VBN", "RB")])


LIKELY = Careful(listed=False, protects=False, usual=False)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, Synonyms()),
        ({"candidates": "paper"}, Synonyms()),
        ({"candidates": "paper", "senses": "2"}, Synonyms(senses=2)),
        ({"candidates": "paper", "senses": "likely"}, LIKELY),
        ({"candidates": "careful"}, Careful()),
        ({"candidates": "strict"}, Careful()),
        ({"candidates": "loose"}, Careful(min_score=LOOSE_MIN_SCORE, usual=False)),
        ({"candidates": "any"}, Synonyms()),
        ({"candidates": "any", "senses": "likely"}, LIKELY),
        ({"candidates": "careful", "senses": "1"}, Careful(senses=1)),
    ],
)
def test_presets_and_senses(settings: dict[str, str], expected: object) -> None:
    assert choose_proposal(CandidateSettings(**settings)) == expected  # type: ignore[arg-type]


def test_senses_are_a_number_or_likely() -> None:
    for senses in ("0", "-1", "many", "1.5"):
        with pytest.raises(UsageError, match="expected how many senses"):
            choose_proposal(CandidateSettings(senses=senses))
    with pytest.raises(UsageError, match="--senses selects WordNet's synonyms"):
        choose_proposal(CandidateSettings(neighbours="glove", senses="1"))


def test_a_misspelt_preset_is_named() -> None:
    with pytest.raises(UsageError, match=r"Unknown candidates 'carefull'\. Did you mean 'careful'"):
        choose_proposal(CandidateSettings(candidates="carefull"))


def test_likely_senses_leave_out_rare_ones() -> None:
    likely = Careful(listed=False, protects=False, usual=False)
    every = Synonyms().of("family", "NN")
    assert "sept" in every and "sept" not in likely.of("family", "NN")


def test_in_reports_careful_is_much_more_demanding() -> None:
    tale = "the company delayed the story of the man with slow work"
    assert "man" in options(tale)
    found = options("BERLIN (Reuters) - Siemens delayed the story of the man with slow work")
    assert "man" not in found  # a score below that of reports
    # A noun after an adjective may be part of a term there.
    assert "film" in options("a new movie was shown by a man")["movie"]
    assert "movie" not in options("A new movie was shown by Siemens")
    assert "film" in options("A movie was shown by Siemens")["movie"]


def test_a_text_keeps_to_american_or_british_spellings() -> None:
    assert "aeroplane" not in options("the gray airplane was late").get("gray", ())
    assert "grey" not in options("a gray film of gray humor").get("gray", ())


def test_another_form_of_a_word_that_was_read_must_be_common_itself() -> None:
    assert "assented" not in {e.form for e in evidence_of("agreed", "VBD")}
    assert "demise" in {e.form for e in evidence_of("death", "NN")}
    assert "demises" not in {e.form for e in evidence_of("deaths", "NNS")}


def test_a_substitute_never_seen_with_a_neighbour_that_the_word_has_often_is_none() -> None:
    assert _goes_with("movie", "film", "this", BREAK)
    assert not _goes_with("original", "initial", "the", "version")
