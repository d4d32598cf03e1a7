"""A grid on small targets: its cases and rows by brute force, resumed, with failures."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import numpy as np
import pytest

import brittle
from brittle import data
from brittle.answers import Embedding
from brittle.asks import Case, Embed, Search, Try
from brittle.errors import UsageError
from brittle.runs.keywords import SharedAnswers
from brittle.studies.grid import request
from brittle.studies.grid.request import choose_attacks
from brittle.studies.grid.study import GridStudy
from brittle.testing import FakeTarget
from brittle.text import Text

WORDS = {"good": 2.0, "great": 1.5, "fine": 1.0, "bad": -2.0, "awful": -1.5, "poor": -1.0}
NOUNS = ("film", "story", "picture", "actor", "scene", "book", "music", "night")
TEXTS = [
    (f"a {word} {noun} with a {other}", "positive" if WORDS[word] > 0 else "negative")
    for word in WORDS
    for noun, other in pairwise(NOUNS)
]
ATTACKS = "key,key-any"


@dataclass
class Asked(FakeTarget):
    """A fake target that remembers every text; it can fail after so many."""

    texts: list[str] = field(default_factory=list)
    fails_after: int | None = None
    error: type[BaseException] = RuntimeError

    def scores(self, items: Sequence[Text]) -> Any:
        self.texts += [item.render() for item in items]
        if self.fails_after is not None and len(self.texts) > self.fails_after:
            raise self.error("out of memory")
        return super().scores(items)


def fake(name: str, spread: float, **weights: float) -> Asked:
    return Asked(name=name, weights=WORDS | weights, spread=spread)


def pool() -> list[Asked]:
    return [fake("A", 0.6), fake("B", 0.9, good=0.5, bad=-0.4), fake("C", 0.1, great=0.2, film=-1)]


def is_right(target: FakeTarget, example: data.Example) -> bool:
    scores = target.scores([Text.of(dict(example.fields))])[0]
    return target.labels[int(np.argmax(scores))] == example.label


def statuses(study: GridStudy) -> dict[tuple[str, str, str], str]:
    return {
        (attack, target, row.case): row.status
        for attack, cells in study.cells.items()
        for target, cell in cells.items()
        for row in cell.rows
    }


def test_its_progress_never_counts_backwards(tmp_path: Path) -> None:
    """It opens, labels block after block, and attacks: each of these is a graph of its own."""
    messages: list[str] = []
    brittle.grid(pool()[:2], TEXTS, ATTACKS, limit=6, folder=tmp_path, progress=messages.append)
    read = [re.match(r"\[(\d+) of (\d+) tasks done, ", message) for message in messages]
    counts = [(int(one[1]), int(one[2])) for one in read if one]
    assert len(counts) == len(messages) and counts == sorted(counts)
    # The first task holds the form of the texts, of which nobody is told.
    assert counts[0][0] == 1 and counts[-1][0] == counts[-1][1] >= 8


def test_its_progress_names_the_cell_and_what_broke(tmp_path: Path) -> None:
    messages: list[str] = []
    study = brittle.grid(
        pool()[:2], TEXTS, ATTACKS, limit=6, folder=tmp_path, progress=messages.append
    )
    told = [
        re.search(r"cell (\d+) of (\d+), (.+) on (\w+): (\d+) of 6 cases broken", m)
        for m in messages
    ]
    cells = [one.groups() for one in told if one]
    count = len(study.attacks) * 2
    assert [cell[:2] for cell in cells] == [(str(n), str(count)) for n in range(1, count + 1)]
    for _, _, attack, target, broken in cells:
        rows = study.cells[attack][target].rows
        assert [row.status for row in rows].count("broken") == int(broken)
    words = " ".join(messages)
    assert "cases: begins" not in words and "form of the texts" not in words


def test_cases_are_those_that_all_get_right_and_rows_those_of_plain_attacks(tmp_path: Path) -> None:
    targets = [*pool()[:2], fake("W", 0.0, good=-2.0, poor=1.0)]
    study = brittle.grid(targets, TEXTS, ATTACKS, limit=6, seed=3, folder=tmp_path)
    in_order = data.as_dataset(TEXTS).take(len(TEXTS), 3).examples
    right = [example for example in in_order if all(is_right(t, example) for t in targets)]
    assert [case.fields for case in study.cases] == [e.fields for e in right[:6]]
    assert study.right == {
        t.name: sum(is_right(t, example) for example in in_order) for t in targets
    }
    assert GridStudy.load(tmp_path / f"{study.name}.study.json") == study
    defaults = study.facts.defaults
    assert {*defaults} == {*study.attacks} and defaults["key"]["share"] == 0.1
    assert all(not own.keys() & study.facts.settings[row].keys() for row, own in defaults.items())
    page = study.view().html()
    assert all(f"{name}={value}" in page for name, value in defaults["key"].items())
    for target in pool()[:2]:
        for attack in study.attacks:
            cell = study.cells[attack][target.name]
            plain = brittle.attack(target, TEXTS, attack, seed=3, folder=tmp_path / "plain")
            rows = {row.case: row for row in plain.results()}
            stored = brittle.Run(tmp_path / study.name / cell.run).results()
            assert stored == [rows[case.case] for case in study.cases]
            assert [(r.case, r.status, r.queries) for r in stored] == [
                (r.case, r.status, r.queries) for r in cell.rows
            ]


@pytest.mark.parametrize("limit", [1, 5, 9, 40])
def test_texts_are_labelled_in_blocks_until_there_are_cases(
    limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request, "MIN_BLOCK", 4)
    monkeypatch.setattr(request, "TEXTS_PER_CASE", 1)
    targets = {t.name: t for t in (pool()[1], fake("W", 0.0, good=-2.0, poor=1.0))}
    dataset = data.as_dataset(TEXTS)
    maps = request.map_labels({name: tuple(t.labels) for name, t in targets.items()}, dataset)
    blocks: list[tuple[str, int]] = []

    def label_block(texts: data.Dataset, name: str) -> dict[str, list[int]]:
        blocks.append((name, len(texts)))
        items = [Text.of(dict(example.fields)) for example in texts]
        return {t: np.argmax(targets[t].scores(items), axis=1).tolist() for t in targets}

    chosen = request.choose_cases(dataset, maps, label_block, limit=limit, seed=1, all_right=True)
    in_order = dataset.take(len(dataset), 1).examples
    right = [e for e in in_order if all(is_right(t, e) for t in targets.values())]
    assert list(chosen.dataset.examples) == right[:limit]
    assert chosen.scored == sum(size for _, size in blocks)
    assert len({name for name, _ in blocks}) == len(blocks)
    if limit == 40:
        assert chosen.scored == len(TEXTS) and len(chosen.dataset) == len(right) < 40
    else:  # not a block more than needed
        before = chosen.scored - blocks[-1][1]
        assert sum(e in right for e in in_order[:before]) < limit


def test_attacks_on_one_target_share_its_answers(tmp_path: Path) -> None:
    targets = pool()[:2]
    alike = "key,key:share=0.1000001"  # the same number of edits
    study = brittle.grid(targets, TEXTS, alike, limit=8, folder=tmp_path)
    first, second = (cells["A"] for cells in study.cells.values())
    assert first.rows == second.rows and first.asked == second.asked
    adversarial = [dict(row.adversarial)["text"] for row in first.rows if row.adversarial]
    # Every candidate is computed once; a winner is asked about again, alone, by both attacks.
    originals = {text for text, _ in TEXTS}
    computed = Counter(text for text in targets[0].texts if text not in originals)
    assert len(computed) > 50 and adversarial
    assert computed == Counter(computed.keys()) + Counter(2 * adversarial)
    assert second.sent < first.sent / 4


def test_a_later_attack_or_target_costs_itself_alone_and_a_study_goes_on(tmp_path: Path) -> None:
    targets = pool()
    named: dict[str, Any] = {"limit": 8, "name": "mine", "folder": tmp_path}
    brittle.grid(targets, TEXTS, "key", **named)
    for target in targets:
        target.texts.clear()
    before = brittle.grid(targets, TEXTS, "key", **named)
    assert all(target.texts == [] for target in targets)
    study = brittle.grid(targets, TEXTS, ATTACKS, **named)
    assert study.cells["key"] == before.cells["key"]
    assert all(target.texts for target in targets)
    with pytest.raises(UsageError, match=r"key \{\}, now left out"):
        brittle.grid(targets, TEXTS, "key-any", **named)
    with pytest.raises(UsageError, match="seed 0, now 1"):
        brittle.grid(targets, TEXTS, ATTACKS, seed=1, **named)
    assert brittle.grid(targets, TEXTS, "hotflip", new=True, **named).refusals


def test_interrupted_anywhere_it_goes_on_to_the_same_study(tmp_path: Path) -> None:
    named: dict[str, Any] = {"limit": 8, "name": "mine"}
    whole = brittle.grid(pool(), TEXTS, ATTACKS, folder=tmp_path / "whole", **named)
    for n, stop in enumerate((10, 60)):
        targets = pool()
        targets[1].fails_after, targets[1].error = stop, KeyboardInterrupt
        folder = tmp_path / str(n)
        with pytest.raises(KeyboardInterrupt):
            brittle.grid(targets, TEXTS, ATTACKS, folder=folder, **named)
        asked = len(targets[0].texts)
        targets[1].fails_after = None
        study = brittle.grid(targets, TEXTS, ATTACKS, folder=folder, **named)
        assert statuses(study) == statuses(whole)
        if stop > 45:  # the first target was finished, and is not asked again
            assert len(targets[0].texts) == asked


def test_labels_may_stand_in_another_order_and_others_are_refused(tmp_path: Path) -> None:
    first, second, _ = pool()
    plain = replace(second, spread=0.0)
    against = {word: -weight for word, weight in second.weights.items()}
    turned = replace(plain, labels=("positive", "negative"), weights=against)
    one, other = (
        brittle.grid([first, target], TEXTS, "key", limit=8, folder=tmp_path / str(n))
        for n, target in enumerate((plain, turned))
    )
    assert one.cases == other.cases and one.right == other.right
    assert "skipped" not in statuses(other).values() and "B" in other.cells["key"]
    odd = replace(second, labels=("bad", "good", "odd"))
    with pytest.raises(UsageError, match="'A' has negative, positive; 'B' has bad, good, odd"):
        brittle.grid([first, odd], TEXTS, ATTACKS, folder=tmp_path)
    with pytest.raises(
        UsageError, match=r"labels of the data .odd, positive. differ from the labels"
    ):
        examples = [("a film", "odd"), ("a book", "positive")]
        brittle.grid([first, second], examples, ATTACKS, folder=tmp_path)


def test_a_target_that_fails_leaves_its_cells_empty(tmp_path: Path) -> None:
    first, second, dying = pool()
    dying.fails_after = 45  # it labels the texts, and dies under attack
    targets: list[Any] = [first, second, dying, "python:nowhere:model"]
    named: dict[str, Any] = {"limit": 8, "name": "mine", "folder": tmp_path}
    study = brittle.grid(targets, TEXTS, ATTACKS, **named)
    assert set(study.failures) == {"C", "python:nowhere:model"}
    assert "out of memory" in study.failures["C"]
    assert set(study.right) == {"A", "B", "C"}
    for cells in study.cells.values():
        assert set(cells) >= {"A", "B"} and "python:nowhere:model" not in cells
    dying.fails_after = None
    first.texts.clear()
    mended = brittle.grid(targets, TEXTS, ATTACKS, **named)
    assert set(mended.failures) == {"python:nowhere:model"} and first.texts == []
    assert all("C" in cells for cells in mended.cells.values())


def test_an_attack_that_a_target_does_not_answer_is_no_failure(tmp_path: Path) -> None:
    study = brittle.grid(pool(), TEXTS, "hotflip,key", limit=5, folder=tmp_path)
    assert set(study.refusals) == {f"hotflip on {name}" for name in "ABC"}
    assert "asks for flips" in study.refusals["hotflip on A"] and not study.failures
    assert study.cells["hotflip"] == {} and len(study.cells["key"]) == 3


def test_each_right_takes_the_first_texts(tmp_path: Path) -> None:
    wrong = fake("W", 0.0, good=-2.0)
    examples = data.as_dataset(TEXTS).take(12, 0).examples
    study = brittle.grid(
        [pool()[0], wrong], TEXTS, "key", limit=12, all_right=False, folder=tmp_path
    )
    assert [case.fields for case in study.cases] == [e.fields for e in examples]
    skipped = [row for row in study.cells["key"]["W"].rows if row.status == "skipped"]
    assert len(skipped) == sum(not is_right(wrong, example) for example in examples) > 0


def test_too_few_cases_are_said_and_none_is_an_error(tmp_path: Path) -> None:
    study = brittle.grid(pool()[:2], TEXTS[:9], "key", limit=50, folder=tmp_path)
    assert "fewer than the limit of 50" in study.warnings[0] and len(study.cases) <= 9
    opposite = fake("O", 0.0, **{word: -weight for word, weight in WORDS.items()})
    with pytest.raises(UsageError, match="No text of 'examples' is right on every target"):
        brittle.grid([fake("A", 0.0), opposite], TEXTS, "key", folder=tmp_path)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"targets": pool()[:1]}, "has 1 member; expected 2 or more"),
        ({"workers": 2}, "exists only in this process"),
        ({"limit": 0}, "limit of 0 cases"),
        ({"examples": ["a film", "a book"]}, "2 have no label, and a grid counts"),
        ({"name": "a/b"}, "without slashes"),
        ({"attacks": "pwsw"}, "Did you mean 'pwws'"),
        ({"attacks": " , "}, "Got no attack"),
        ({"attacks": "pwws,pwws"}, "'pwws' twice"),
        ({"attacks": "key:share=1,key:share=1.0"}, "'key:share=1' twice: 'key:share=1.0' has the"),
        ({"attacks": "key,key:share=0.10"}, "'key' twice: 'key:share=0.10' has the same settings"),
        ({"generations": 7}, "'generations'"),
        ({"attacks": "key:shar=0.2"}, "Did you mean 'share'"),
        ({"attacks": "key:share=much"}, "Expected a number"),
        ({"targets": "python:nowhere:a,python:nowhere:b"}, "No target could be opened"),
    ],
)
def test_bad_calls_are_refused(call: dict[str, Any], message: str, tmp_path: Path) -> None:
    named = {"targets": pool(), "attacks": ATTACKS, "examples": TEXTS, "folder": tmp_path} | call
    with pytest.raises(UsageError, match=message):
        brittle.grid(**named)


def test_settings_are_for_all_that_have_them_or_for_one_alone() -> None:
    chosen = choose_attacks("key, tack-on,key:share=1:draws=3", {"share": 0.3})
    assert [(attack.row, attack.name, attack.settings) for attack in chosen] == [
        ("key", "key", {"share": 0.3}),
        ("tack-on", "tack-on", {}),
        ("key:share=1:draws=3", "key", {"share": 1.0, "draws": 3}),
    ]


@dataclass
class AskedInside(Asked):
    """A fake target that embeds texts, too: the pass gives their scores."""

    embedded: list[str] = field(default_factory=list)

    def canonical(self, items: Sequence[Text]) -> list[bytes]:
        return [item.key for item in items]

    def sentence_embeddings(self, items: Sequence[Text]) -> list[Embedding]:
        self.embedded += [item.render() for item in items]
        scores = FakeTarget.scores(self, items)
        return [Embedding(np.array([len(item)]), row) for item, row in zip(items, scores.tolist())]


def candidates(case: Case[Text]) -> list[Text]:
    return [text for i in case.positions for text in case.text.swaps(i, ["stone", "water"])]


@dataclass(frozen=True)
class ByScore:
    """Tries every word."""

    asks: ClassVar = (Try,)

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        yield from Try(candidates(case), in_order=True)


@dataclass(frozen=True)
class ByEmbedding:
    """Embeds every candidate, then tries it."""

    asks: ClassVar = (Embed, Try)

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        yield from Embed(candidates(case))
        yield from Try(candidates(case), in_order=True)


by_score, by_embedding = ByScore(), ByEmbedding()


def test_an_attack_that_embeds_goes_first_and_its_passes_answer_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "grid_attacks", sys.modules[__name__])
    targets = [AskedInside(name=name, weights=WORDS) for name in "AB"]
    attacks = "python:grid_attacks:by_score,python:grid_attacks:by_embedding"
    study = brittle.grid(targets, attacks, TEXTS, limit=8, folder=tmp_path)
    (target, _) = targets
    originals = {dict(case.fields)["text"] for case in study.cases}
    known = {text for text, _ in TEXTS}
    changed = Counter(text for text in target.texts if text not in known)
    assert target.embedded and set(target.embedded).isdisjoint(originals)
    # A candidate is scored only to confirm that it won.
    winners = {
        dict(row.adversarial)["text"]
        for cells in study.cells.values()
        for row in cells["A"].rows
        if row.adversarial
    }
    assert winners and changed.keys() == winners
    assert max(Counter(target.embedded).values()) == 1


def test_another_helper_or_target_has_answers_of_its_own() -> None:
    @dataclass
    class Named:
        name: str
        fingerprint: str = "x"

    @dataclass
    class Job:
        target: Named
        helpers: dict[str, Named]
        desks: dict[str, Any]

    @dataclass
    class Desk:
        cache: int | None = None

    shared = SharedAnswers(size=10)
    desks = {"answer": Desk(), "embeddings": Desk(5)}

    def caches(target: str, helper: str) -> dict[str, Any]:
        job: Any = Job(Named(target), {"embeddings": Named(helper)}, desks)
        return shared.caches_of(job)

    one, same, other_helper, other_target = (
        caches(*names) for names in (("a", "h"), ("a", "h"), ("a", "i"), ("b", "h"))
    )
    assert one["answer"] is same["answer"] is other_helper["answer"]
    assert one["answer"] is not other_target["answer"]
    assert one["embeddings"] is other_target["embeddings"] is not other_helper["embeddings"]
    assert (one["answer"].size, one["embeddings"].size) == (10, 5)


def test_models_of_the_zoo_are_those_of_the_columns(tmp_path: Path) -> None:
    file = tmp_path / "named.csv"
    rows = [f"{text} {n},{label}" for n in range(4) for text, label in TEXTS]
    file.write_text("\n".join(["body,stars", *rows]))
    dataset = data.load(file, text=["body"], label="stars")
    targets = f"zoo:naive-bayes@{file},zoo:linear-svm@{file}"
    study = brittle.grid(targets, dataset, "key", limit=5, folder=tmp_path)
    assert not study.failures and set(study.cells["key"]) == {"naive-bayes", "linear-svm"}


SCRIPT = """
import os, signal, sys
sys.path.insert(0, {tests!r})
from test_grid import ATTACKS, TEXTS, Asked, pool
import brittle

