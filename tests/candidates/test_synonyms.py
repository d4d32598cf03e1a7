"""Synonyms as they would stand in the text, and given lists."""

from __future__ import annotations

import lzma
import re
from functools import cache
from pathlib import Path

import pytest

from brittle.candidates import Proposal, SubstituteTable, Synonyms
from brittle.candidates.synonyms import _substitutes
from brittle.english.forms import load_lemminflect
from brittle.english.wordnet import WORDNET_FILE
from brittle.errors import UsageError
from brittle.text import words_of

CLASSES = {"N": ("n", "NOUN"), "V": ("v", "VERB"), "J": ("a", "ADJ"), "R": ("r", "ADV")}
BASE = ("NN", "VB", "VBP", "JJ", "RB")
lemminflect = load_lemminflect()  # without spaCy, whose import takes two seconds
SAMPLE = [
    ("movie", "NN"), ("Movies", "NNS"), ("MOVIES", "NNS"), ("loved", "VBD"), ("seen", "VBN"),
    ("Running", "VBG"), ("runs", "VBZ"), ("see", "VB"), ("think", "VBP"), ("good", "JJ"),
    ("better", "JJR"), ("best", "JJS"), ("Great", "JJ"), ("quickly", "RB"), ("faster", "RBR"),
    ("most", "RBS"), ("leaves", "NNS"), ("lay", "VBD"), ("lay", "VB"), ("glasses", "NNS"),
    ("china", "NN"), ("television", "NN"), ("exist", "VBP"), ("people", "NNS"), ("had", "VBD"),
    ("was", "VBD"), ("being", "NN"), ("Paris", "NNP"), ("the", "DT"), ("film's", "NN"),
    ("don't", "VB"), ("xqzzk", "NN"), ("", "NN"), ("😀", "NN"), ("İzmir", "NN"), ("up", "RP"),
    ("made", "VBN"), ("worst", "JJS"), ("trousers", "NNS"), ("hardly", "RB"), ("mOvIe", "NN"),
    ("fulfils", "VBZ"), ("best", "JJ"),
]  # fmt: skip


@cache
def members(pos: str) -> list[tuple[str, int, str]]:
    """Return the lemma and the rank of every member of every line of the table, and the line."""
    table = lzma.decompress(WORDNET_FILE.read_bytes()).decode()
    block = next(part[2:] for part in table.split("#") if part.startswith(pos + "\n"))
    return [
        (re.sub(r"\d", "", member).lower(), int(re.sub(r"\D", "", member) or 0), line)
        for line in block.splitlines()
        for member in line.split()
    ]


def reference(word: str, tag: str, inflect: bool = True) -> list[str]:
    """Do it the slow way: go through the whole table for each lemma, look up every form afresh."""
    low = word.lower()
    be = ("be", "am", "is", "are", "was", "were", "been", "being")
    if not re.fullmatch("NNS?|VB[DGNPZ]?|JJ[RS]?|RB[RS]?", tag) or low in be:
        return []
    if not inflect and tag not in BASE:
        return []
    pos, universal = CLASSES[tag[0]]
    possible = lemminflect.getLemma(low, universal)

    def forms(lemma: str) -> tuple[str, ...]:
        known_only = tag in ("JJR", "JJS", "RBR", "RBS")
        return tuple(lemminflect.getInflection(lemma, tag, inflect_oov=not known_only))

    own = [m for m in possible if low in ((m,) if tag in BASE else forms(m))] or list(possible)
    names = []
    for lemma in own:
        senses = []
        for member, rank, line in members(pos):
            if member == lemma:
                senses.append((rank, line))
        for _, line in sorted(senses, key=lambda sense: sense[0]):
            names += [re.sub(r"\d", "", member) for member in line.split()]
    substitutes: list[str] = []
    for name in names:
        entry = name.lower()
        if entry in own or entry in be:
            continue
        if pos == "n" and name[0].isupper() and name != name.upper():
            continue
        form = as_tagged(entry, tag, universal, forms)
        if form is None or form == low or words_of(form) != [form]:
            continue
        if not inflect:
            form = name
        elif word[0].isupper() and word[1:].islower():
            form = form[0].upper() + form[1:]
        elif word.isupper():
            form = form.upper()
        if form.lower() not in [other.lower() for other in substitutes]:
            substitutes.append(form)
    return substitutes


