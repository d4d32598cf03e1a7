"""Attacks on characters by papers, against plain code that was written from their descriptions.

The references ask about one string at a time, in the order of the paper, and share no code with the
attacks. They are compared by every text that is asked about, in order, and by the last one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from statistics import fmean, pstdev
from typing import Any

import numpy as np
import pytest

from attacks.test_contract import watched
from brittle.asks import NO_CANDIDATES, NORMALISED, Case
from brittle.attacks import build
from brittle.attacks.bad_characters import BadCharacters, Genome
from brittle.attacks.charmer import Charmer, places_of
from brittle.attacks.deepwordbug import DeepWordBug, edit_at_random
from brittle.attacks.textbugger import TextBugger, sentences
from brittle.candidates.synonyms import SubstituteTable
from brittle.engine.broker import Broker
from brittle.engine.engine import Engine
from brittle.engine.running import Outcome
from brittle.errors import UsageError
from brittle.goals import Untargeted
from brittle.safety.characters import look_alikes, plain
from brittle.targets.capabilities import make_desks
from brittle.testing import FakeTarget
from brittle.text import Text

CASES = 30
WORDS = (
    *("the", "film", "is", "a", "truly", "good", "and", "lovely", "story", "about", "bad"),
    *("people", "who", "like", "it", "very", "much"),
)
DRAWN = Random(11)
TEXTS = [
    "".join(
        word + DRAWN.choice(("", "", "", ",", "!", ".")) + " "
        for word in DRAWN.choices(WORDS, k=DRAWN.randint(1, 12))
    ).strip()
    for _ in range(CASES)
]


class Strings(FakeTarget):
    """A fake that reads a text as one string, as most targets do."""

    def scores(self, items: Any) -> Any:
        return super().scores([Text.of(str(item)) for item in items])


TARGETS = {
    "two classes": lambda: Strings({"the": 3.0, "good": 4.0}, spread=0.35),
    "three classes": lambda: Strings({"is": 3.0, "a": 2.0}, ("no", "yes", "so"), spread=0.35),
}
each_target = pytest.mark.parametrize("target", TARGETS)


def attacked(attack: Any, target: Any, seed: int, source: str) -> tuple[Outcome, list[str]]:
    """Attack a text; return how it ended, and every text that was asked about, in order."""
    broker = Broker(make_desks(target))
    with watched() as asked:
        engine = Engine(attack, Untargeted(), broker, "attack", seed=seed)
        ((outcome,),) = list(engine.run([Case("1", Text.of(source))]))
    return outcome, [str(item) for _, ask in asked for item in ask.items]


class Oracle:
    """What a reference may ask: the summed probability of the other classes, and a win."""

    def __init__(self, target: Any, source: str) -> None:
        self.target, self.asked = target, []
        row = target.scores([Text.of(source)])[0]
        self.label, self.start = int(row.argmax()), self._loss(row, int(row.argmax()))
        self.row = row

    @staticmethod
    def _loss(row: Any, label: int) -> float:
        return float(np.delete(row, label).sum())

    def scores(self, string: str) -> Any:
        self.asked.append(string)
        return self.target.scores([Text.of(string)])[0]

    def loss(self, string: str) -> float:
        return self._loss(self.scores(string), self.label)

    def tried(self, string: str) -> tuple[float, bool]:
        row = self.scores(string)
        return self._loss(row, self.label), int(row.argmax()) != self.label


def compare(
    attack: Any, reference: Callable[[Oracle, str, Random], str | None], target: str
) -> list[Outcome]:
    """Compare an attack with its reference on all texts."""
    outcomes = []
    for seed, source in enumerate(TEXTS):
        oracle = Oracle(TARGETS[target](), source)
        won = reference(oracle, source, Random(f"{seed}:1:attack"))
        outcome, asked = attacked(attack, TARGETS[target](), seed, source)
        assert asked == oracle.asked, source
        assert (outcome.status == "broken") == (won is not None), source
        if won is not None and outcome.best is not None:
            assert str(outcome.best.item) == won
        outcomes.append(outcome)
    assert {one.status for one in outcomes} >= {"broken", "held"}
    return outcomes


def spans(string: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer("[A-Za-z]+", string)]


# DeepWordBug.


def deepwordbug(score: str, edit: str, by_power: bool) -> Any:
    def reference(oracle: Oracle, source: str, rng: Random) -> str | None:
        own, n = spans(source), len(spans(source))
        chance, whole = 1 / len(oracle.target.labels), 1 - oracle.start
        if score == "replace-1":
            gains = [whole - (1 - oracle.loss(source[:a] + "____" + source[b:])) for a, b in own]
        else:
            head = tail = [0.0] * n
            if score != "tail":
                p = [chance, *(1 - oracle.loss(source[: own[i][1]]) for i in range(n - 1)), whole]
                head = [p[i + 1] - p[i] for i in range(n)]
            if score != "head":
                p = [whole, *(1 - oracle.loss(source[own[i][0] :]) for i in range(1, n)), chance]
                tail = [p[i] - p[i + 1] for i in range(n)]
            gains = [a + b for a, b in zip(head, tail)]
        ranked = sorted(range(n), key=lambda i: (-gains[i], i))
        words, spent = [source[a:b] for a, b in own], 0
        for count, i in enumerate(ranked):
            if (count == 2) if by_power else (spent >= 4):
                break
            word = words[i]
            if edit == "swap" and len(word) > 1:
                at = rng.randrange(len(word) - 1)
                words[i] = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
                spent += 2 if word[at] != word[at + 1] else 0
            elif edit == "substitute":
                at = rng.randrange(len(word))
                letters = "abcdefghijklmnopqrstuvwxyz"
                new = rng.choice(letters if by_power else [c for c in letters if c != word[at]])
                words[i] = word[:at] + new + word[at + 1 :]
                spent += new != word[at]
            elif edit == "delete" and len(word) > 1:
                at = rng.randrange(len(word))
                words[i] = word[:at] + word[at + 1 :]
                spent += 1
            elif edit == "insert":
                at = rng.randrange(len(word) + 1)
                words[i] = word[:at] + rng.choice("abcdefghijklmnopqrstuvwxyz") + word[at:]
                spent += 1
            elif edit == "look-alike":
                at = rng.randrange(len(word))
                twin = look_alikes().get(word[at], "")[:1]
                words[i] = word[:at] + (twin or word[at]) + word[at + 1 :]
                spent += bool(twin)
        gaps = [source[a:b] for a, b in zip([0, *(b for _, b in own)], [a for a, _ in own])]
        edited = "".join(g + w for g, w in zip(gaps, words)) + source[own[-1][1] :]
        if edited == source:
            return None
        return edited if oracle.tried(edited)[1] else None

    return reference


@each_target
@pytest.mark.parametrize("variant", ["paper", "author-code"])
@pytest.mark.parametrize(
    ("score", "edit"),
    [
        *(("combined", "substitute"), ("head", "swap"), ("replace-1", "substitute")),
        *(("tail", "delete"), ("combined", "insert"), ("head", "look-alike")),
    ],
)
def test_deepwordbug_is_its_reference(score: str, edit: str, variant: str, target: str) -> None:
    attack = DeepWordBug(score, edit, max_distance=4, power=2, variant=variant)
    outcomes = compare(attack, deepwordbug(score, edit, variant == "author-code"), target)
    assert all(outcome.queries <= 2 * len(outcome.case.text) + 1 for outcome in outcomes)


def test_random_edits_of_a_word() -> None:
    rng = Random(3)
    for _ in range(50):
        assert len(edit_at_random("film", "delete", rng)) == 3
        assert len(edit_at_random("film", "insert", rng)) == 5
        assert plain(edit_at_random("eaco", "look-alike", rng)) == "eaco"
        assert edit_at_random("film", "substitute", rng) != "film"
        assert sorted(edit_at_random("film", "swap", rng)) == sorted("film")
    assert [edit_at_random("a", edit, rng) for edit in ("delete", "swap")] == ["a", "a"]


# TextBugger.


TABLE = SubstituteTable({"good": ("fine", "decent"), "film": ("movie",), "lovely": ("nice",)})


def textbugger(oracle: Oracle, source: str, rng: Random) -> str | None:
    from brittle.candidates.typos import beside  # the table of a keyboard, not the attack

    own = spans(source)
    parts: list[list[int]] = [[]]
    for i, (start, _) in enumerate(own):
        if i and re.search("[.!]", source[own[i - 1][1] : start]):
            parts.append([])
        parts[-1].append(i)
    long = {i for i, (a, b) in enumerate(own) if b - a > 2}
    parts = [part for part in parts if long & set(part)]
    if len(parts) > 1:
        alone = []
        for part in parts:
            start = 0 if part[0] == 0 else own[part[0]][0]
            stop = len(source) if part[-1] == len(own) - 1 else own[part[-1]][1]
            row = oracle.scores(source[start:stop])
            alone.append((float(np.delete(row, oracle.label).sum()), int(row.argmax())))
        ranked = sorted(range(len(parts)), key=lambda n: (alone[n][0], n))
        kept = [parts[n] for n in ranked if alone[n][1] == oracle.label]
        parts = kept or parts
    words = [source[a:b] for a, b in own]
    gaps = [source[a:b] for a, b in zip([0, *(b for _, b in own)], [a for a, _ in own])]
    end = source[own[-1][1] :]

    def joined(changed: list[str]) -> str:
        return "".join(g + w for g, w in zip(gaps, changed)) + end

    for part in parts:
        losses = {i: oracle.loss(without(source, own[i])) for i in part if i in long}
        for i in sorted(losses, key=lambda i: (-losses[i], i)):
            word, bugs = words[i], []
            if len(word) < 6:
                at = rng.randrange(1, len(word))
                bugs.append(word[:at] + " " + word[at:])
            at = rng.randrange(1, len(word) - 1)
            bugs.append(word[:at] + word[at + 1 :])
            if len(word) > 4:
                at = rng.randrange(1, len(word) - 2)
                bugs.append(word[:at] + word[at + 1] + word[at] + word[at + 2 :])
            new = [{"o": "0", "l": "1", "a": "@"}.get(c) or beside(c) for c in word]
            at = rng.choice([k for k in range(len(word)) if new[k]])
            bugs.append(word[:at] + rng.choice(new[at]) + word[at + 1 :])
            bugs += TABLE.entries.get(word, ())
            best: tuple[float, str] | None = None
            winner: tuple[float, str] | None = None
            for bug in dict.fromkeys(bug for bug in bugs if bug != word):
                changed = joined([*words[:i], bug, *words[i + 1 :]])
                loss, won = oracle.tried(changed)
                if best is None or loss > best[0]:
                    best = (loss, bug)
                if won and (winner is None or loss > winner[0]):
                    winner = (loss, changed)
            if winner is not None:
                return winner[1]
            assert best is not None
            words[i] = best[1]
    return None


def without(source: str, span: tuple[int, int]) -> str:
    """Delete a word, with the space before it, or else the one after it."""
    before, after = source[: span[0]], source[span[1] :]
    if before.endswith(" "):
        return before[:-1] + after
    return before + (after[1:] if after.startswith(" ") else after)


@each_target
def test_textbugger_is_its_reference(target: str) -> None:
    compare(TextBugger(TABLE), textbugger, target)


def test_sentences_of_several_fields() -> None:
    pair = Text.of({"one": "a b. c", "two": "d! e f"})
    assert sentences(pair) == [(0, 2), (2, 3), (3, 4), (4, 6)]
    locked = Text.of({"one": "a b. c", "two": "d! e f"}, locked=["one"])
    assert sentences(locked) == [(0, 1), (1, 3)] and sentences(Text.of("?")) == []


# Charmer.


def charmer(alphabet: str, count: int, rounds: int) -> Any:
    def margin(oracle: Oracle, row: Any) -> float:
        logit = np.log(row)
        return float(np.delete(logit, oracle.label).max() - logit[oracle.label])

    def reference(oracle: Oracle, source: str, rng: Random) -> str | None:
        current, best = source, margin(oracle, oracle.row)
        for _ in range(rounds):
            # As in the paper, the text is spread out with gaps: gap, character, gap, …
            spread = [""]
            for character in current:
                spread += [character, ""]
            probed = []
            for place, old in enumerate(spread):
                blank = "" if old == " " else " "
                text = "".join([*spread[:place], blank, *spread[place + 1 :]])
                probed.append(margin(oracle, oracle.scores(text)))
            chosen = sorted(range(len(spread)), key=lambda place: (-probed[place], place))[:count]
            seen: dict[str, tuple[float, float, bool]] = {}
            for place in chosen:
                for new in ("", *alphabet):
                    if new == " " == spread[place]:
                        new = ""
                    text = "".join([*spread[:place], new, *spread[place + 1 :]])
                    if text != current and text not in seen:
                        row = oracle.scores(text)
                        loss = float(np.delete(row, oracle.label).sum())
                        seen[text] = (margin(oracle, row), loss, int(row.argmax()) != oracle.label)
            winners = [text for text in seen if seen[text][2]]
            if winners:
                return max(winners, key=lambda text: seen[text][1])
            top = max(seen, key=lambda text: seen[text][0])
            if seen[top][0] <= best:
                return None
            current, best = top, seen[top][0]
        return None

    return reference


@each_target
def test_charmer_is_its_reference(target: str) -> None:
    compare(Charmer("x e", places=3, rounds=2), charmer("x e", 3, 2), target)


def test_a_round_of_charmer_is_one_question_about_places_and_one_about_all_texts() -> None:
    attack = Charmer("abcdef", places=5, rounds=2)
    with watched() as asked:
        engine = Engine(attack, Untargeted(), Broker(make_desks(Strings(spread=0.02))), "attack")
        list(engine.run([Case("1", Text.of("a good film with a lovely story"))]))
    kinds = [(type(ask).__name__, len(ask.items)) for _, ask in asked]
    n = len("a good film with a lovely story")
    assert [kind for kind, _ in kinds] == ["Probe", "Try"] * (len(kinds) // 2)
    assert kinds[0] == ("Probe", 2 * n + 1) and 5 * 6 <= kinds[1][1] + 6 <= 5 * 7 + 6


def test_charmer_leaves_unread_words_and_ends_of_fields_alone() -> None:
    pair = Text.of({"premise": "ab", "hypothesis": "c d"})
    with watched() as asked:
        engine = Engine(
            Charmer("x", places=50, rounds=1), Untargeted(), Broker(make_desks(FakeTarget())), "a"
        )
        list(engine.run([Case("1", pair, read_positions=(0, 1))]))
    fields = [item.fields() for _, ask in asked for item in ask.items]
    assert {one["premise"] for one in fields} >= {"xab", "abx", "a", "b", "ab"}
    assert {one["hypothesis"] for one in fields} >= {"xc d", "cx d", " d", "c d"}
    assert all(one["hypothesis"].endswith(" d") for one in fields)
    assert [string for string in places_of("a\U0010ffffb", 3) if string == (1, 2)] == []


def test_the_alphabet_of_charmer_may_be_that_of_a_data_set(tmp_path: Path) -> None:
    """As the authors take it: every character of the data, capitals and marks among them."""
    file = tmp_path / "texts.csv"
    file.write_text("text,label\nAb é!,yes\nb ca,no\n", encoding="utf-8")
    attack: Any = build("charmer", {"alphabet_from": str(file)})
    assert attack.alphabet == " !Aabcé"


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("charmer", {"alphabet": "aa"}, "expected at least two different characters"),
        ("charmer", {"alphabet": "ab", "alphabet_from": "x.csv"}, "expected one of them"),
        ("charmer", {"places": 0}, "--places 0"),
        ("bad-characters", {"kind": "look-alikes"}, "Did you mean 'look-alike'"),
        ("bad-characters", {"population": 3}, "expected 4 or more"),
        ("bad-characters", {"variant": "authors"}, "Unknown variant"),
        ("deepwordbug", {"score": "heads"}, "Did you mean 'head'"),
        ("deepwordbug", {"edit": "flip"}, "Unknown edit"),
        ("append", {"words": "no-such-file"}, "cannot be read"),
    ],
)
def test_what_is_refused(name: str, values: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        build(name, values)


# Bad characters.


def shown(kind: str, source: str, genes: list[float], edits: int) -> str:
    """Read an individual as the authors' experiments do, on a list of characters."""
    letters = list(source)
    glyphs = [(i, twin) for i, c in enumerate(source) for twin in look_alikes().get(c, "")]
    size = len(genes) // edits
    for edit in range(edits):
        own = [round(gene) for gene in genes[edit * size : (edit + 1) * size]]
        if kind == "look-alike" and own[0] != -1:
            place, twin = glyphs[own[0]]
            letters[place] = twin
        if kind == "invisible" and own[1] != -1:
            letters.insert(own[1], "\u200b\u200c\u200d"[own[0]])
        if kind == "backspace" and own[0] != -1:
            letters.insert(own[0], "\x08")
            letters.insert(own[0], chr(own[1]))
        if kind == "reorder" and own[0] != -1 and len(letters) >= 2:
            place = min(own[0], len(letters) - 2)
            one, two = letters[place + 1], letters[place]
            swap = "\u202d\u2066\u202e\u2066" + one + "\u2069\u2066" + two
            letters[place : place + 2] = [swap + "\u2069\u202c\u2069\u202c"]
    return "".join(letters)


