"""The exhaustive attack against brute force: what it breaks, proves and gives up."""

from __future__ import annotations

from itertools import combinations, product
from random import Random
from typing import Any

import numpy as np
import pytest

from brittle.asks import Answer, Bound, Case, Note, Tag, Try, Unfit
from brittle.attacks import RunContext, build
from brittle.attacks.exhaustive import BY_BOUNDS, Exhaustive
from brittle.attacks.pwws import PWWS
from brittle.candidates.careful import Careful
from brittle.candidates.synonyms import SubstituteTable
from brittle.engine.broker import Broker
from brittle.engine.engine import Engine
from brittle.engine.running import Outcome
from brittle.english.tags import Tagger
from brittle.errors import UsageError
from brittle.goals import Untargeted
from brittle.spaces import Bounded
from brittle.targets.capabilities import make_desks
from brittle.testing import FakeTarget
from brittle.text import Text

TABLE = SubstituteTable({"a": ("b", "c", "d"), "e": ("f",), "g": ("h", "i"), "j": ("j", "k")})
LETTERS = "aegjxyz"


class Answering(FakeTarget):
    """A fake whose bounds are set by hand."""

    def __init__(self, known: Bounded, **weights: float) -> None:
        super().__init__(weights)
        self.known = known

    def bounds(self, requests: Any) -> list[Bounded]:
        return [self.known] * len(requests)


class Interacting(FakeTarget):
    """A fake whose logit is no sum over words: pairs of words count as well."""

    def scores(self, items: Any) -> Any:
        pairs = [Text.of(" ".join([f"{a}{b}" for a, b in combinations(t.words, 2)])) for t in items]
        return super().scores(pairs)


def outcome_of(attack: Any, target: Any, text: str, **options: Any) -> Outcome:
    engine = Engine(attack, Untargeted(), Broker(make_desks(target)), **options)
    return next(engine.run([Case("0", Text.of(text))]))[0]


def by_hand(target: Any, text: str, words: int) -> tuple[int | None, int]:
    """Return how many swaps a winner needs (None: none wins), and how many texts there are."""
    original = Text.of(text)
    label = int(target.scores([original])[0].argmax())
    options = [[w for w in TABLE.of(str(word), "") if w != word] for word in original.words]
    size = 1
    for count in range(1, words + 1):
        texts = []
        for positions in combinations(range(len(options)), count):
            for swaps in product(*(options[i] for i in positions)):
                text_words = list(original.words)
                for i, word in zip(positions, swaps):
                    text_words[i] = word
                texts.append(original.with_words(tuple(text_words)))
        size += len(texts)
        if texts and (target.scores(texts).argmax(axis=1) != label).any():
            return count, size
    return None, size


@pytest.mark.parametrize("kind", [FakeTarget, Interacting])
def test_it_breaks_with_the_fewest_words_or_proves(kind: type[FakeTarget]) -> None:
    random, endings = Random(0), []
    for n in range(120):
        text = " ".join(random.choices(LETTERS, k=random.randint(1, 6)))
        words = random.randint(1, 3)
        target = kind(spread=0.3 + n / 60)
        needed, size = by_hand(target, text, words)
        outcome = outcome_of(Exhaustive(TABLE, words=words), target, text)
        endings.append(outcome.status)
        if outcome.status == "skipped":
            assert size == 1 and outcome.reason == "no candidates"
        elif needed is None:
            assert (outcome.status, outcome.queries) == ("proved", size)
            assert outcome.proved_words == words and outcome.best is not outcome.steps[0]
        else:
            assert outcome.status == "broken" and outcome.best is not None
            changed = zip(outcome.best.item.words, outcome.case.item.words)
            assert sum(a != b for a, b in changed) == needed
            assert (outcome.proved_words or 0) == needed - 1 and outcome.queries <= size
    assert min(endings.count(status) for status in ("broken", "proved", "skipped")) > 3


def test_a_budget_that_ends_first_proves_nothing() -> None:
    flat = FakeTarget()
    size = by_hand(flat, "a e g a", 2)[1]
    attack = Exhaustive(TABLE, words=2)
    cut = outcome_of(attack, flat, "a e g a", budget=size - 1)
    assert cut.status == "out of budget" and cut.proved_words == 1
    assert outcome_of(attack, flat, "a e g a", budget=size).status == "proved"


def test_a_space_that_is_too_large_is_said_so() -> None:
    flat = FakeTarget()
    sizes = [by_hand(flat, "a e g a", words)[1] for words in (1, 2, 3)]
    for limit, words in ((sizes[1], 2), (sizes[2] - 1, 2), (sizes[0], 1)):
        held = outcome_of(Exhaustive(TABLE, words=3, max_space=limit), flat, "a e g a")
        assert (held.status, held.proved_words) == ("held", words)
        assert held.reason == f"above {limit:,} texts with {words + 1} words"
        assert held.queries == sizes[words - 1]
    none = outcome_of(Exhaustive(TABLE, max_space=3), flat, "a e g a")
    assert (none.status, none.reason, none.queries) == ("skipped", "above 3 texts with 1 word", 1)
    named = Answering(Bounded(0, None, [Text.of("b e g a")]))
    tried = outcome_of(Exhaustive(TABLE, max_space=3, bounds=True), named, "a e g a")
    assert (tried.status, tried.reason, tried.queries) == ("held", none.reason, 2)


