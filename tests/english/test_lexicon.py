"""The shipped lexicon, and the guesses for words it does not know, against textblob's own."""

from __future__ import annotations

import importlib.util
import json
import lzma
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import ModuleType

import pytest

from brittle import data
from brittle.english.tags import SHIPPED, Lexicon, guess_tag, load_lexicon

# What textblob itself tags, printed by another process: textblob loads nltk and scipy.
TEXTBLOB = """
import json, sys
from textblob._text import find_tags
from textblob.en import lexicon
sentences = json.load(sys.stdin)
print(json.dumps([[tag for _, tag in find_tags(tokens, lexicon)] for tokens in sentences]))
"""
STRANGE = (
    *("", " ", "a b", "c/d", "\x00", "é", "É", "שלום", "😀", "____", "<b>", "'", "’", "n't", "\n"),
    *("1", "1,000", "12:30", "3.5%", "$5", "1/2", "-", "--", ".", "...", "5\n", "٣", "1e5", "3d"),
    *("Hooloovoo", "HOOLOOVOO", "hooLoovoo", "McHoo", "A-B", "X", "x", "O'Hoo", "Übel", "The"),
    *("bloffing", "bloffly", "bloffs", "bloffis", "bloffous", "bloffss", "bloffless", "bloffed"),
    *("bloffate", "bloffise", "bloffize", "bloffify", "bloffable", "bloffish", "blo-ff", "-ed"),
    *("blo-ffize", "blo-ffed", "blo-ffs", "s", "is", "ss", "ly", "ing", "ed", "al", "BLOFFED"),
)


def script() -> ModuleType:
    path = Path(__file__).parents[2] / "scripts" / "build_lexicon.py"
    spec = importlib.util.spec_from_file_location("build_lexicon", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def english_files() -> Path:
    """The folder of textblob's English files."""
    if importlib.util.find_spec("textblob") is None:
        pytest.skip("textblob is not installed")
    folder: Path = script().find_textblob()
    return folder


def check_against_textblob(sentences: list[list[str]]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", TEXTBLOB],
        input=json.dumps(sentences),
        capture_output=True,
        text=True,
        check=True,
    )
    lexicon = load_lexicon()
    for tokens, expected in zip(sentences, json.loads(done.stdout), strict=True):
        assert lexicon.tag_tokens(tokens) == expected, tokens


def test_the_shipped_table_is_that_of_textblob(english_files: Path) -> None:
    if (version := f"textblob {metadata.version('textblob')}") != load_lexicon().source:
        pytest.skip(f"the table is built from {load_lexicon().source}, not from {version}")
    shipped = lzma.decompress(SHIPPED.read_bytes()).decode()
    assert script().build_table(english_files, load_lexicon().source) == shipped


@pytest.mark.slow
def test_tokens_are_tagged_as_textblob_tags_them(english_files: Path) -> None:
    alone = [[token] for token in STRANGE]
    later = [["the", token, token] for token in STRANGE]
    check_against_textblob([[], list(STRANGE), *alone, *later])


@pytest.mark.slow
def test_sentences_are_tagged_as_textblob_tags_them(english_files: Path) -> None:
    if not data.names()[0].installed:
        pytest.skip("the package of mr is not installed")
    train = data.load("mr", split="train").examples[:3000]
    sentences = [example.fields[0][1].split() for example in train]
    misspelt = [[token[:-3] + "q" + token[-3:] for token in tokens] for tokens in sentences]
    titles = [[token.title() for token in tokens] for tokens in sentences]
    shouted = [[token.upper() for token in tokens] for tokens in sentences]
    check_against_textblob([*sentences, *misspelt, *titles, *shouted])


def test_the_script_writes_the_same_bytes_twice(tmp_path: Path) -> None:
    (tmp_path / "en-lexicon.txt").write_text(";;; notice\nto TO\nfilm NN x\nan DT\nplot NN\n")
    (tmp_path / "en-context.txt").write_text(";;; notice\n\nNN VB PREVTAG TO\n")
    first, second = tmp_path / "first.xz", tmp_path / "second.xz"
    sizes = [script().build(tmp_path, "a source 1.0", path) for path in (first, second)]
    assert first.read_bytes() == second.read_bytes() and sizes == [first.stat().st_size] * 2
    table = lzma.decompress(first.read_bytes()).decode()
    assert table == "a source 1.0\nDT an\nNN film plot\nTO to\n\nNN VB PREVTAG TO\n"
    lexicon = Lexicon.from_table(table)
    assert lexicon.tags == {"an": "DT", "film": "NN", "plot": "NN", "to": "TO"}
    assert [rule[:2] for rule in lexicon.rules] == [("NN", "VB")]


def test_the_shipped_lexicon_is_whole() -> None:
    lexicon = load_lexicon()
    assert lexicon is load_lexicon()
    assert (len(lexicon.tags), len(lexicon.rules)) == (94_118, 290)
    assert lexicon.tag_tokens(["A", "film", "!"]) == ["DT", "NN", "."]
    assert SHIPPED.stat().st_size < 300_000


def test_only_the_first_word_is_also_known_in_lower_case() -> None:
    assert load_lexicon().tag_tokens(["Gloomily", "Gloomily"]) == ["RB", "NNP"]


@pytest.mark.parametrize(
    ("word", "tag"),
    [
        ("Bloff", "NNP"),
        ("7,5%", "CD"),
        ("bloffize", "VBP"),
        ("blo-ffed", "VBN"),
        ("blo-ffs", "JJ"),
        ("bloffous", "JJ"),
        ("bloffness", "NN"),
        ("bloffs", "NNS"),
        ("bloffly", "RB"),
        ("bloffing", "VBG"),
        ("bloff", "NN"),
    ],
)
def test_an_unknown_word_is_tagged_by_its_shape_and_ending(word: str, tag: str) -> None:
    assert word not in load_lexicon().tags and guess_tag(word) == tag


def test_the_licence_notices_lie_beside_the_table() -> None:
    notice = SHIPPED.with_name("LEXICON-LICENSE").read_text(encoding="utf-8")
    assert "Copyright 1993 by the Massachusetts Institute of Technology" in notice
    assert "Creative Commons Attribution 3.0 Unported" in notice
    assert "Copyright Steven Loria and contributors" in notice
