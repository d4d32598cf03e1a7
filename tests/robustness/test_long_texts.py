"""Long texts do not fill memory or time: few at a time, and what is alike is made once.

What is made is counted, in words looked up, tokens tagged, characters rendered and bytes held.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, ClassVar

import numpy as np
import pytest

from brittle.asks import ANSWER, Ask, Case, Probe, Search
from brittle.attacks.genetic import Genetic
from brittle.attacks.pwws import PWWS
from brittle.attacks.salient_swap import SalientSwap
from brittle.candidates.synonyms import SubstituteTable
from brittle.engine.broker import Broker
from brittle.engine.desks import MAX_BATCH, Cache, cut_batches
from brittle.engine.engine import Engine
from brittle.engine.running import Outcome
from brittle.english import tags
from brittle.english.bigrams import Bigrams, FluencyModel
from brittle.english.tags import Tagger
from brittle.goals import Untargeted
from brittle.goals.constraints import Fluent, compare
from brittle.targets.capabilities import make_desks, scores_desk
from brittle.targets.zoo.target import AdditiveZooTarget
from brittle.testing import FakeTarget
from brittle.text import HOLE, Text
from brittle.zoo.model import Linear
from brittle.zoo.tokenizers import WordTokenizer

WORDS = ["<pad>", "<unknown>", *(f"w{n}" for n in range(400))]
SYNONYMS = SubstituteTable({f"w{n}": (f"w{n + 1}", f"w{n + 2}", "new") for n in range(0, 390, 3)})
MB = 1 << 20


@dataclass(frozen=True)
class Counted:
    """Ask for as many copies as there are words, and count the searches at work."""

    at_work: list[int]
    asks: ClassVar[tuple[type[Ask[Any]], ...]] = (Probe,)

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        self.at_work.append(self.at_work[-1] + 1)
        for _ in range(2):
            yield from Probe([case.text] * len(case.text))
        self.at_work.append(self.at_work[-1] - 1)


@pytest.mark.parametrize(
    ("words", "count", "limit"),
    [
        (4, 99, 96),
        (60, 99, 96),
        (250, 40, 27),
        pytest.param(700, 12, 9, marks=pytest.mark.slow),
        pytest.param(2048, 3, 1, marks=pytest.mark.slow),
    ],
)
def test_the_longer_the_texts_the_fewer_at_a_time(words: int, count: int, limit: int) -> None:
    cases = [Case(str(i), Text.of(f"good{i} " * words), 1) for i in range(count)]
    target = FakeTarget({f"good{i}": 1.0 for i in range(count)})
    attack = Counted([0])
    broker = Broker({"answer": scores_desk(target)})
    ended = [o for outcomes in Engine(attack, Untargeted(), broker).run(cases) for o in outcomes]
    broker.close()
    assert {outcome.status for outcome in ended} == {"held"} and len(ended) == len(cases)
    assert 0.5 * limit <= max(attack.at_work) <= limit


def test_the_cache_is_bounded_by_bytes_too() -> None:
    cache = Cache(1000)
    for i in range(50):
        cache.keep({str(i).encode() + b"x" * 100_000: i})
    kept_bytes = sum(map(len, [*cache.young, *cache.old]))
    assert 1_000_000 <= kept_bytes <= 2 * 1024 * 1000
    newest = b"49" + b"x" * 100_000
    assert cache.find([newest]) == {newest: 49}


def test_the_cache_holds_short_keys_by_number() -> None:
    cache = Cache(1000)
    for i in range(5000):
        cache.keep({str(i).encode(): i})
    assert 1000 <= len(cache.young) + len(cache.old) <= 2000


def bag_of_words() -> Any:
    """Return a model of the zoo that sums random weights of words."""
    random = np.random.default_rng(0)
    model = Linear(WordTokenizer(WORDS), random.normal(size=(len(WORDS), 2)), np.zeros(2))
    target = AdditiveZooTarget.__new__(AdditiveZooTarget)
    target.model, target.name, target.fingerprint, target.parallel = model, "bag", "bag", 1
    target.labels, target.batch = ("no", "yes"), None
    return target


def long_text(words: int) -> Text:
    rng = Random(words)
    return Text.of(
        "".join(f"w{rng.randrange(390)}{rng.choice([' ', ' ', '. '])}" for _ in range(words))
    )


def attacked(attack: Any, target: Any, text: Text) -> Outcome:
    broker = Broker(make_desks(target))
    try:
        [[outcome]] = list(Engine(attack, Untargeted(), broker).run([Case("0", text)]))
    finally:
        broker.close()
    return outcome


def looked_up(attack: Any, words: int) -> tuple[int, int]:
    """Attack a bag of words; return how many words were looked up, and the queries."""
    target, count = bag_of_words(), 0
    token_id = target.model.vocabulary.token_id

    def counted(word: Any) -> int:
        nonlocal count
        count += 1
        return int(token_id(word))

    target.model.vocabulary.token_id = counted
    outcome = attacked(attack, target, long_text(words))
    return count, outcome.queries


@pytest.mark.parametrize(
    "attack", [PWWS(SYNONYMS), SalientSwap(SYNONYMS), Genetic(SYNONYMS, 10, 4)]
)
def test_words_are_looked_up_once_and_not_once_per_candidate(attack: Any) -> None:
    words = 3000
    count, queries = looked_up(attack, words)
    assert queries > 150
    # Of each candidate only the swapped words, for its digest and for its key, and those of a
    # text that was copied as a whole: after many swaps, one of 32.
    assert count / queries < words / 40


def test_masks_of_a_long_text_take_no_memory() -> None:
    target, text = bag_of_words(), long_text(4000)
    broker = Broker(make_desks(target))
    tracemalloc.start()
    try:
        payloads, failures = broker.answer(ANSWER, [text.mask(i) for i in range(len(text))])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        broker.close()
    # The words of 4,000 copies would be 128 MB, and their keys 64 MB.
    assert peak < 24 * MB
    assert len(payloads) == len(text) and not failures
    copies = [Text(text.mask(i).words, text.frame) for i in range(0, len(text), 500)]
    assert payloads[::500] == [target.scores([copied])[0].tolist() for copied in copies]


def test_a_bag_of_a_swapped_text_is_that_of_a_copy() -> None:
    rng, vocabulary = Random(2), WordTokenizer(WORDS)
    raw = [" ".join(rng.choices([*WORDS[2:20], "strange"], k=300)) for _ in range(2)]
    for text in (Text.of(raw[0]), Text.of(dict(zip("ab", raw)), locked=["a"])):
        digests: dict[bytes, bytes | None] = {}
        for _ in range(100):
            word = rng.choice([*WORDS[2:9], "W3", "odd", HOLE])
            text = text.swap(rng.randrange(len(text)), word)
            copied = Text(text.words, text.frame)
            [key] = vocabulary.encode_bags([copied])
            assert vocabulary.encode_bags([text]) == [key]
            [digest, same] = vocabulary.bag_digests([text, copied])
            assert digest == same == digests.setdefault(key, digest)
        assert len(set(digests.values())) == len(digests) > 50
    assert vocabulary.bag_digests([Text.of("w1 w2")]) == [None]


@dataclass
class Reader:
    """A target that is asked about whole strings; `longest` is the longest sum of a batch."""

    longest: int = 0
    strings: list[str] = field(default_factory=list)
    name: ClassVar[str] = "reader"
    fingerprint: ClassVar[str] = "reader"
    labels: ClassVar[tuple[str, ...]] = ("no", "yes")
    costly: bool = False

    def scores(self, items: Sequence[Text]) -> Any:
        strings = [item.render("?") for item in items]
        self.longest = max(self.longest, sum(map(len, strings)))
        self.strings += [string[:40] for string in strings]
        half = np.array([[0.1 + string.count("w7") % 5 / 10] for string in strings])
        return np.hstack([1 - half, half])


def test_a_target_that_reads_strings_is_never_given_all_of_them_at_once() -> None:
    target, text = Reader(), long_text(4000)
    broker = Broker(make_desks(target))
    masks = [text.mask(i) for i in range(2000)]
    tracemalloc.start()
    try:
        payloads, _ = broker.answer(ANSWER, [*masks, *masks, text.swap(3, "x"), text.swap(3, "x")])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        broker.close()
    characters = len(text.render())
    assert target.longest <= MAX_BATCH / len(text) * characters * 1.01
    assert peak < 20 * MB < 2000 * characters
    assert payloads[:2000] == payloads[2000:4000] and payloads[-1] == payloads[-2]
    assert len(target.strings) == 2001 == broker.totals.sent


def test_batches_of_large_items_are_small() -> None:
    sizes = [1, 1, *[MAX_BATCH // 2] * 5]
    assert cut_batches(list("abcdefg"), sizes, 4, 1) == [
        ["a", "b", "c"],
        ["d", "e"],
        ["f", "g"],
    ]
    assert cut_batches(["a"], [2 * MAX_BATCH], 4, 2) == [["a"]]


@dataclass
class Answers:
    """A journal in memory."""

    rows: dict[tuple[str, bytes], Any] = field(default_factory=dict)

    def find(self, question: str, keys: Sequence[bytes]) -> dict[bytes, Any]:
        return {key: self.rows[question, key] for key in keys if (question, key) in self.rows}

    def keep(
        self,
        question: str,
        answers: Sequence[tuple[bytes, Any]],
        tokens: tuple[int, int] = (0, 0),
    ) -> None:
        self.rows.update({(question, key): payload for key, payload in answers})


def test_answers_about_long_texts_are_journalled_under_their_own_keys() -> None:
    text, journal = long_text(300), Answers()
    texts = [text, *(text.mask(i) for i in range(300)), text.swap(2, "x").swap(1, "y")]
    sent = []
    for _ in range(2):
        broker = Broker(make_desks(Reader(costly=True)), journal=journal)
        payloads, _ = broker.answer(ANSWER, texts)
        sent.append(broker.totals.sent)
        broker.close()
        assert payloads == [journal.rows[ANSWER, item.key] for item in texts]
    assert sent == [302, 0] and len(journal.rows) == 302


def counting(function: Callable[..., Any], sizes: list[int], argument: int) -> Callable[..., Any]:
    def counted(*args: Any) -> Any:
        sizes.append(len(args[argument]))
        return function(*args)

    return counted


def test_only_the_sentence_of_a_swapped_word_is_tagged(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    monkeypatch.setattr(tags, "apply_rules", counting(tags.apply_rules, sizes, 1))
    text = long_text(1000)
    swaps = [text.swap(i, "quickly") for i in range(0, 1000, 5)]
    tagged = Tagger().tags([text, *swaps])
    assert sum(sizes) < 20 * 1000
    copies = [Text.of(str(swapped)) for swapped in swaps[::20]]
    assert tagged[1::20] == Tagger().tags(copies)
    # What has the tags of its source shares them: these are held by the thousand.
    assert len({id(one) for one in tagged}) == len(set(tagged))


def test_tags_across_marks_fields_and_many_swaps() -> None:
    rng = Random(3)
    marks = [" ", " ", " (", ') "', ". ", '." (', "...\n", "<br />", "! ", "--", " '"]
    words = ["it", "isn't", "GOOD", "film", "the", "left", "to", "work", "Anna"]
    raw = ["".join(rng.choice(words) + rng.choice(marks) for _ in range(200)) for _ in range(3)]
    text = Text.of(dict(zip("abc", raw)), ["b"])
    assert len(text) > 256
    for _ in range(60):
        text = text.swap(rng.randrange(len(text)), rng.choice(words))
        assert Tagger().tags([text]) == Tagger().tags([Text(text.words, replace(text.frame))])


def test_only_the_neighbours_of_a_swapped_word_are_weighed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes: list[int] = []
    weigh = counting(Bigrams.log_probability, sizes, 1)
    monkeypatch.setattr(Bigrams, "log_probability", lambda *args: weigh(*args))
    text = long_text(1000)
    pairs = [(text, text.swap(i, "film").swap((i + 1) % 1000, "good")) for i in range(200)]
    model = FluencyModel()
    values = compare(Fluent(), pairs, lambda _, items: (model.fluencies(items), {}))
    assert len(sizes) < 2 * 1000 + 200 * 4 + 1
    copies = [(text, Text(changed.words, changed.frame)) for _, changed in pairs[::40]]
    expected = compare(Fluent(), copies, lambda _, items: (model.fluencies(items), {}))
    assert values[::40] == expected  # to the last bit


def test_a_whole_attack_on_a_long_text_takes_little_memory() -> None:
    target, text = bag_of_words(), long_text(4000)
    tracemalloc.start()
    try:
        outcome = attacked(PWWS(SYNONYMS), target, text)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert outcome.queries > 7000
    assert peak < 40 * MB  # copies of the words alone would be 220 MB
