"""HotFlip on characters: by hand, against slow oracles, and by the number of passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest

from attacks.oracle import case_of, drive, naive_beam, plain_beam
from brittle.asks import Answer, Case, Flips, FlipsAnswer, Try, Unfit
from brittle.attacks import build
from brittle.attacks.hotflip import HotFlip
from brittle.engine.broker import Broker
from brittle.engine.engine import Engine
from brittle.errors import UsageError
from brittle.goals import Untargeted
from brittle.moves import EditRequest, Move
from brittle.targets.capabilities import make_desks
from brittle.testing import FakeMoves, FakeNetwork
from brittle.text import Text

RNG = Random(0)


def move(gain: float, position: int, new: str, known: bool = False) -> Move:
    return Move(gain, position, new, "flip", 0, known)


def heard(*moves: FakeMoves) -> FlipsAnswer:
    loss = np.zeros(len(moves))
    return FlipsAnswer(np.zeros((len(moves), 2)), loss, loss > 1, moves)


def case(source: str, **more: Any) -> Case[Text]:
    return Case("0", Text.of(source), label=0, **more)


def texts(ask: Any) -> list[str]:
    return [str(text) for text in ask.items]


def flips_only(beam: int, share: float = 1.0) -> HotFlip:
    return HotFlip(beam, share, ("flip",), known=True)


# By hand.


def test_paths_are_ranked_by_the_sum_of_their_gains_and_never_by_loss() -> None:
    search = HotFlip(beam=2, share=0.5)(case("ab cd"), RNG)
    first = next(search)
    assert type(first) is Flips and texts(first) == ["ab cd"]
    second = search.send(heard(FakeMoves.of(move(3.0, 0, "xb"), move(2.0, 1, "yd"))))
    assert type(second) is Flips and texts(second) == ["xb cd", "ab yd"]

    # 3 + 1 < 2 + 2.5, whatever the losses say
    answer = heard(
        FakeMoves.of(move(1.0, 1, "cz"), move(0.1, 0, "xq")), FakeMoves.of(move(2.5, 0, "qb"))
    )
    answer.loss[:] = [0.9, 0.1]
    last = search.send(answer)
    assert type(last) is Try and texts(last) == ["qb yd", "xb cz"]
    with pytest.raises(StopIteration):
        search.send(Answer(np.zeros((2, 2)), np.zeros(2), np.zeros(2, dtype=bool)))


@pytest.mark.parametrize("toward", [None, 1])
def test_the_authors_code_ranks_by_the_parents_real_loss_plus_the_gain(toward: int | None) -> None:
    search = HotFlip(beam=2, share=0.5, variant="author-code")(case("ab cd", toward=toward), RNG)
    next(search)
    search.send(heard(FakeMoves.of(move(3.0, 0, "xb"), move(2.0, 1, "yd"))))
    answer = heard(
        FakeMoves.of(move(1.0, 1, "cz"), move(0.1, 0, "xq")), FakeMoves.of(move(0.5, 0, "qb"))
    )
    # −log 0.9 + 1.0 > −log 0.6 + 0.5 > −log 0.9 + 0.1; the gains alone would say 4.0, 3.1, 2.5
    answer.answers[:] = [[0.9, 0.1], [0.6, 0.4]]
    expected = ["xb cz", "qb yd"]
    if toward is not None:  # log 0.4 + 0.5 > log 0.1 + 1.0 > log 0.1 + 0.1
        expected = expected[::-1]
    assert texts(search.send(answer)) == expected


def test_one_text_by_two_ways_is_kept_once_with_the_higher_sum() -> None:
    search = HotFlip(beam=3, share=0.5)(case("ab cd"), RNG)
    next(search)
    search.send(heard(FakeMoves.of(move(3.0, 0, "xb"), move(2.0, 1, "yd"))))
    last = search.send(
        heard(
            FakeMoves.of(move(1.0, 1, "yd"), move(0.2, 0, "ab"), move(0.1, 1, "zd")),
            FakeMoves.of(move(1.9, 0, "xb"), move(0.5, 0, "zb"), move(0.4, 1, "cd")),
        )
    )
    # xb yd comes from both; ab cd is the original
    assert texts(last) == ["xb yd", "xb zd", "zb yd"]


def test_an_edit_may_redo_another_only_if_edits_need_not_go_further() -> None:
    for further, expected in ((True, ["xb yd"]), (False, ["zb cd"])):
        search = HotFlip(beam=1, share=0.5, further=further)(case("ab cd"), RNG)
        next(search)
        search.send(heard(FakeMoves.of(move(3.0, 0, "xb"))))
        moves = FakeMoves.of(move(4.0, 0, "ab"), move(3.0, 0, "zb"), move(2.0, 1, "yd"))
        assert texts(search.send(heard(moves))) == expected


def test_an_edited_word_is_no_known_word_unless_asked_for() -> None:
    moves = FakeMoves.of(move(2.0, 0, "at", known=True), move(1.0, 0, "ax"))
    for known, expected in ((False, ["ax"]), (True, ["at", "ax"])):
        search = HotFlip(beam=3, known=known)(case("ab"), RNG)
        next(search)
        assert texts(search.send(heard(moves))) == expected


def test_an_edited_word_stays_one_word() -> None:
    search = HotFlip(beam=9)(case("ab"), RNG)
    next(search)
    forms = ("-b", "a b", "", "a-b", "a’", "á", "a7")
    moves = FakeMoves.of(*(move(9.0 - n, 0, form) for n, form in enumerate(forms)))
    assert texts(search.send(heard(moves))) == ["a-b", "á", "a7"]


def test_only_as_many_moves_are_spelt_out_as_are_needed() -> None:
    looked = []

    class Watched(FakeMoves):
        def __getitem__(self, n: int) -> Move:  # type: ignore[override]
            looked.append(n)
            return self.moves[n]

    moves = [move(9.0 - n, 0, f"a{n}") for n in range(9)]
    search = HotFlip(beam=3, share=0.5)(case("abcd"), RNG)
    next(search)
    search.send(heard(Watched(np.array([m.gain for m in moves]), moves)))
    assert looked == [0, 1, 2]


def test_a_text_without_moves_is_unfit() -> None:
    search = HotFlip()(case("a b"), RNG)
    next(search)
    with pytest.raises(Unfit, match="no candidates"):
        search.send(heard(FakeMoves.of()))


def test_nothing_is_asked_where_nothing_is_read() -> None:
    with pytest.raises(Unfit, match="no candidates"):
        next(HotFlip()(case("a b", read_positions=()), RNG))


def test_the_request_names_the_class_the_kinds_and_the_words_read() -> None:
    search = HotFlip(beam=20, kinds=("delete",))(
        case("ab cd ef", toward=2, read_positions=[1, 2]), RNG
    )
    ask = next(search)
    (request,) = ask.requests_for(ask.items)
    assert isinstance(request, EditRequest)
    assert (request.label, request.toward, tuple(request.positions)) == (0, 2, (1, 2))
    assert (request.space.level, request.space.kinds, request.space.top_k) == (
        "characters",
        ("delete",),
        160,
    )
    assert (request.space.objective, request.space.sign, request.space.cosine) == (
        "loss",
        False,
        None,
    )


# Against slow searches.


SOURCES = ("ab ba", "good film", "a b c", "don't go")
NETWORKS = [
    FakeNetwork(spread=0.5),
    FakeNetwork(spread=2.0),
    FakeNetwork(labels=("a", "b", "c"), spread=1.5),
]


@pytest.mark.parametrize("target", NETWORKS[:2])
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("steps", [1, 2, 3])
def test_greedy_finds_what_the_exact_loss_finds(
    target: FakeNetwork, source: str, steps: int
) -> None:
    """Of two classes and a linear network, the highest gradient is the highest loss."""
    case = case_of(target, source)
    letters = sum(map(len, case.text.words))  # type: ignore[arg-type]
    attack = flips_only(1, share=(steps + 0.5) / letters)
    driven = drive(attack(case, RNG), target, case)
    tried = driven.of(Try)[-1]
    oracle = naive_beam(target, case, 1, min(steps, letters), target.alphabet)
    assert tried == [str(text) for text in oracle]


@pytest.mark.parametrize("target", NETWORKS)
@pytest.mark.parametrize("source", ["ab c", "go, on"])
def test_a_wide_beam_finds_the_best_of_all_paths(target: FakeNetwork, source: str) -> None:
    small = FakeNetwork(alphabet="abc", labels=target.labels, spread=target.spread)
    case = case_of(small, source)
    search = HotFlip(1000, 0.7, ("flip",), known=True)(case, RNG)
    driven = drive(search, small, case)
    every = plain_beam(small, case, 10**6, 2, small.alphabet)
    assert len(driven.asks) == 3
    assert driven.asks[1].items == [text for _, text in every[1]]
    assert driven.asks[2].items == [text for _, text in every[2]]


@pytest.mark.parametrize("target", NETWORKS)
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("beam", [2, 5])
def test_a_narrow_beam_is_the_plain_one(target: FakeNetwork, source: str, beam: int) -> None:
    case = case_of(target, source)
    letters = sum(map(len, case.text.words))  # type: ignore[arg-type]
    driven = drive(flips_only(beam, share=3.5 / letters)(case, RNG), target, case)
    plain = plain_beam(target, case, beam, 3, target.alphabet)
    assert [ask.items for ask in driven.asks] == [[text for _, text in depth] for depth in plain]


# Passes, widths and ends.


@pytest.mark.parametrize("beam", [1, 3, pytest.param(10, marks=pytest.mark.slow)])
@pytest.mark.parametrize("share", [0.1, 0.3, pytest.param(0.5, marks=pytest.mark.slow)])
def test_a_search_that_never_wins_takes_so_many_passes(beam: int, share: float) -> None:
    target = FakeNetwork()
    case = case_of(target, "a lovely, good old film")
    target.calls.clear()
    driven = drive(HotFlip(beam, share)(case, RNG), target, case)
    r = int(share * 18)
    assert sum(target.passes) == 1 + beam * (r - 1)
    assert target.calls == [beam]
    assert [type(ask) for ask in driven.asks] == [Flips] * r + [Try]
    assert len(driven.asks[-1].items) == beam


def test_the_beam_widens_to_different_texts_of_different_parents() -> None:
    target = FakeNetwork()
    case = case_of(target, "a lovely, good old film")
    driven = drive(HotFlip(10, 0.3)(case, RNG), target, case)
    sizes = [len(ask.items) for ask in driven.asks]
    assert sizes == [1, 10, 10, 10, 10, 10]
    everything = [text for ask in driven.asks for text in ask.items]
    assert len(dict.fromkeys(everything)) == len(everything)
    firsts = {one_edit(case.text, text) for text in driven.asks[1].items}
    assert len(firsts) == 10


def one_edit(before: Text, after: Text) -> tuple[int, Any]:
    ((position, word),) = (
        (i, new) for i, (old, new) in enumerate(zip(before.words, after.words)) if old != new
    )
    return position, word


def test_a_beam_is_as_wide_as_there_are_texts() -> None:
    target = FakeNetwork(alphabet="ab")
    case = case_of(target, "ab")
    driven = drive(flips_only(10)(case, RNG), target, case)
    # bb and aa are one flip away; both together are ba; nothing else can be spelt
    assert [sorted(map(str, ask.items)) for ask in driven.asks] == [["ab"], ["aa", "bb"], ["ba"]]


@pytest.mark.parametrize(
    ("source", "share", "r"),
    [
        ("a b c", 0.1, 1),
        ("abcdefghij klmnopqrs", 0.1, 1),
        ("abcdefghij, klmnopqrst!", 0.1, 2),
        ("ab", 1.0, 2),
    ],
)
def test_the_budget_is_a_share_of_the_characters_of_words(
    source: str, share: float, r: int
) -> None:
    target = FakeNetwork()
    case = case_of(target, source)
    driven = drive(HotFlip(2, share)(case, RNG), target, case)
    assert len(driven.of(Flips)) == r


def test_words_that_are_not_read_are_neither_edited_nor_counted() -> None:
    target = FakeNetwork(max_words=1)
    case = case_of(target, "abcdefghij klmnopqrst")
    driven = drive(HotFlip(5, 0.2)(case, RNG), target, case)
    assert len(driven.of(Flips)) == 2
    assert all(text.words[1] == "klmnopqrst" for ask in driven.asks for text in ask.items)


def test_one_letter_words_can_be_flipped_but_not_deleted() -> None:
    target = FakeNetwork(alphabet="abc")
    case = case_of(target, "a b c")
    driven = drive(HotFlip(100, 0.4, ("delete",))(case, RNG), target, case)
    assert [type(ask) for ask in driven.asks] == [Flips]
    driven = drive(HotFlip(100, 0.4, ("flip", "delete"))(case, RNG), target, case)
    assert len(driven.of(Try)[0]) == 6


def test_an_early_success_stops() -> None:
    target = FakeNetwork(spread=3.0)
    start = replace(case_of(target, "a lovely good old film"), start=None)
    engine = Engine(HotFlip(5, 0.5), Untargeted(), Broker(make_desks(target)))
    ((outcome,),) = engine.run([start])
    assert outcome.status == "broken"
    # depth 0, 1 and 2 of nine; the winner is among the texts whose edits were asked for
    assert sum(target.passes) == 11 and outcome.queries == 12
    assert target.calls == [1, 1, 1]  # by this test, at the start, and the winner alone


def test_failed_edits_do_not_stay() -> None:
    """Every text of depth k is k edits of the original away, however many were tried before."""
    target = FakeNetwork()
    case = case_of(target, "a lovely, good old film")
    driven = drive(HotFlip(10, 0.3, ("flip",), known=True)(case, RNG), target, case)
    original = "".join(map(str, case.text.words))
    for depth, ask in enumerate(driven.asks):
        for text in ask.items:
            spelt = "".join(map(str, text.words))
            assert sum(a != b for a, b in zip(original, spelt)) <= depth
    assert str(case.text) == "a lovely, good old film"


def test_no_edit_is_spent_on_redoing_another() -> None:
    search = HotFlip(beam=1, share=1.0)(case("ab"), RNG)
    next(search)
    search.send(heard(FakeMoves.of(move(1.0, 0, "xb"))))
    again = FakeMoves.of(move(2.0, 0, "yb"), move(1.0, 0, "xy"))
    assert texts(search.send(heard(again))) == ["xy"]


def test_the_class_aimed_at_comes_nearer() -> None:
    target = FakeNetwork(labels=("a", "b", "c"))
    case = case_of(target, "a lovely, good old film")
    for toward in {0, 1, 2} - {case.label}:
        targeted = replace(case, toward=toward)
        driven = drive(HotFlip(1, 0.3)(targeted, RNG), target, targeted)
        scores = target.scores([case.text, driven.asks[-1].items[0]])
        assert scores[0, toward] < 0.5 < scores[1, toward]


@pytest.mark.parametrize("kinds", [("flip",), ("insert",), ("delete",), ("insert", "delete")])
def test_only_the_kinds_asked_for(kinds: tuple[Any, ...]) -> None:
    target = FakeNetwork()
    case = case_of(target, "lovely films")
    driven = drive(HotFlip(10, 0.1, kinds)(case, RNG), target, case)
    lengths = {len(text) - len("lovely films") for text in driven.of(Try)[0]}
    expected = {"flip": 0, "insert": 1, "delete": -1}
    assert lengths <= {expected[kind] for kind in kinds} and lengths


# Settings.


@pytest.mark.parametrize(
    ("listed", "kinds"),
    [("flip", ("flip",)), ("delete, Flip", ("flip", "delete")), ("insert,,", ("insert",))],
)
def test_kinds_are_read_from_a_list(listed: str, kinds: Sequence[str]) -> None:
    assert build("hotflip", {"kinds": listed}) == HotFlip(kinds=tuple(kinds))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("listed", "message"),
    [("flips", r"Unknown kind of edit 'flips'\. Did you mean 'flip'"), (" , ", "expected one or")],
)
def test_unknown_kinds_are_refused(listed: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        build("hotflip", {"kinds": listed})


def test_the_defaults_are_the_papers() -> None:
    attack = build("hotflip", {})
    assert attack == HotFlip(10, 0.1, ("flip", "insert", "delete"), known=False)
