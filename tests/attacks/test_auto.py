"""Auto against brute force: the gentlest level that breaks a case, and what is proved below it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import product, takewhile
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

import numpy as np
import pytest

import brittle
from brittle import data
from brittle.asks import Case, Gradient, Note, Probe, Tag, Try
from brittle.attacks import RunContext, build
from brittle.attacks.auto import Auto
from brittle.attacks.needs import is_for_english
from brittle.candidates.synonyms import SubstituteTable
from brittle.engine.broker import Broker
from brittle.engine.engine import Engine
from brittle.engine.running import Outcome
from brittle.errors import UsageError
from brittle.goals import Untargeted
from brittle.levels import LEVELS, parse_levels, rank
from brittle.metrics.summary import ATTACKED
from brittle.opening import load_zoo
from brittle.targets.capabilities import make_desks
from brittle.testing import FakeNetwork, FakeTarget
from brittle.text import Text

GENTLE = SubstituteTable({"in": ("at",), "so": ("as",)})
MIDDLE = SubstituteTable({"in": ("on", "at"), "we": ("me",), "to": ("by", "of")})
ROUGH = SubstituteTable(dict.fromkeys(("in", "we", "to", "is", "it"), ("not", "none", "nor")))
TABLES = {"careful": GENTLE, "loose": MIDDLE, "any": ROUGH}
LADDER = tuple((LEVELS[name], table) for name, table in TABLES.items())
VOCABULARY = ("in", "so", "we", "to", "is", "it", "the", "and")


def outcome_of(attack: Any, target: Any, text: str, **options: Any) -> Outcome:
    engine = Engine(attack, Untargeted(), Broker(make_desks(target)), **options)
    return next(engine.run([Case("0", Text.of(text))]))[0]


def drawn(count: int, seed: int = 0) -> Iterator[tuple[str, Any]]:
    random = Random(seed)
    for n in range(count):
        yield (
            " ".join(random.choices(VOCABULARY, k=5)),
            FakeTarget({"the": 2.0, "and": -1.5}, spread=0.3 + n / count),
        )


def space(text: str, table: SubstituteTable) -> list[str]:
    words = text.split()
    options = [(word, *table.of(word, "")) for word in words]
    return [" ".join(chosen) for chosen in product(*options) if list(chosen) != words]


def breaks(target: Any, text: str, others: list[str]) -> bool:
    label, *labels = target.scores([Text.of(one) for one in (text, *others)]).argmax(axis=1)
    return any(other != label for other in labels)


@pytest.mark.slow
def test_the_level_is_the_gentlest_that_breaks_and_what_stands_is_proved() -> None:
    endings: Counter[str] = Counter()
    for text, target in drawn(300):
        outcome = outcome_of(Auto(LADDER, max_space=10**6), target, text)
        expected = {}
        for name, table in TABLES.items():
            others = space(text, table)
            is_broken = breaks(target, text, others)
            expected[name] = "no candidates" if not others else "broken" if is_broken else "proved"
            if is_broken:
                break
        assert dict(outcome.levels) == expected
        if "broken" in expected.values():
            assert outcome.status == "broken" and outcome.best is not None
            assert outcome.best.level == list(expected)[-1]
            assert str(outcome.best.item) in space(text, TABLES[outcome.best.level])
        else:
            assert outcome.best is None or outcome.status == "proved"
        endings[outcome.status] += 1
        endings[outcome.best.level if outcome.status == "broken" and outcome.best else ""] += 1
    assert all(endings[key] >= 5 for key in ("broken", "proved", "careful", "loose", "any"))


def test_a_winner_has_as_few_changes_as_can_be() -> None:
    for text, target in drawn(100, seed=1):
        outcome = outcome_of(Auto(LADDER, max_space=10**6), target, text)
        if outcome.status != "broken" or outcome.best is None:
            continue
        words = text.split()

        def changes(other: str, words: list[str] = words) -> int:
            return sum(a != b for a, b in zip(words, other.split()))

        least = changes(str(outcome.best.item))
        fewer = [t for t in space(text, TABLES[str(outcome.best.level)]) if changes(t) < least]
        assert not fewer or not breaks(target, text, fewer)


@pytest.mark.slow
def test_a_large_space_is_searched_and_nothing_is_called_proved() -> None:
    endings: Counter[str] = Counter()
    for text, target in drawn(100, seed=2):
        outcome = outcome_of(Auto(LADDER, max_space=1), target, text)
        whole = outcome_of(Auto(LADDER, max_space=10**6), target, text)
        endings[outcome.status] += 1
        if outcome.status == "broken":
            assert whole.status == "broken" and outcome.best is not None and whole.best is not None
            assert rank(str(whole.best.level)) <= rank(str(outcome.best.level))
        sizes = {name: len(space(text, table)) for name, table in TABLES.items()}
        proved = [name for name, status in outcome.levels.items() if status == "proved"]
        assert all(sizes[name] == 1 for name in proved)
    assert endings["broken"] > 20 and endings["held"] > 5


@pytest.mark.slow
def test_levels_take_turns_under_a_budget_and_the_gentlest_winner_counts() -> None:
    levels: Counter[tuple[str | None, str | None]] = Counter()
    for text, target in drawn(200, seed=3):
        small = outcome_of(Auto(LADDER), target, text, budget=9)
        large = outcome_of(Auto(LADDER), target, text, budget=200)
        if small.status == "broken":
            assert large.status == "broken" and small.best is not None and large.best is not None
            assert rank(str(large.best.level)) <= rank(str(small.best.level))
            levels[small.best.level, large.best.level] += 1
    assert levels["any", "loose"] > 0, "a rough winner came first, then a gentler one"


def test_random_edits_of_the_winners_size_are_asked() -> None:
    counts = []
    for text, target in drawn(100, seed=4):
        outcome = outcome_of(Auto(LADDER, random_edits=3), target, text)
        assert (outcome.random_edits is None) or outcome.status == "broken"
        if outcome.random_edits is not None:
            asked, won = outcome.random_edits
            assert 0 <= won <= asked <= 3
            counts.append((asked, won))
    assert any(won for _, won in counts) and any(not won for _, won in counts)
    none = [outcome_of(Auto(LADDER, random_edits=0), target, text) for text, target in drawn(20)]
    assert all(outcome.random_edits is None for outcome in none)


def test_nothing_to_offer_at_any_level_is_unfit_and_another_language_has_typing_errors() -> None:
    target = FakeTarget(spread=0.0)
    nothing = outcome_of(Auto(LADDER), target, "the and the")
    assert (nothing.status, nothing.reason) == ("skipped", "no candidates")
    german = "Zwei junge Männer sind im Freien in der Nähe vieler Büsche"
    attack: Any = build("auto", {}, RunContext(["no", "yes"]))
    outcome = outcome_of(attack, target, german)
    for_all = ("typo", "look-alike")
    assert outcome.status == "held" and {outcome.levels[name] for name in for_all} == {"held"}
    assert {outcome.levels[name] for name in LEVELS if name not in for_all} == {"not English"}


def test_gradients_rank_words_where_there_are_some() -> None:
    black: Any = build("auto", {}, RunContext(["no", "yes"], offers=["answer", "graded"]))
    white: Any = build(
        "auto", {}, RunContext(["no", "yes"], offers=["answer", "graded", "gradient"])
    )
    assert black.asks == (Tag, Probe, Try) and Gradient in white.asks
    assert black.uses_budget
    rough = Auto(((LEVELS["any"], ROUGH),), max_space=1, by_gradient=True, random_edits=0)
    target = FakeNetwork(VOCABULARY, spread=0.0)
    outcome = outcome_of(rough, target, "in we to is it")
    # Two rounds of five words, two options and then one: no query is spent on masks.
    assert outcome.status == "held" and outcome.queries == 1 + 5 * 3


def test_levels_are_chosen_by_name() -> None:
    attack: Any = build("auto", {"levels": "Typo, careful"}, RunContext(["no", "yes"]))
    assert [level.name for level, _ in attack.levels] == ["careful", "typo"]
    alone: Any = build("rewrite", {}, RunContext(["no", "yes"]))
    assert [level.name for level, _ in alone.levels] == ["rewrite"]
    with pytest.raises(UsageError, match=r"Unknown level 'carefull'. Did you mean 'careful'"):
        parse_levels("carefull")
    with pytest.raises(UsageError, match="Unknown level"):
        parse_levels("")


def test_it_notes_a_level_before_it_begins_so_that_a_spent_budget_is_seen() -> None:
    target = FakeTarget(spread=0.0)
    outcome = outcome_of(Auto(LADDER), target, "in we to is it", budget=4)
    assert outcome.status == "out of budget"
    assert dict(outcome.levels) == dict.fromkeys(("careful", "loose", "any"), "out of budget")
    start = target.scores([Text.of("in we")])
    search = Auto(LADDER)(Case("0", Text.of("in we")), Random(0))
    note = next(search)
    assert isinstance(note, Note) and note.level == ("careful", "out of budget")
    assert np.isfinite(start).all()


def test_it_is_made_for_english_only_without_typing_errors() -> None:
    whole: Any = build("auto", {}, RunContext(["no", "yes"]))
    gentle: Any = build("auto", {"levels": "rewrite,careful"}, RunContext(["no", "yes"]))
    assert not is_for_english(whole) and is_for_english(gentle)


def test_rewrites_stay_where_the_target_reads() -> None:
    text = "It is a film that does not work, and it is not funny, and it does not end."
    alone: Any = build("rewrite", {"edits": 1}, RunContext(["no", "yes"]))
    offered: dict[int | None, set[int]] = {}
    for read in (None, 6):
        target = FakeTarget(spread=0.0)
        positions = None if read is None else range(read)
        case = Case("0", Text.of(text), read_positions=positions)
        seen: list[str] = []
        scores = target.scores
        target.scores = lambda items, s=scores, n=seen: n.extend(map(str, items)) or s(items)  # type: ignore[method-assign]
        engine = Engine(alone, Untargeted(), Broker(make_desks(target)))
        assert next(engine.run([case]))[0].status == "proved"
        pairs = [zip(text.lower(), one.lower()) for one in seen]
        ends = [sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], p)) for p in pairs]
        offered[read] = {end for end, one in zip(ends, seen) if one != text}
    assert max(offered[6]) <= len("It is a film that does") < max(offered[None])


def differing(one: str, other: str) -> int:
    return sum(a != b for a, b in zip(one.split(), other.split()))


@pytest.mark.slow
def test_what_a_rough_level_broke_first_is_still_found_by_a_gentler_one() -> None:
    """Levels share candidates: a text that won at a rough level is offered at a gentle one, too."""
    gentle = SubstituteTable(dict.fromkeys(("in", "we", "to", "is", "it"), ("not", "at")))
    one_word = {name: replace(LEVELS[name], share=0.2) for name in ("careful", "any")}
    shared = ((one_word["careful"], gentle), (one_word["any"], ROUGH))
    tables, endings = {"careful": gentle, "any": ROUGH}, Counter[str]()
    for text, target in drawn(600, seed=6):
        outcome = outcome_of(Auto(shared, max_space=10**6), target, text, budget=5000)
        singles = {
            name: [one for one in space(text, tables[name]) if differing(one, text) == 1]
            for name in tables
        }
        broken = {name for name in tables if breaks(target, text, singles[name])}
        for name, status in outcome.levels.items():
            assert not (status == "proved" and name in broken), (text, name)
        if broken and outcome.status != "skipped":
            assert outcome.best is not None
            assert outcome.best.level == next(name for name in tables if name in broken)
            endings[str(outcome.best.level)] += 1
    assert endings["careful"] > 20 and endings["any"] > 5


def test_fewer_texts_are_enumerated_where_words_are_swapped() -> None:
    target, text = FakeTarget({"the": 2.0}), "in we to the"
    size = len(space(text, MIDDLE))
    rungs = ((LEVELS["loose"], MIDDLE),)
    for most, status in ((2 * size + 2, "proved"), (2 * size - 2, "held")):
        outcome = outcome_of(Auto(rungs, max_space=most), target, text)
        assert (outcome.status, dict(outcome.levels)) == (status, {"loose": status})
    searched, enumerated = (
        outcome_of(Auto(rungs, max_space=most), target, text) for most in (1, 10**6)
    )
    assert searched.queries < enumerated.queries == 1 + size


@pytest.mark.slow
def test_a_level_alone_asks_at_most_twice_what_salient_swap_does(tmp_path: Path) -> None:
    target, examples = load_zoo("zoo:naive-bayes@mr"), data.load("mr", limit=300)
    options: dict[str, Any] = {"folder": tmp_path, "measures": "none"}
    climbed = brittle.attack(target, examples, "auto", levels="loose", name="auto", **options)
    swapped = brittle.attack(
        target, examples, "salient-swap", candidates="loose", name="swap", **options
    )

    def queries(run: brittle.Run) -> float:
        return fmean(row.queries for row in run.results() if row.status in ATTACKED)

    assert queries(climbed) <= 2 * queries(swapped)
    assert climbed.counts()["broken"] >= swapped.counts()["broken"] - 1
