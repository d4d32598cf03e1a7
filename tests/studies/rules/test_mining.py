"""Rules are mined as the paper's Figure 2 says: compared with a plain reference, and counted."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brittle
from brittle.candidates.rules import Rules
from brittle.candidates.synonyms import Synonyms
from brittle.data import Dataset, Example
from brittle.english.tags import Tagger
from brittle.errors import UsageError
from brittle.studies.rules import measuring, tasks
from brittle.studies.rules.measuring import (
    list_replacements,
    load_replacements,
    measure,
    save_replacements,
)
from brittle.studies.rules.mining import (
    WordCounts,
    combine,
    load_material,
    measure_member,
    pmi_salience,
)
from brittle.studies.rules.tasks import MiningData, mine_in_folder
from brittle.targets.ensemble import of_members
from brittle.targets.registry import Opener
from brittle.targets.scores import softmax
from brittle.text import Text
from brittle.training.splits import LabelledTexts, TrainingSplits, hold_out
from studies.rules.toy import LABELS, KeyedToy, Toy

SENTENCES = [
    ("bad", "A dull film with a bad plot"),
    ("bad", "the story is slow and the cast is weak"),
    ("bad", "it fails"),
    ("good", "A funny film, and a brilliant story"),
    ("good", "the cast is great and funny"),
    ("good", "Great film! Funny plot."),
    ("odd", "a strange film about a strange house"),
    ("odd", "the house is big, the story strange"),
    ("odd", "what"),
]


def dataset(copies: int = 1) -> Dataset:
    rows = [(label, f"{text}{' indeed' * n}") for n in range(copies) for label, text in SENTENCES]
    examples = tuple(Example.of(text, label) for label, text in rows)
    return Dataset("films", "train", examples, LABELS)


def splits() -> TrainingSplits:
    return TrainingSplits("films", dataset(), Dataset("films", "dev", dataset().examples[:5]))


def reference(row: Any) -> dict[tuple[str, str, str], float]:
    """Figure 2 of the paper, line by line; `row` gives the logits of a text."""
    h: defaultdict[tuple[str, str, str], float] = defaultdict(float)
    c: defaultdict[tuple[str, str, str], int] = defaultdict(int)
    for y, sentence in SENTENCES:
        x = Text.of(sentence)
        for i, (word, tag) in enumerate(zip(x.words, Tagger().tags([x])[0])):
            for other in Synonyms().of(str(word), tag):
                changed = x.swap(i, other)
                rule = (y, str(word).lower(), other.lower())
                c[rule] += 1
                for z, label in enumerate(LABELS):
                    difference = row(x)[z] - row(changed)[z]
                    h[rule] += difference if label == y else -difference
    return {rule: h[rule] / c[rule] for rule in h}


def as_table(rules: Rules) -> dict[tuple[str, str, str], float]:
    return {(r.label, r.word, r.substitute): r.salience for r in rules.rules}


@pytest.mark.parametrize("toy", [Toy, KeyedToy])
def test_the_salience_equals_a_plain_reference_with_three_classes(toy: type[Toy]) -> None:
    target = toy(0)
    material = load_material(splits(), LABELS)
    mined = as_table(combine(material, [measure_member(target, material)]))
    expected = reference(lambda text: target.logits([text])[0])
    assert len(expected) > 60
    assert mined.keys() == {rule for rule, h in expected.items() if h > 0}
    assert all(math.isclose(h, expected[rule], abs_tol=1e-9) for rule, h in mined.items())
    assert list(mined.values()) == sorted(mined.values(), reverse=True)


def test_the_members_alone_give_the_rules_of_their_ensemble() -> None:
    members = [KeyedToy(0), KeyedToy(1), KeyedToy(2)]
    material = load_material(splits(), LABELS)
    alone = combine(material, [measure_member(member, material) for member in members])
    together = combine(material, [measure_member(of_members(members), material)])
    first, second = as_table(alone), as_table(together)
    assert first.keys() == second.keys()
    assert all(math.isclose(h, second[rule], abs_tol=1e-9) for rule, h in first.items())
    held_out = {(r.label, str(r)): (r.held_out, r.confirmed) for r in together.rules}
    assert held_out == {(r.label, str(r)): (r.held_out, r.confirmed) for r in alone.rules}
    assert any(r.held_out for r in alone.rules)


def test_log_probabilities_would_give_other_rules_with_three_classes() -> None:
    class Normal(Toy):
        def logits(self, items: Any) -> Any:
            return np.log(softmax(super().logits(items)))

    material = load_material(splits(), LABELS)
    raw = combine(material, [measure_member(Toy(n), material) for n in (0, 1)])
    normal = combine(material, [measure_member(Normal(n), material) for n in (0, 1)])
    orders = [[(r.label, str(r)) for r in rules.rules[:20]] for rules in (raw, normal)]
    assert orders[0] != orders[1]
    # Both members agree with the note: the difference is (K − 2)(c(x) − c(x′)), nothing if K is 2.
    two = ("bad", "good")
    pair = Dataset("films", "train", dataset().examples[:6], two)
    halves = load_material(TrainingSplits("films", pair, pair), two)
    effects = [measure_member(target(0, two), halves) for target in (Toy, Normal)]
    assert np.allclose(effects[0].salience, effects[1].salience)


def test_held_out_occurrences_are_confirmed_by_brute_force() -> None:
    target = Toy(0)
    material = load_material(splits(), LABELS)
    rules = combine(material, [measure_member(target, material)])
    for rule in rules.rules[:40]:
        effects = []
        for y, sentence in SENTENCES[:5]:
            x = Text.of(sentence)
            for i, (word, tag) in enumerate(zip(x.words, Tagger().tags([x])[0])):
                same = (y, str(word).lower()) == (rule.label, rule.word)
                fits = [o for o in Synonyms().of(str(word), tag) if o.lower() == rule.substitute]
                if same and fits:
                    rows = target.logits([x, x.swap(i, fits[0])])
                    sign = np.where(np.array(LABELS) == y, 1, -1)
                    effects.append(((rows[0] - rows[1]) * sign).sum())
        assert (rule.held_out, rule.confirmed) == (len(effects), sum(e > 0 for e in effects))


def test_each_distinct_key_is_computed_once_in_full_sorted_batches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(measuring, "MAX_TEXTS_PER_CHUNK", 1000)
    material = load_material(splits(), LABELS)
    calls: list[list[bytes]] = []

    class Counting(KeyedToy):
        def canonical_logits(self, keys: Any) -> Any:
            calls.append(list(keys))
            return super().canonical_logits(keys)

    target = Counting(0)
    # Not the shortest text first, so that batches are not sorted by themselves.
    by_length = material.train.texts
    order = [*range(0, len(by_length), 2), *range(1, len(by_length), 2)]
    texts = LabelledTexts(*(tuple(v[i] for i in order) for v in (by_length.texts, by_length.label)))
    replacements = list_replacements(texts)
    [measured] = measure(target, texts, replacements)
    assert len(target.computed) == len(set(target.computed)) == measured.computed
    assert measured.computed < len(replacements)
    sizes = sorted(map(len, calls))
    assert sizes[1:] == [7] * (len(sizes) - 1)
    lengths = sorted((min(map(len, call)), max(map(len, call))) for call in calls)
    assert all(a[1] <= b[0] for a, b in pairwise(lengths))


def test_small_chunks_give_the_same_effects(monkeypatch: pytest.MonkeyPatch) -> None:
    material = load_material(splits(), LABELS)
    whole = measure_member(KeyedToy(0), material)
    monkeypatch.setattr(measuring, "MAX_WORDS_PER_CHUNK", 40)
    parts = list(measure(KeyedToy(0), material.train.texts, material.train.replacements))
    assert len(parts) > 4 and parts[-1].texts == len(material.train.texts)
    assert np.array_equal(measure_member(KeyedToy(0), material).salience, whole.salience)


def test_support_and_pmi_of_every_rule() -> None:
    material = load_material(splits(), LABELS)
    rules = combine(material, [measure_member(Toy(0), material)], min_support=2)
    assert rules.rules and all(rule.support >= 2 for rule in rules.rules)
    texts = [Text.of(text) for _, text in SENTENCES]
    labels = [LABELS.index(label) for label, _ in SENTENCES]
    tokens = [(str(w).lower(), z) for t, z in zip(texts, labels) for w in t.words]
    for rule in rules.rules[:20]:
        for word, values in ((rule.word, rule.pmi_word), (rule.substitute, rule.pmi_substitute)):
            for z, value in enumerate(values):
                both = sum(token == (word, z) for token in tokens)
                alone = sum(w == word for w, _ in tokens)
                of_label = sum(other == z for _, other in tokens)
                expected = math.log2(both * len(tokens) / alone / of_label) if both else 0.0
                assert math.isclose(value, expected, abs_tol=1e-12)


def test_pmi_rules_need_no_model_and_follow_equation_2() -> None:
    rules = brittle.mine(None, dataset(5), method="pmi")
    counts = WordCounts.of(
        [Text.of(dict(e.fields)) for e in hold_out(dataset(5))[0]],
        [LABELS.index(str(e.label)) for e in hold_out(dataset(5))[0]],
        3,
    )
    for rule in rules.rules:
        pmi = [counts.pmi(rule.word), counts.pmi(rule.substitute)]
        z = LABELS.index(rule.label)
        expected = pmi[0][z] - pmi[1][z]
        expected += sum(pmi[1][other] - pmi[0][other] for other in range(3) if other != z)
        assert math.isclose(rule.salience, expected) and rule.salience > 0
        assert math.isclose(pmi_salience(z, *pmi), expected)
    assert rules.about["members"] == []


def test_in_python(tmp_path: Path) -> None:
    rules = brittle.mine([KeyedToy(0), KeyedToy(1)], dataset(5), limit=30, min_support=3)
    assert rules.about["members"] == ["toy 0", "toy 1"] and rules.about["texts"] == 30
    frame = rules.frame()
    assert list(frame.columns)[:5] == ["label", "word", "substitute", "salience", "support"]
    assert len(frame) == len(rules) and frame.support.min() >= 3
    rules.save(tmp_path / "films.rules")
    assert "pmi_substitute_odd" in frame.columns


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((None, "uawr"), "needs an ensemble"),
        ((Toy(0), "best"), "Unknown method 'best'"),
        ((Toy(0, labels=("a", "b")), "uawr"), "the labels a, b, but the data 'films'"),
        (([Toy(0), Toy(0)], "uawr"), "twice"),
    ],
)
def test_what_cannot_be_mined_is_refused(arguments: Any, message: str) -> None:
    ensemble, method = arguments
    with pytest.raises(UsageError, match=message):
        brittle.mine(ensemble, dataset(5), method=method)


def test_texts_without_substitutes_are_refused() -> None:
    rows = [Example.of(f"{word} qxz{n}", word) for n in range(20) for word in ("the", "of")]
    with pytest.raises(UsageError, match="has a substitute"):
        brittle.mine(None, Dataset("x", "train", tuple(rows)), method="pmi")


def test_replacements_are_stored(tmp_path: Path) -> None:
    listed = load_material(splits(), LABELS).train.replacements
    save_replacements(listed, tmp_path / "some.npz")
    loaded = load_replacements(tmp_path / "some.npz")
    assert (loaded.rules, loaded.forms) == (listed.rules, listed.forms)
    for name in ("text", "position", "form", "rule"):
        assert np.array_equal(getattr(loaded, name), getattr(listed, name))
    whole = (tmp_path / "some.npz").read_bytes()
    for damaged in (b"", b"[1]", whole[:-30], whole[:100]):
        (tmp_path / "some.npz").write_bytes(damaged)
        with pytest.raises(UsageError, match=r"some\.npz are damaged.*Delete the file"):
            load_replacements(tmp_path / "some.npz")


class Stopped(Exception):
    pass


def test_a_stopped_mining_goes_on_and_does_nothing_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, add_target_kind: Callable[[str, Opener], None]
) -> None:
    """Stopped in the middle of the second member: the first and what is saved stay."""
    lines = ["text,label", *(f'"{t} {n}",{y}' for n in range(4) for y, t in SENTENCES)]
    (tmp_path / "films.csv").write_text("\n".join(lines) + "\n")
    computed: list[tuple[int, bytes]] = []
    left = [10**9]

    class Failing(KeyedToy):
        def canonical_logits(self, keys: Any) -> Any:
            left[0] -= 1
            if left[0] < 0:
                raise Stopped
            computed.extend((self.seed, key) for key in keys)
            return super().canonical_logits(keys)

    add_target_kind("toy:", lambda spec, _: Failing(int(spec[-1])))
    monkeypatch.setattr(measuring, "MAX_TEXTS_PER_CHUNK", 3)
    monkeypatch.setattr(tasks, "SECONDS_BETWEEN_SAVES", -1.0)
    data = MiningData(str(tmp_path / "films.csv"))

    def mined(folder: str) -> Rules:
        return mine_in_folder("ensemble:toy:1,toy:2", data, tmp_path / folder, lambda message: None)

    whole = mined("whole")
    expected = sorted(computed)
    calls = 10**9 - left[0]
    computed.clear()
    left[0] = calls * 3 // 4
    with pytest.raises(Stopped):
        mined("parts")
    assert {seed for seed, _ in computed} == {1, 2}
    first = len(computed)
    left[0] = 10**9
    again = mined("parts")
    assert again.rules == whole.rules and again.about == whole.about
    # At most the chunks under way are computed twice, and nothing of the first member is.
    extra = len(computed) - len(expected)
    assert 0 <= extra < len(expected) // 4
    assert not any(seed == 1 for seed, _ in computed[first:])
    before = len(computed)
    assert mined("parts").rules == whole.rules and len(computed) == before