def limits_of(kind: str, source: str, edits: int) -> list[tuple[float, float]]:
    glyphs = sum(len(look_alikes().get(c, "")) for c in source)
    return {
        "look-alike": [(-1.0, glyphs - 1.0)],
        "invisible": [(0.0, 2.0), (-1.0, len(source) - 1.0)],
        "reorder": [(-1.0, len(source) - 1.0)],
        "backspace": [(-1.0, len(source) - 1.0), (33.0, 126.0)],
    }[kind] * edits


def printed_algorithm(kind: str, edits: int, size: int, generations: int) -> Any:
    def reference(oracle: Oracle, source: str, rng: Random) -> str | None:
        limits = limits_of(kind, source, edits)
        population = [[rng.uniform(low, high) for low, high in limits] for _ in range(size)]
        fitness, won = [], []
        for individual in population:
            loss, is_won = oracle.tried(shown(kind, source, individual, edits))
            fitness.append(loss)
            won.append(is_won)
        if any(won):
            best = max((n for n in range(size) if won[n]), key=lambda n: fitness[n])
            return shown(kind, source, population[best], edits)
        for _ in range(generations):
            for j in range(size):
                a, b, c = rng.sample([n for n in range(size) if n != j], 3)
                forced = rng.randrange(len(limits))
                trial = []
                for k, (low, high) in enumerate(limits):
                    crossed = rng.random() < 0.7 or k == forced
                    gene = population[a][k] + 0.8 * (population[b][k] - population[c][k])
                    trial.append(max(low, min(high, gene)) if crossed else population[j][k])
                text = shown(kind, source, trial, edits)
                loss, is_won = oracle.tried(text)
                if is_won:
                    return text
                if loss >= fitness[j]:
                    population[j], fitness[j] = trial, loss
        return None

    return reference