def as_tagged(entry, tag, universal, forms):  # type: ignore[no-untyped-def]
    tags = {
        known
        for lemma in lemminflect.getAllLemmas(entry, universal).get(universal, ())
        for known, written in lemminflect.getAllInflections(lemma, universal).items()
        if entry in written
    }
    if tags and not tags & set(BASE):
        return entry if tag in tags else None
    if tag in BASE:
        return entry
    return forms(entry)[0] if forms(entry) else None


@pytest.mark.parametrize(("word", "tag"), SAMPLE)
def test_substitutes_are_those_of_the_slow_reference(word: str, tag: str) -> None:
    assert list(Synonyms().of(word, tag)) == reference(word, tag)
    assert list(Synonyms(inflect=False).of(word, tag)) == reference(word, tag, inflect=False)


def test_substitutes_keep_inflection_and_case() -> None:
    assert Synonyms().of("movies", "NNS") == ("films", "pictures", "pics", "flicks")
    assert Synonyms().of("Movies", "NNS") == ("Films", "Pictures", "Pics", "Flicks")
    assert Synonyms().of("MOVIE", "NN") == ("FILM", "PICTURE", "PIC", "FLICK")
    assert {"understood", "witnessed"} <= set(Synonyms().of("seen", "VBN"))
    assert "safest" in Synonyms().of("best", "JJS")


def test_base_forms_only_without_inflection() -> None:
    plain = Synonyms(inflect=False)
    assert plain.of("Movie", "NN") == ("film", "picture", "pic", "flick")
    assert "TV" in plain.of("television", "NN")
    assert plain.of("movies", "NNS") == ()
    assert plain.of("loved", "VBD") == ()


@pytest.mark.parametrize(
    ("word", "tag"),
    [
        ("was", "VBD"),
        ("Being", "NN"),
        ("IS", "VBZ"),
        ("China", "NNP"),
        ("can", "MD"),
        ("it", "PRP"),
    ],
)
def test_some_words_have_no_substitute(word: str, tag: str) -> None:
    assert Synonyms().of(word, tag) == ()


def test_another_spelling_of_the_word_is_no_substitute() -> None:
    assert Synonyms().of("fulfils", "VBZ")
    assert "fulfills" not in Synonyms().of("fulfils", "VBZ")


def test_no_form_of_be_is_a_substitute() -> None:
    assert "survive" in Synonyms().of("exist", "VBP")
    assert not {"be", "are", "am"} & set(Synonyms().of("exist", "VBP"))


def test_proper_nouns_are_no_substitutes_for_common_ones() -> None:
    assert "tv" in Synonyms().of("television", "NN")
    assert "cathay" not in Synonyms().of("china", "NN")


def test_senses_limit_the_substitutes() -> None:
    few, more = Synonyms(senses=1).of("good", "JJ"), Synonyms(senses=3).of("good", "JJ")
    assert more[: len(few)] == few
    assert len(few) < len(more) < len(Synonyms().of("good", "JJ"))


def test_a_word_is_worked_out_once() -> None:
    Synonyms().of("picture", "NN")
    before = _substitutes.cache_info()
    assert Synonyms().of("picture", "NN") is Synonyms().of("picture", "NN")
    assert _substitutes.cache_info().misses == before.misses


def test_settings_make_the_proposal() -> None:
    assert Synonyms() == Synonyms(inflect=True) != Synonyms(senses=2)
    assert repr(Synonyms()) == "Synonyms(inflect=True, folder=None, senses=None)"


def test_every_proposal_says_whether_it_needs_tags() -> None:
    proposals: list[Proposal] = [Synonyms(), SubstituteTable({})]
    assert [proposal.needs_tags for proposal in proposals] == [True, False]


def test_a_table_is_read_and_looked_up_without_case(tmp_path: Path) -> None:
    path = tmp_path / "table.json"
    path.write_text('{"Good": ["fine", "well-made"], "café": []}', encoding="utf-8")
    table = SubstituteTable.load(path)
    assert table.of("GOOD", "anything") == ("fine", "well-made")
    assert table.of("café", "") == table.of("bad", "") == ()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[]", "are a JSON list. Expected an object"),
        ("{", "cannot be read"),
        ('{"good": "fine"}', "substitutes of 'good'.*Expected a list of single words"),
        ('{"good": ["very fine"]}', "Expected a list of single words"),
        ('{"good": [1]}', "Expected a list of single words"),
    ],
)
def test_a_wrong_table_says_what_is_expected(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "table.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        SubstituteTable.load(path)


def test_a_missing_table_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        SubstituteTable.load(tmp_path / "none.json")