def test_it_asks_in_bounded_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("brittle.attacks.exhaustive.TEXTS_PER_ASK", 5)
    start = Answer(np.array([[0.9, 0.1]]), np.array([0.1]), np.array([False]))
    search = Exhaustive(TABLE, words=2)(Case("0", Text.of("a e g"), 0, start=start), Random(0))
    ask, seen = next(search), []
    while True:
        answer = None
        if isinstance(ask, Try):
            assert 0 < len(ask.items) <= 5 and ask.in_order
            seen += [str(text) for text in ask.items]
            loss = np.array([0.5 if "i" in str(text) else 0.2 for text in ask.items])
            answer = Answer(np.stack([1 - loss, loss], 1), loss, np.zeros(len(loss), dtype=bool))
        try:
            ask = search.send(answer)
        except StopIteration:
            break
    assert len(seen) == len(set(seen)) == 6 + 11
    # After the single swaps, the best candidate of the best position comes first.
    assert seen[6] == "b e i"


def test_bounds_decide_before_anything_is_asked() -> None:
    text = "a e g"
    attack = Exhaustive(TABLE, words=2, bounds=True)
    assert Bound in attack.asks and Bound not in Exhaustive(TABLE).asks
    proved = outcome_of(attack, Answering(Bounded(2, ())), text)
    assert (proved.status, proved.reason, proved.queries) == ("proved", BY_BOUNDS, 1)
    assert proved.proved_words == 2
    # What is left open is searched, and nothing else: swaps of "e" and "g", alone and together.
    part = outcome_of(attack, Answering(Bounded(0, [(1, 2)])), text)
    assert (part.status, part.reason, part.queries) == ("proved", "", 1 + 3 + 2)
    more = outcome_of(attack, Answering(Bounded(1, [(1, 2)])), text)
    assert (more.status, more.queries) == ("proved", 1 + 2)
    # The texts that the target names are tried first.
    target = Answering(Bounded(0, None, [Text.of("a f g"), Text.of("a f h")]), a=1.0, h=-2.0)
    named = outcome_of(attack, target, text)
    assert (named.status, named.queries, str(named.steps[-1].item)) == ("broken", 3, "a f h")


def test_careful_candidates_are_those_of_the_original_whatever_else_is_swapped() -> None:
    text = Text.of("the gripping story has a brilliant cast and a dull ending")
    proposal = Careful()

    def tags(one: Text) -> tuple[str, ...]:
        return Tagger().tags([one])[0]

    listed = proposal.in_context(text, tags(text))
    options = [
        [w for w in words if proposal.fits(i, tags(text), tags(text.swap(i, w)))]
        for i, words in enumerate(listed)
    ]
    singles = sum(map(len, options))
    pairs = sum(len(a) * len(b) for a, b in combinations(options, 2))
    assert singles > 2 and pairs > 1
    outcome = outcome_of(Exhaustive(proposal, words=2), FakeTarget({"the": 9.0}), str(text))
    assert (outcome.status, outcome.queries) == ("proved", 1 + singles + pairs)
    # Breaks by two swaps only: the pair that is left is in the space of the original.
    first, second = [i for i, words in enumerate(options) if words][:2]
    weights = {str(text.words[i]): 1.0 for i in (first, second)}
    weights |= {options[first][-1]: -0.5, options[second][-1]: -0.6}
    outcome = outcome_of(Exhaustive(proposal, words=2), FakeTarget(weights), str(text))
    expected = text.swap(first, options[first][-1]).swap(second, options[second][-1])
    assert outcome.status == "broken" and str(outcome.steps[-1].item) == str(expected)


def test_pwws_says_whether_a_single_swap_suffices() -> None:
    """The fact stands in rows that are held or broken, and is what exhaustive search finds."""
    random, seen = Random(1), []
    for n in range(60):
        text = " ".join(random.choices(LETTERS, k=random.randint(2, 6)))
        target = FakeTarget(spread=0.2 + n / 30)
        outcome = outcome_of(PWWS(TABLE), target, text)
        if outcome.status != "skipped":
            expected = 0 if by_hand(target, text, 1)[0] else 1
            assert outcome.proved_words == expected
            seen.append((outcome.status, expected))
            for budget in (6, 30):
                cut = outcome_of(PWWS(TABLE), target, text, budget=budget)
                assert cut.proved_words in (None, expected), (text, budget)
    assert {*seen} >= {("broken", 0), ("broken", 1), ("held", 1)}


def test_the_recipe_asks_for_bounds_only_where_they_are_offered() -> None:
    assert build("exhaustive", {}) == build(
        "exhaustive", {"bounds": False}, RunContext(offers=["bounds"])
    )
    attack: Any = build(
        "exhaustive", {"words": 3, "max_space": 7}, RunContext(offers=["bounds", "answer"])
    )
    assert (attack.words, attack.max_space, attack.bounds) == (3, 7, True)
    for wrong in ({"words": 0}, {"max_space": 0}):
        with pytest.raises(UsageError, match="1 or more"):
            build("exhaustive", wrong)


def test_notes_are_driven_by_hand_as_everything_else() -> None:
    note = Note(proved_words=2, is_whole=True, reason="why")
    assert (note.items, note.proved_words, note.is_whole, note.reason) == ((), 2, True, "why")
    start = Answer(np.array([[0.9, 0.1]]), np.array([0.1]), np.array([False]))
    search = Exhaustive(TABLE)(Case("0", Text.of("x"), 0, start=start), Random(0))
    with pytest.raises(Unfit, match="no candidates"):
        next(search)
    assert Tag in Exhaustive(TABLE).asks
