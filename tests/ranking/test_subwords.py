"""Gains against brute force: every edit written out, every product taken by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from brittle.moves import CHARACTER_EDITS, EditKind, EditSpace, Move, Moves
from brittle.text import HOLE, Word

torch = pytest.importorskip("torch")

from brittle.ranking import subwords as module  # noqa: E402
from brittle.ranking.moves import RankedMoves  # noqa: E402
from brittle.ranking.respellings import list_respellings, spell_out  # noqa: E402
from brittle.ranking.subwords import SubwordEdits, TokenGradients  # noqa: E402

UNKNOWN = 0
WORDS = ["a", "good", "bad", "god", "film", "movie", "fil", "it", "is", "if"]
LETTERS = "abcdefghijklmnopqrstuvwxyz"
IDS = list(range(1, 1 + len(WORDS)))
SIZE = 1 + len(WORDS) + len(LETTERS)
DIM = 5


def read(words: Sequence[str]) -> list[tuple[int, ...]]:
    """Read a word of the vocabulary as one token, another by its letters, digits as unknown."""
    tokens = []
    for word in words:
        low = word.lower()
        if low in WORDS:
            tokens.append((1 + WORDS.index(low),))
        else:
            tokens.append(
                tuple(1 + len(WORDS) + LETTERS.find(c) if c.isalpha() else 0 for c in low)
            )
    return tokens


def table(seed: int = 0) -> Any:
    return np.random.default_rng(seed).normal(size=(SIZE, DIM))


def token_gradients(
    words: Sequence[Word], space: EditSpace, seed: int = 1, positions: Sequence[int] | None = None
) -> TokenGradients:
    tokens = [read([word])[0] if isinstance(word, str) else (UNKNOWN,) for word in words]
    rows = sum(len(p) for p in tokens)
    gradient = np.random.default_rng([seed, *map(len, tokens)]).normal(size=(rows, DIM))
    return TokenGradients(space, positions or range(len(words)), words, tokens, gradient)


def rows_of(text: TokenGradients) -> list[Any]:
    ends = np.cumsum([len(p) for p in text.tokens])[:-1]
    return np.split(np.asarray(text.gradient), ends)


def listed(moves: Moves) -> list[Move]:
    return [moves[n] for n in range(len(moves.gain))]


def brute_words(text: TokenGradients, e: Any) -> list[tuple[float, int, str]]:
    made = []
    for position, word, tokens, g in zip(text.positions, text.words, text.tokens, rows_of(text)):
        if text.space.sign:
            g = np.sign(g)
        mean = np.mean([e[t] for t in tokens], axis=0)
        for v, new in zip(IDS, WORDS):
            cosine = mean @ e[v] / np.linalg.norm(mean) / np.linalg.norm(e[v])
            if new == str(word).lower() or cosine < (text.space.cosine or -2):
                continue
            made.append((e[v] @ g[0] - sum(e[t] @ row for t, row in zip(tokens, g)), position, new))
    return sorted(made, key=lambda m: -m[0])


def brute_characters(text: TokenGradients, e: Any) -> list[tuple[float, int, str, EditKind, int]]:
    made = []
    for position, word, tokens, g in zip(text.positions, text.words, text.tokens, rows_of(text)):
        mean, now = g.mean(axis=0), g
        if text.space.sign:
            mean, now = np.sign(mean), np.sign(g)
        readings = {tuple(tokens)}
        for number, new in list_respellings(str(word), text.space.kinds):
            _, kind, at = spell_out(str(word), number)
            read_as = read([new])[0]
            if read_as not in readings:
                readings.add(read_as)
                gain = sum(e[t] @ mean for t in read_as)
                gain -= sum(e[t] @ row for t, row in zip(tokens, now))
                made.append((gain, position, new, kind, at))
    return sorted(made, key=lambda m: -m[0])


@pytest.mark.parametrize("sign", [False, True])
@pytest.mark.parametrize("cosine", [None, 0.3])
def test_swaps_are_ranked_as_brute_force_ranks_them(sign: bool, cosine: float | None) -> None:
    space = EditSpace(top_k=1000, sign=sign, cosine=cosine)
    text = token_gradients(["a", "terrible", "film", "it"], space, positions=[0, 3, 4, 7])
    (moves,) = SubwordEdits(table(), WORDS, IDS, read).rank([text])
    expected = brute_words(text, table())
    assert moves.gain.dtype == np.float64
    assert moves.gain == pytest.approx([gain for gain, _, _ in expected])
    if not sign:
        found = [(m.position, m.new) for m in listed(moves)]
        assert found == [(position, new) for _, position, new in expected]
    assert {(m.kind, m.character, m.in_vocabulary) for m in listed(moves)} == {("swap", 0, True)}
    assert len(expected) > 3 and (cosine is None) == (len(expected) == 4 * len(WORDS) - 3)


@pytest.mark.parametrize("sign", [False, True])
@pytest.mark.parametrize("kinds", [CHARACTER_EDITS, ("delete",), ("insert", "flip")])
def test_edits_of_characters_are_ranked_as_brute_force_ranks_them(
    sign: bool, kinds: tuple[EditKind, ...]
) -> None:
    space = EditSpace("characters", kinds, top_k=10_000, sign=sign)
    text = token_gradients(["good", "Rare", "film"], space, positions=[1, 2, 5])
    (moves,) = SubwordEdits(table(), WORDS, IDS, read).rank([text])
    expected = brute_characters(text, table())
    assert moves.gain == pytest.approx([made[0] for made in expected])
    # In any order, for edits of one gain to rounding may stand otherwise.
    found = sorted((m.position, m.new, m.kind, m.character) for m in listed(moves))
    assert found == sorted(made[1:] for made in expected)
    for move in listed(moves):
        assert move.in_vocabulary == (move.new.lower() in WORDS)
    if "delete" in kinds:
        assert {m.new for m in listed(moves) if m.in_vocabulary} >= {"god", "fil"}


def test_the_best_of_all_are_the_first_of_the_whole_ranking() -> None:
    for level in ("words", "characters"):
        whole = SubwordEdits(table(), WORDS, IDS, read).rank(
            [token_gradients(["good", "rare"], EditSpace(level))]
        )[0]
        for top in (0, 1, 7):
            some = token_gradients(["good", "rare"], EditSpace(level, top_k=top))
            (moves,) = SubwordEdits(table(), WORDS, IDS, read).rank([some])
            assert listed(moves) == listed(whole)[:top]


def test_ties_stand_in_the_order_of_positions_and_candidates() -> None:
    flat = np.zeros((SIZE, DIM))
    for top in (5, 50):
        (moves,) = SubwordEdits(flat, WORDS, IDS, read).rank(
            [token_gradients(["zoo", "good"], EditSpace(top_k=top))]
        )
        order = [(0, w) for w in WORDS] + [(1, w) for w in WORDS if w != "good"]
        assert [(m.position, m.new) for m in listed(moves)] == order[:top]
        text = token_gradients(["zoo", "good"], EditSpace("characters", top_k=top))
        (moves,) = SubwordEdits(flat, WORDS, IDS, read).rank([text])
        expected = [made[1:] for made in brute_characters(text, flat)][:top]
        assert [(m.position, m.new, m.kind, m.character) for m in listed(moves)] == expected


def test_texts_of_all_spaces_share_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    spaces = [
        EditSpace(),
        EditSpace("characters"),
        EditSpace(sign=True, top_k=3),
        EditSpace(cosine=0.2),
        EditSpace("characters", ("insert",), sign=True),
        EditSpace(cosine=0.2, sign=True),
    ]
    words = [["good", "film"], ["a"], ["is", "it", "rare"], [], ["bad", HOLE], ["movie"] * 3]
    texts = [token_gradients(w, s, seed) for seed, s in enumerate(spaces) for w in words]
    model = SubwordEdits(table(), WORDS, IDS, read)
    alone = [listed(model.rank([one])[0]) for one in texts]
    assert same([listed(moves) for moves in model.rank(texts)], alone)
    # A table of bounded size is a matter of memory alone.
    monkeypatch.setattr(module, "MAX_GAINS_PER_TABLE", 3 * len(WORDS))
    assert same([listed(moves) for moves in model.rank(texts)], alone)


def same(found: list[list[Move]], expected: list[list[Move]]) -> bool:
    gains = [[[m.gain for m in moves] for moves in side] for side in (found, expected)]
    return all(mine == pytest.approx(theirs, abs=1e-12) for mine, theirs in zip(*gains))


def test_numbers_of_single_precision_do() -> None:
    text = token_gradients(["good", "rare"], EditSpace())
    exact = SubwordEdits(table(), WORDS, IDS, read).rank([text])[0]
    single = SubwordEdits(torch.tensor(table(), dtype=torch.float32), WORDS, IDS, read).rank(
        [text]
    )[0]
    assert single.gain == pytest.approx(exact.gain, abs=1e-4)
    assert single.gain.dtype == np.float64


def test_what_is_not_finite_never_comes_back() -> None:
    broken = table()
    broken[2] = np.nan  # "good"
    broken[3] = np.inf  # "bad"
    model = SubwordEdits(broken, WORDS, IDS, read)
    (moves,) = model.rank([token_gradients(["film", "good"], EditSpace())])
    assert {m.position for m in listed(moves)} == {0}
    assert {m.new for m in listed(moves)} == set(WORDS) - {"good", "bad", "film"}
    (moves,) = model.rank([token_gradients(["god"], EditSpace("characters", top_k=10_000))])
    assert np.isfinite(moves.gain).all()
    assert "good" not in {m.new for m in listed(moves)} and len(listed(moves)) > 100
    for space in (EditSpace(), EditSpace("characters")):
        void = replace(token_gradients(["film"], space), gradient=np.full((1, DIM), np.nan))
        (moves,) = SubwordEdits(table(), WORDS, IDS, read).rank([void])
        assert len(moves.gain) == 0


def test_a_word_is_never_swapped_for_itself_whatever_its_case() -> None:
    cased = ["film", "Film", "FILM", "good"]
    model = SubwordEdits(table(), cased, [1, 2, 3, 4], lambda words: [(9,) for _ in words])
    (moves,) = model.rank([token_gradients(["Film"], EditSpace())])
    assert [m.new for m in listed(moves)] == ["good"]


def test_a_swap_has_the_capitals_of_the_word_where_the_model_reads_it_alike() -> None:
    (moves,) = SubwordEdits(table(), WORDS, IDS, read).rank(
        [token_gradients(["Film", "BAD"], EditSpace())]
    )
    found = {(m.position, m.new) for m in listed(moves)}
    assert {(0, "Good"), (1, "GOOD")} <= found

    def by_case(words: Sequence[str]) -> list[tuple[int, ...]]:
        return [read([word])[0] if word.islower() else (UNKNOWN,) for word in words]

    (moves,) = SubwordEdits(table(), WORDS, IDS, by_case).rank(
        [token_gradients(["Film"], EditSpace())]
    )
    assert {m.new for m in listed(moves)} == set(WORDS) - {"film"}


def test_a_hole_can_be_filled_but_not_spelt_otherwise() -> None:
    model = SubwordEdits(table(), WORDS, IDS, read)
    words, characters = model.rank(
        [token_gradients([HOLE], s) for s in (EditSpace(), EditSpace("characters"))]
    )
    assert {m.new for m in listed(words)} == set(WORDS)
    assert len(characters.gain) == 0


def test_moves_keep_no_gradient_and_are_read_lazily() -> None:
    calls = []

    def counted(words: Sequence[str]) -> list[tuple[int, ...]]:
        calls.append(len(words))
        return read(words)

    model = SubwordEdits(table(), WORDS, IDS, counted)
    (moves,) = model.rank([token_gradients(["good"] * 3, EditSpace("characters"))])
    assert len(calls) == 1  # one word, met three times
    assert isinstance(moves, RankedMoves)
    with pytest.raises(IndexError):
        moves[len(moves)]
    (moves,) = model.rank([token_gradients(["Good"], EditSpace())])
    assert len(calls) == 1
    assert moves[0].new.istitle() and len(calls) == 2


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("top", [1, 7, 400])
def test_no_position_is_left_out_that_holds_one_of_the_best(seed: int, top: int) -> None:
    """Many positions of very unlike gradients: the bound leaves some out, and never a best one."""
    random = np.random.default_rng(seed)
    words = [f"w{n}" for n in range(150)]
    table = torch.tensor(random.normal(size=(150, 6)) * random.exponential(size=(150, 1)))
    number = {word: n for n, word in enumerate(words)}
    edits = SubwordEdits(table, words, list(range(150)), lambda some: [(number[w],) for w in some])
    gradient = random.normal(size=(12, 6)) * 10.0 ** random.uniform(-2, 1, size=(12, 1))
    at = random.integers(0, 150, 12).tolist()
    space = EditSpace("words", top_k=top)
    text = TokenGradients(space, range(12), [words[n] for n in at], [(n,) for n in at], gradient)
    gain = gradient @ table.numpy().T - (gradient * table.numpy()[at]).sum(axis=1)[:, None]
    gain[np.arange(12), at] = -np.inf
    expected = np.sort(gain.reshape(-1))[::-1][:top]
    (found,) = edits.rank([text])
    assert np.allclose(found.gain, expected)
    assert found[0].position * 150 + number[found[0].new] == int(gain.argmax())
