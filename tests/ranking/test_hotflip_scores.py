"""Gains against brute force: every edit written out as a difference of one-hot characters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from brittle.moves import CHARACTER_EDITS, EditKind, EditSpace, Move  # noqa: E402
from brittle.ranking.hotflip_scores import CharacterEdits, EditedWords  # noqa: E402
from brittle.text import Text, words_of  # noqa: E402
from brittle.zoo import layers  # noqa: E402
from brittle.zoo.tokenizers import UNKNOWN  # noqa: E402
from brittle.zoo.white_box import NetworkWhiteBox  # noqa: E402
from zoo.exact import ALPHABET, KNOWN, edit_request, model, opened  # noqa: E402

NAMES = ["CharCNN-LSTM", "CNN-C-Random-1-mean", "BiLSTM-WC-Random-2-attention"]
ALL = 10**9
WORDS = [
    *("film", "GOd", "o", "foo", "foot", "ooo", "7", "zz", "aŷa", "ŷß", "ééa"),
    *("well-known", "don't", "a-b", "n't-o", "e\u0301", "fe\u0301e", "a-e\u0301f"),
    *("fogdatle", "gonedat", "tattooing", "fogging-e", "supercalifragilistic"),
]
ALIKE = "ooooooooooo"  # has windows that are alike
TEXTS = [Text.of(" ".join(WORDS)), Text.of("a good; film 😀"), Text.of("o"), Text.of("well-known")]
LETTERS = [c for c in ALPHABET if c.isalnum()]


def edits(word: str, most: int) -> Iterator[tuple[EditKind, int, str]]:
    """List every edit of the characters of a word that are read."""
    for at in range(min(len(word), most)):
        yield "delete", at, word[:at] + word[at + 1 :]
        for c in LETTERS:
            yield "flip", at, word[:at] + c + word[at + 1 :]
    for at in range(len(word) + 1 if len(word) < most else 0):
        for c in LETTERS:
            yield "insert", at, word[:at] + c + word[at:]


class Brute:
    """All gains of one text, by the gradient along one-hot characters and words."""

    def __init__(self, tested: Any, text: Text, space: EditSpace) -> None:
        request = edit_request(text, tested, space)
        embedded, batch, _ = opened(tested, [request])
        self.tokenizer, self.text, network = tested.tokenizer, text, tested.network
        self.most = self.tokenizer.spelling
        rows = embedded.characters.grad[batch.which[0]].numpy()
        self.size = len(network.spelling.embedding.weight)
        rows = np.sign(rows) if space.sign else rows
        self.character = rows @ network.spelling.embedding.weight.detach().numpy().T
        self.word = None
        if embedded.words is not None:
            own = embedded.words.grad[0].numpy()
            own = np.sign(own) if space.sign else own
            self.word = own @ network.embedding.weight.detach().numpy().T

    def one_hot(self, word: str) -> Any:
        found = np.zeros((self.most, self.size))
        numbers = self.tokenizer.character_ids(word)
        found[np.arange(self.most), [*numbers, *[0] * (self.most - len(numbers))]] = 1
        return found

    def gain(self, position: int, new: str) -> float:
        """Project the gradient on the difference, as HotFlip does."""
        old = str(self.text.words[position])
        change = self.one_hot(new) - self.one_hot(old)
        gain, square = (change * self.character[position]).sum(), (change**2).sum()
        number = self.tokenizer.vocabulary.token_id(old)
        if square and self.word is not None and number != UNKNOWN:
            gain += self.word[position][UNKNOWN] - self.word[position][number]
            square += 2
        return float(gain / np.sqrt(square)) if square else np.nan

    def all(self, kinds: tuple[EditKind, ...]) -> dict[tuple[int, str], tuple[float, EditKind]]:
        found = {}
        for position, word in enumerate(map(str, self.text.words)):
            for kind, _, new in edits(word, self.most):
                gain = self.gain(position, new)
                if kind in kinds and new != word and words_of(new) == [new] and gain == gain:
                    found[position, new] = (gain, kind)
        return found


def ranked(tested: Any, text: Text, space: EditSpace) -> list[Move]:
    (found,) = NetworkWhiteBox(tested).flips([edit_request(text, tested, space)])
    return [found.moves[n] for n in range(len(found.moves.gain))]


@pytest.fixture
def one_group(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let torch read all words as one group, or its gradient at the end of a word is cut off."""
    monkeypatch.setattr(layers, "LENGTH_GROUP", 64)