def scipy_algorithm(kind: str, edits: int, factor: int, generations: int) -> Any:
    def reference(oracle: Oracle, source: str, rng: Random) -> str | None:
        limits = limits_of(kind, source, edits)
        size = factor * len(limits)
        table = [[0.0] * len(limits) for _ in range(size)]
        for k in range(len(limits)):
            rows = list(range(size))
            rng.shuffle(rows)
            for n in range(size):
                table[n][k] = (rows[n] + rng.random()) / size

        def text_of(genes: list[float]) -> str:
            scaled = [low + g * (high - low) for g, (low, high) in zip(genes, limits)]
            return shown(kind, source, scaled, edits)

        answers = [oracle.tried(text_of(genes)) for genes in table]
        if any(won for _, won in answers):
            best = max((n for n in range(size) if answers[n][1]), key=lambda n: answers[n][0])
            return text_of(table[best])
        energy = [-loss for loss, _ in answers]

        def lowest_first() -> None:
            low = energy.index(min(energy))
            energy[0], energy[low] = energy[low], energy[0]
            table[0], table[low] = table[low], table[0]

        for _ in range(generations):
            lowest_first()
            scale = rng.uniform(0.5, 1.0)
            for n in range(size):
                forced = rng.randrange(len(limits))
                r0, r1 = rng.sample([m for m in range(size) if m != n], 2)
                trial = []
                for k in range(len(limits)):
                    is_crossed = rng.random() < 0.7 or k == forced
                    mutant = table[0][k] + scale * (table[r0][k] - table[r1][k])
                    trial.append(mutant if is_crossed else table[n][k])
                trial = [gene if 0 <= gene <= 1 else rng.random() for gene in trial]
                loss, is_won = oracle.tried(text_of(trial))
                if is_won:
                    return text_of(trial)
                if -loss <= energy[n]:
                    table[n], energy[n] = trial, -loss
                    if -loss <= energy[0]:
                        lowest_first()
            probabilities = [1 + one for one in energy]
            if pstdev(probabilities) <= 0.01 * abs(fmean(probabilities)):
                return None
        return None

    return reference