calls_left = int(sys.argv[1])

class Mortal(Asked):
    def scores(self, items):
        global calls_left
        calls_left -= 1
        if calls_left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().scores(items)

targets = [Mortal(t.weights, t.labels, t.spread, t.name) for t in pool()]
brittle.grid(targets, TEXTS, ATTACKS, limit=8, name="mine", folder={folder!r}, progress=print)
"""
KILLED_AT = (3, 20, 30, 40)
"""At which call: before the first row, and after 8, 15 and 31. By the clock a slow machine would be
killed at one case again and again, which is then blamed."""


@pytest.mark.slow
def test_killed_at_any_point_it_goes_on(tmp_path: Path) -> None:
    whole = brittle.grid(pool(), TEXTS, ATTACKS, limit=8, name="mine", folder=tmp_path / "whole")
    folder = tmp_path / "killed"
    code = SCRIPT.format(tests=str(Path(__file__).parent), folder=str(folder))
    for calls in KILLED_AT:
        killed = subprocess.run([sys.executable, "-c", code, str(calls)], capture_output=True)
        assert killed.returncode == -signal.SIGKILL
    subprocess.run([sys.executable, "-c", code, "0"], check=True, capture_output=True)
    study = GridStudy.load(folder / "mine.study.json")
    assert statuses(study) == statuses(whole) and study.cases == whole.cases


def test_the_former_order_of_arguments_still_works_and_warns(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    now = brittle.grid(pool()[:2], TEXTS[:9], "key", folder=tmp_path / "now", name="one")
    assert not caplog.records
    former = brittle.grid(pool()[:2], "key", TEXTS[:9], folder=tmp_path / "old", name="one")
    assert former.cells == now.cells
    (record,) = [one for one in caplog.records if "is now" in one.getMessage()]
    assert "grid(targets, examples, attacks)" in record.getMessage()
    with pytest.raises(UsageError, match="Of the 2 texts of 'examples', 2 have no label"):
        brittle.grid(pool()[:2], ["pwws", "key"], "key", folder=tmp_path)
    assert caplog.records[-1] is record, "texts that are names of attacks are still texts"


def test_former_keywords_still_work_and_warn(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    messages: list[str] = []
    named = {"folder": tmp_path, "name": "one", "limit": 2}
    brittle.grid(pool()[:2], TEXTS[:9], "key", report=messages.append, **named)  # type: ignore[call-arg]
    assert messages and "grid(report=…) is now progress=…" in caplog.text
    brittle.grid(pool()[:2], TEXTS[:9], "pwws", overwrite=True, **named)  # type: ignore[call-arg]
    assert "grid(overwrite=…) is now new=…" in caplog.text
    with pytest.raises(UsageError, match="got new= and overwrite=, its former name"):
        brittle.grid(pool()[:2], TEXTS[:9], "key", overwrite=True, new=True, **named)  # type: ignore[call-arg]


@dataclass(frozen=True)
class Twice:
    times: int = 2


@pytest.mark.parametrize("attack", [Twice(3), Twice])
def test_an_attack_that_is_an_object_is_told_its_name(attack: Any) -> None:
    with pytest.raises(UsageError, match=r"Expected its name.*'python:\S*test_grid:Twice:words=5'"):
        choose_attacks(["key", attack], {})