@pytest.mark.usefixtures("one_group")
@pytest.mark.parametrize("sign", [False, True])
@pytest.mark.parametrize(
    "kinds",
    [CHARACTER_EDITS, ("delete",), pytest.param(("flip", "insert"), marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("name", NAMES)
def test_all_edits_have_the_gains_of_brute_force(
    name: str, kinds: tuple[EditKind, ...], sign: bool
) -> None:
    tested = model(name)
    for text in TEXTS:
        space = EditSpace("characters", kinds, top_k=ALL, sign=sign)
        expected = Brute(tested, text, space).all(kinds)
        moves = ranked(tested, text, space)
        by_edit = {(move.position, move.new): (move.gain, move.kind) for move in moves}
        assert len(by_edit) == len(moves)  # no new word comes twice
        assert by_edit.keys() == expected.keys()
        for key, (gain, kind) in by_edit.items():
            assert gain == pytest.approx(expected[key][0], abs=1e-11) and kind == expected[key][1]


def test_of_windows_that_are_alike_the_first_has_the_gradient() -> None:
    tested = model("CharCNN-LSTM")
    text, space = Text.of(f"the {ALIKE}"), EditSpace("characters", top_k=ALL)
    moves = [move for move in ranked(tested, text, space) if move.position == 1]
    brute = Brute(tested, text, space)
    assert {move.new for move in moves} == {
        new for position, new in brute.all(CHARACTER_EDITS) if position
    }
    (gradient,) = NetworkWhiteBox(tested).gradients([edit_request(text, tested, space)])
    inner = gradient.value[1][3:5]  # in none but the windows that are alike, and not in the first
    assert not inner.any() and gradient.value[1][:3].any()
    # Torch shares the gradient out evenly: the sum is the same.
    embedded, batch, _ = opened(tested, [edit_request(text, tested)])
    whole = embedded.characters.grad[batch.which[0, 1]].numpy()
    assert gradient.value[1].sum(axis=0) == pytest.approx(whole[:8].sum(axis=0))


@pytest.mark.usefixtures("one_group")
def test_a_flip_an_insertion_and_a_deletion_by_hand() -> None:
    tested = model("CharCNN-LSTM")
    text = Text.of("the foo")
    embedded, batch, _ = opened(tested, [edit_request(text, tested)])
    g = embedded.characters.grad[batch.which[0, 1]].numpy()
    table = tested.network.spelling.embedding.weight.detach().numpy()
    o, f, e = (table[2 + ALPHABET.index(c)] for c in "ofe")
    moves = {
        m.new: m
        for m in ranked(tested, text, EditSpace("characters", top_k=ALL))
        if m.position == 1
    }
    assert moves["feo"].gain == pytest.approx(g[1] @ (e - o) / 2**0.5)
    # f o o · becomes f o o e: one character; o o · · and f o · · as well.
    assert moves["fooe"].gain == pytest.approx(g[3] @ e / 2**0.5)
    assert moves["fo"].gain == pytest.approx(-g[2] @ o / 2**0.5)
    assert moves["oo"].gain == pytest.approx((g[0] @ (o - f) - g[2] @ o) / 4**0.5)
    # e f o o: the second o was there before.
    run = g[0] @ (e - f) + g[1] @ (f - o) + g[3] @ o
    assert moves["efoo"].gain == pytest.approx(run / 6**0.5)
    assert [moves[w].character for w in ("feo", "fooe", "fo", "oo", "efoo")] == [1, 3, 2, 0, 0]
    assert [moves[w].kind for w in ("feo", "fooe", "fo")] == ["flip", "insert", "delete"]


@pytest.mark.parametrize("double", [True, False])
def test_the_best_are_the_first_of_the_whole_ranking(double: bool) -> None:
    tested = model("CharCNN-LSTM", double=double)
    white = NetworkWhiteBox(tested)
    for kinds in (CHARACTER_EDITS, ("delete",)):
        requests = [
            edit_request(text, tested, EditSpace("characters", kinds, top_k=ALL)) for text in TEXTS
        ]
        whole = [found.moves for found in white.flips(requests)]
        assert all((np.diff(moves.gain) <= 0).all() for moves in whole)
        for top in (0, 1, 2, 7, 64, 300):
            some = [
                edit_request(text, tested, EditSpace("characters", kinds, top_k=top))
                for text in TEXTS
            ]
            for found, expected in zip(white.flips(some), whole):
                count = min(top, len(expected.gain))
                assert len(found.moves.gain) == count and found.moves.gain.dtype == np.float64
                assert [found.moves[n] for n in range(count)] == [expected[n] for n in range(count)]


def test_an_edit_gains_what_it_says_when_it_is_small() -> None:
    """Along the way from a word to its edit, the objective rises by the gain at first."""
    tested = model("CharCNN-LSTM")
    text = Text.of("the film is good")
    request = edit_request(text, tested, EditSpace("characters", ("flip",), top_k=ALL))
    _, batch, _ = opened(tested, [request])
    network, tokenizer = tested.network, tested.tokenizer
    table = network.spelling.embedding.weight.detach()
    embedded = network.embed(batch)

    def loss(moved: Any) -> float:
        from brittle.zoo.networks import Embedded

        logits = network.logits(Embedded(None, moved), batch)
        return float(-logits.log_softmax(1)[0, 1])

    with torch.no_grad():
        for move in ranked(tested, text, request.space)[:40:5]:
            row, moved = int(batch.which[0, move.position]), embedded.characters.clone()
            new = tokenizer.character_ids(move.new)
            change = (
                table[list(new)]
                - table[list(tokenizer.character_ids(str(text.words[move.position])))]
            )
            moved[row, : len(new)] += 1e-6 * change
            rise = (loss(moved) - loss(embedded.characters)) / 1e-6
            assert rise == pytest.approx(move.gain * 2**0.5, rel=1e-3, abs=1e-7)


def test_known_words_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    tested = model("CharCNN-LSTM")
    moves = {
        m.new: m for m in ranked(tested, Text.of("goo Foa oon"), EditSpace("characters", top_k=ALL))
    }
    for move in moves.values():
        assert move.in_vocabulary == (move.new.lower() in KNOWN)
    assert {"god", "good", "Foo", "on"} <= {
        move.new for move in moves.values() if move.in_vocabulary
    }


def flat(alphabet: str = "abc", spelling: int = 6, size: int = 2, **known: Any) -> CharacterEdits:
    return CharacterEdits(list(alphabet), spelling, torch.zeros((len(alphabet) + 2, size)), ())


def rows(words: list[str], spelling: int = 6) -> int:
    return sum(min(len(word) + 1, spelling) for word in words)


def test_ties_stand_in_the_order_of_positions_and_characters() -> None:
    edits = flat()
    where = [EditedWords((3, 8), ["ab", "c"])]
    for top in (ALL, 5):
        space = EditSpace("characters", top_k=top)
        (moves,) = edits.rank(where, torch.ones((rows(["ab", "c"]), 2)), space)
        listed = [
            (m.position, m.character, m.kind, m.new) for m in (moves[n] for n in range(len(moves)))
        ]
        assert listed[:5] == [
            (3, 0, "flip", "bb"),
            (3, 0, "flip", "cb"),
            (3, 0, "insert", "bab"),
            (3, 0, "insert", "cab"),
            (3, 0, "delete", "b"),
        ]
        order = [(position, at, CHARACTER_EDITS.index(kind)) for position, at, kind, _ in listed]
        assert order == sorted(order) and len(listed) == min(top, 20)
    with pytest.raises(IndexError):
        moves[len(moves)]


def test_only_letters_and_digits_are_put_in() -> None:
    edits = flat("a-'b\u0301٣½")
    assert edits.new_characters == ("a", "b", "٣", "½")
    (moves,) = edits.rank([EditedWords((0,), ["a"])], torch.ones((2, 2)), EditSpace("characters"))
    assert {moves[n].new for n in range(len(moves))} >= {"b", "٣", "½", "aa", "a٣"}
    assert not any(set("-'\u0301") & set(moves[n].new) for n in range(len(moves)))


def test_an_alphabet_without_letters_can_only_delete() -> None:
    edits = flat("-")
    (moves,) = edits.rank([EditedWords((0,), ["ab"])], torch.ones((3, 2)), EditSpace("characters"))
    assert [moves[n].new for n in range(len(moves))] == ["b", "a"]


def test_what_is_not_a_number_in_one_word_reaches_no_other() -> None:
    torch.manual_seed(0)
    table = torch.randn((5, 2), dtype=torch.float64)
    edits = CharacterEdits(list("abc"), 6, table, ())
    words = ["ab", "cab", "b"]
    gradient = torch.randn((rows(words), 2), dtype=torch.float64)
    texts = [EditedWords((0, 1), words[:2]), EditedWords((4,), words[2:])]
    space = EditSpace("characters", top_k=ALL)
    before = [
        edits.rank([text], part, space)[0] for text, part in zip(texts, gradient.split([7, 2]))
    ]
    gradient[1, 0] = torch.nan  # in the first word
    found = edits.rank(texts, gradient, space)
    kept = [before[0][n] for n in range(len(before[0])) if before[0][n].position == 1]
    assert [found[0][n].new for n in range(len(found[0]))] == [move.new for move in kept]
    assert found[0].gain == pytest.approx([move.gain for move in kept])
    assert found[1].gain == pytest.approx(before[1].gain)
    table[3] = torch.inf  # the letter b
    found = CharacterEdits(list("abc"), 6, table, ()).rank(texts, gradient, space)
    assert all(np.isfinite(moves.gain).all() for moves in found) and len(found[1]) == 0


def test_words_that_are_none_are_left_alone() -> None:
    words = ["two words", "a--b", "-a", "ok"]
    edits = flat("abcok", spelling=20)
    gradient = torch.ones((rows(words, 20), 2))
    (moves,) = edits.rank(
        [EditedWords(range(4), words)], gradient, EditSpace("characters", top_k=ALL)
    )
    assert {moves[n].position for n in range(len(moves))} == {3}
