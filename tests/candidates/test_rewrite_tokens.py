"""Where a tag is doubtful, and where a noun is bound to its neighbour."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from brittle.candidates.rewrite_tokens import WordRun, is_bound, is_doubtful, runs
from brittle.text import Text


@pytest.mark.parametrize(
    ("tagged", "doubtful"),
    [
        # A verb after a preposition or before "of" may be a noun, if it can be one.
        ("gun/NN for/IN start/VBP of/IN race/NN", {"start"}),
        ("they/PRP begin/VBP of/IN old/JJ", set()),
        ("the/DT fight/VBP ended/VBD", {"fight"}),
        ("Blair/NNP s/PRP claim/VBP that/IN it/PRP ended/VBD", {"claim"}),
        # A verb before an infinitive without "to" needs one that takes such an infinitive.
        ("games/NNS should/MD help/VB erase/VB them/PRP", {"help"}),
        ("games/NNS help/VBP the/DT team/NN win/VB", {"help"}),
        ("games/NNS help/VBP the/DT women/NNS to/TO win/VB", set()),
        # After "to" a noun may be a verb.
        ("he/PRP had/VBD himself/PRP to/TO blame/NN", {"blame"}),
        ("he/PRP went/VBD to/TO the/DT blame/NN", set()),
        # Without an article, a noun after a noun may be a verb.
        ("Oracle/NNP wins/NNS again/RB", {"wins"}),
        ("the/DT wins/NNS came/VBD late/RB", set()),
        # A noun before a noun is part of what that names.
        ("killer/NN robot/NN creates/VBZ stink/NN", {"killer"}),
        ("this/DT movie/NN works/NNS", {"works"}),
        ("a/DT killer/NN ,/, robots/NNS", set()),
        # A noun without an article after "in" or "on" is a fixed phrase.
        ("tour/NN in/IN doubt/NN", {"doubt"}),
        ("tour/NN in/IN great/JJ doubt/NN", set()),
        # An adjective after an article needs a noun, if it can be one itself.
        ("the/DT key/JJ to/TO it/PRP", {"key"}),
        ("the/DT key/JJ question/NN", set()),
        ("allies/NNS calm/JJ on/IN it/PRP", {"calm"}),
        ("allies/NNS are/VBP calm/JJ on/IN it/PRP", set()),
    ],
)
def test_doubtful_words(tagged: str, doubtful: set[str]) -> None:
    assert words_that(is_doubtful, tagged) == doubtful


@pytest.mark.parametrize(
    ("tagged", "bound"),
    [
        ("delayed/JJ financial/JJ results/NNS", {"results"}),
        ("see/VB story/NN on/IN page/NN", {"story", "page"}),
        ("the/DT title/NN race/NN", {"title", "race"}),
        ("the/DT story/NN of/IN customers/NNS who/WP quickly/RB left/VBD", set()),
    ],
)
def test_nouns_that_may_be_part_of_a_term(tagged: str, bound: set[str]) -> None:
    assert words_that(is_bound, tagged) == bound


def words_that(test: Callable[[WordRun, int], bool], tagged: str) -> set[str]:
    pairs = [pair.rpartition("/") for pair in tagged.split()]
    raw = " ".join(word for word, _, _ in pairs)
    tags = [tag for word, _, tag in pairs if word.isalpha()]
    text = Text.of(raw)
    return {
        str(text.words[run.start + n])
        for run in runs(text, tags)
        for n in range(len(run.words))
        if test(run, n)
    }
