"""The synonym table: reading, order, and the same result from a folder of WordNet's files."""

from __future__ import annotations

import importlib.util
import lzma
from pathlib import Path
from types import ModuleType

import pytest

from brittle.english.wordnet import FILES, WORDNET_FILE, WordNet, wordnet
from brittle.errors import UsageError

TEN = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
HEADER = "  1 This software and database is being provided to you, the LICENSEE, by  \n"
DATA = {
    "noun": (
        "00000010 03 n 02 whole 0 unit 0 001 @ 00000020 n 0000 | an assemblage of parts  \n"
        "00000020 03 n 03 film 0 motion_picture 0 Movie 0 000 | a form of entertainment  \n"
        "00000030 03 n 03 picture 1 film 1 Film 2 000 | a thin coating | and a bar  \n"
        "00000040 03 n 01 alone 0 000 | a group of its own  \n"
        "00000050 03 n 02 24/7 0 always 0 000 | only one of the two is a word  \n"
    ),
    "verb": (
        "00000010 29 v 02 see 0 watch 1 000 01 + 08 00 | perceive by sight; "
        '"she saw | it"; "what we see"- Shakespeare; "watch it!"  \n'
    ),
    "adj": (
        "00000010 00 a 02 plenty(ip) 0 galore(ip) 0 000 | existing in abundance  \n"
        "00000020 00 s 0a one 0 two 0 three 0 four 0 five 0 six 0 seven 0 eight 0 nine 0 "
        "ten 0 000 | a count in hexadecimal  \n"
    ),
    "adv": "00000010 02 r 02 o'clock 0 by-the-clock 0 000 | according to the clock  \n",
}
INDEX = {
    "noun": (
        "alone n 1 0 1 0 00000040  \n"
        "always n 1 0 1 0 00000050  \n"
        "film n 2 1 @ 2 2 00000030 00000020  \n"
        "motion_picture n 1 1 @ 1 1 00000020  \n"
        "movie n 1 1 @ 1 1 00000020  \n"
        "picture n 2 1 @ 2 0 00000040 00000030  \n"
        "unit n 1 1 @ 1 1 00000010  \n"
        "whole n 1 1 @ 1 1 00000010  \n"
    ),
    "verb": "see v 1 0 1 1 00000010  \nwatch v 1 0 1 1 00000010  \n",
    "adj": "plenty a 1 0 1 0 00000010  \ngalore a 1 0 1 0 00000010  \n"
    + "".join(f"{word} a 1 0 1 0 00000020  \n" for word in TEN),
    "adv": "by-the-clock r 1 0 1 0 00000010  \no'clock r 1 0 1 0 00000010  \n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for part in FILES.values():
        (tmp_path / f"data.{part}").write_text(HEADER + DATA[part], encoding="utf-8")
        (tmp_path / f"index.{part}").write_text(HEADER + INDEX[part], encoding="utf-8")
    return tmp_path


def script(name: str = "build_wordnet") -> ModuleType:
    path = Path(__file__).parents[2] / "scripts" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_folder_gives_groups_of_single_words_with_the_number_of_the_sense(folder: Path) -> None:
    assert script().table(WordNet.from_folder(folder)) == (
        "#n\nwhole unit\nfilm1 Movie\npicture1 film\n"
        "#v\nsee watch\n"
        "#a\nplenty galore\none two three four five six seven eight nine ten\n"
        "#r\no'clock by-the-clock\n"
    )


def test_example_sentences_are_without_definitions_and_quotations(folder: Path) -> None:
    assert list(script("build_bigrams").example_sentences(folder)) == ["she saw | it", "watch it!"]


def test_synonyms_follow_the_senses_then_the_group(folder: Path) -> None:
    net = WordNet.from_folder(folder)
    assert net.synonyms("film", "n") == ("picture", "Movie")
    assert net.synonyms("FILM", "n") == ("picture", "Movie")
    assert net.synonyms("film", "n", senses=1) == ("picture",)
    assert net.synonyms("picture", "n", senses=1) == ()  # its first sense has no other word
    assert net.synonyms("galore", "a") == ("plenty",)
    assert net.synonyms("five", "a") == (*TEN[:4], *TEN[5:])
    assert net.synonyms("film", "v") == ()
    assert net.synonyms("alone", "n") == ()
    assert net.synonyms("", "n") == ()


def test_the_table_of_a_folder_reads_back_the_same(folder: Path) -> None:
    net = WordNet.from_folder(folder)
    table = script().table
    again = WordNet.from_table(table(net))
    assert table(again) == table(net)
    assert again.synonyms("film", "n") == net.synonyms("film", "n")


def test_the_script_writes_the_same_bytes_twice(folder: Path, tmp_path: Path) -> None:
    module = script()
    build = module.build
    first, second = tmp_path / "first.xz", tmp_path / "second.xz"
    assert build(folder, first) == build(folder, second)
    assert first.read_bytes() == second.read_bytes()
    assert lzma.decompress(first.read_bytes()).decode() == module.table(WordNet.from_folder(folder))


def test_a_folder_without_its_files_says_which(folder: Path) -> None:
    (folder / "data.verb").unlink()
    with pytest.raises(UsageError, match=r"lacks data\.verb\. Use the folder"):
        WordNet.from_folder(folder)


def test_a_file_of_another_kind_names_the_line(folder: Path) -> None:
    (folder / "index.adv").write_text(HEADER + "not a line\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"index\.adv, line 2: not a line"):
        WordNet.from_folder(folder)


def test_the_shipped_table_knows_wordnet() -> None:
    net = wordnet()
    assert net is wordnet()
    assert net.synonyms("movie", "n") == ("film", "picture", "pic", "flick")
    assert net.synonyms("quickly", "r")[:2] == ("rapidly", "speedily")
    assert "glad" in net.synonyms("happy", "a")  # a satellite adjective
    assert net.synonyms("see", "v")[:2] == ("understand", "realize")
    assert WORDNET_FILE.stat().st_size < 300_000


def test_the_shipped_table_is_whole() -> None:
    lines = lzma.decompress(WORDNET_FILE.read_bytes()).decode().splitlines()
    groups = [line for line in lines if not line.startswith("#")]
    assert (len(lines) - len(groups), len(groups)) == (4, 28_010)
    assert all(len(group.split()) > 1 for group in groups)
    assert "_" not in "".join(groups)


@pytest.mark.slow
def test_the_shipped_table_is_that_of_debians_files() -> None:
    installed = Path("/usr/share/wordnet")
    if not installed.is_dir():
        pytest.skip("Debian's wordnet-base is not installed")
    table = script().table
    assert table(WordNet.from_folder(installed)) == table(WordNet.shipped())


def test_the_licence_notice_lies_beside_the_table() -> None:
    notice = WORDNET_FILE.with_name("WORDNET-LICENSE").read_text(encoding="utf-8")
    assert "WordNet 3.0 Copyright 2006 by Princeton University.  All rights reserved." in notice