@pytest.mark.parametrize("kind", ["look-alike", "invisible", "reorder", "backspace"])
def test_bad_characters_are_the_printed_algorithm(kind: str) -> None:
    attack = BadCharacters(kind, edits=2, population=6, iterations=3)
    compare(attack, printed_algorithm(kind, 2, 6, 3), "three classes")


@pytest.mark.parametrize("kind", ["look-alike", "invisible", "reorder", "backspace"])
def test_bad_characters_of_the_authors_are_scipy_s_algorithm(kind: str) -> None:
    attack = BadCharacters(kind, 2, population=2, iterations=3, variant="author-code")
    compare(attack, scipy_algorithm(kind, 2, 2, 3), "two classes")


def test_texts_without_letters_to_edit_and_normalised_kinds_are_skipped() -> None:
    target = Strings(spread=0.3)
    outcome, _ = attacked(BadCharacters("look-alike"), target, 0, "日本")
    assert (outcome.status, outcome.reason) == ("skipped", NO_CANDIDATES)
    engine = Engine(BadCharacters("invisible"), Untargeted(), Broker(make_desks(target)), "a")
    ((ended,),) = list(engine.run([Case("1", Text.of("a film"), normalised=("invisible",))]))
    assert (ended.status, ended.reason) == ("skipped", NORMALISED)


def every_genome() -> Iterator[tuple[str, str]]:
    rng = Random(2)
    for kind in ("look-alike", "invisible", "reorder", "backspace"):
        genome = Genome(kind, "one text\U0010ffffother text", 3)
        for _ in range(40):
            yield kind, genome.build([rng.uniform(*bounds) for bounds in genome.bounds])


def test_a_reader_sees_the_same_and_fields_stay_apart() -> None:
    for kind, string in every_genome():
        one, other = string.split("\U0010ffff")
        if kind != "backspace":  # one that stands first in a field has nothing to delete
            assert (plain(one), plain(other)) == ("one text", "other text"), (kind, ascii(string))
