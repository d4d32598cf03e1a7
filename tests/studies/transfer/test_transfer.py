"""A transfer study on small pools: every cell by brute force, resumed, extended, with failures."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brittle
from brittle import data
from brittle.errors import UsageError
from brittle.reports.rate_matrix import means
from brittle.runs import late_measures
from brittle.studies.pools import Member
from brittle.studies.transfer.scoring import label_texts, pack_texts, unpack_texts
from brittle.studies.transfer.showing import rate_matrix
from brittle.studies.transfer.study import TransferStudy
from brittle.studies.transfer.transfer import TransferRequest, run_study
from brittle.testing import FakeTarget
from brittle.text import Text

WORDS = {"good": 2.0, "great": 1.5, "fine": 1.0, "bad": -2.0, "awful": -1.5, "poor": -1.0}
NOUNS = ("film", "story", "picture", "actor", "scene", "book", "music", "night")
TEXTS = [
    (f"a {word} {noun} with a {other}", "positive" if WORDS[word] > 0 else "negative")
    for word in WORDS
    for noun, other in pairwise(NOUNS)
]


@dataclass
class Asked(FakeTarget):
    """A fake target that remembers every text; it can break after so many."""

    texts: list[str] = field(default_factory=list)
    breaks_after: int | None = None

    def scores(self, items: Sequence[Text]) -> Any:
        self.texts += [item.render() for item in items]
        if self.breaks_after is not None and len(self.texts) > self.breaks_after:
            raise RuntimeError("out of memory")
        return super().scores(items)


def fake(name: str, spread: float, **weights: float) -> Asked:
    return Asked(name=name, weights=WORDS | weights, spread=spread)


def pool() -> list[Asked]:
    return [fake("A", 0.6), fake("B", 0.9, good=0.5, bad=-0.4), fake("C", 0.1, great=0.2, film=-1)]


def label_of(target: FakeTarget, fields: Sequence[tuple[str, str]]) -> int:
    return int(np.argmax(target.scores([Text.of(dict(fields))])[0]))


def cells(study: TransferStudy) -> tuple[Any, Any]:
    return study.matrix().rate, study.matrix().rate_of_right


def test_studies_measure_no_similarity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No study shows it, and an encoder would cost more than the attacks."""
    monkeypatch.delenv("BRITTLE_MEASURES")
    measured: list[Path] = []
    monkeypatch.setattr(late_measures, "measure_late", lambda path, manifest: measured.append(path))
    study = brittle.transfer(pool(), TEXTS, "pwws", limit=30, folder=tmp_path)
    brittle.grid(pool(), TEXTS, "pwws", limit=5, folder=tmp_path)
    assert not measured
    run = brittle.open_run(next((tmp_path / study.name).glob("*.sqlite")))
    assert run.results() and measured == [run.path]  # they are due for whoever opens a run itself


def test_every_cell_is_what_the_target_says(tmp_path: Path) -> None:
    targets = pool()
    study = brittle.transfer(targets, TEXTS, "pwws", limit=30, winners=12, folder=tmp_path)
    assert study.attacked == 30 and study.labels == ("negative", "positive")
    assert TransferStudy.load(tmp_path / f"{study.name}.study.json") == study
    rate, rate_of_right = cells(study)
    by_name = {target.name: target for target in pool()}
    for i, source in enumerate(study.sources):
        winners = study.winners[source.name]
        assert 0 < len(winners) <= 12
        for winner in winners:
            assert label_of(by_name[source.name], winner.original) == winner.label
            assert label_of(by_name[source.name], winner.adversarial) != winner.label
        for j, target in enumerate(study.targets):
            if i == j:
                assert np.isnan(rate[i, j])  # a live target has no twin
                continue
            model = by_name[target.name]
            wrong = [label_of(model, w.adversarial) != w.label for w in winners]
            right = [label_of(model, w.original) == w.label for w in winners]
            assert rate[i, j] == np.mean(wrong)
            both = [a for a, b in zip(wrong, right) if b]
            assert rate_of_right[i, j] == pytest.approx(
                np.mean(both) if both else np.nan, nan_ok=True
            )
    frame = study.frame()
    assert list(frame.columns) == ["source", "target", "rate", "rate_of_right", "count"]
    row = frame[(frame.source == "A") & (frame.target == "C")].iloc[0]
    assert row["rate"] == rate[0, 2] and row["count"] == len(study.winners["A"])


def test_a_study_of_listed_targets_is_named_by_what_it_does(tmp_path: Path) -> None:
    targets = pool()[:2]
    study = brittle.transfer(targets, TEXTS, "pwws", limit=12, folder=tmp_path)
    assert study.name.startswith("transfer-pwws-")
    shown = study.view(resamples=5)
    assert shown.page.settings["pool"] is None
    page = shown.html()
    assert "<title>transfer-pwws-" in page and "<bdi>pool</bdi>" not in page
    # One that an earlier version named after the pool is resumed under its name.
    former = study.name.replace("transfer", "pool")
    (tmp_path / study.name).rename(tmp_path / former)
    for target in targets:
        target.texts.clear()
    again = brittle.transfer(targets, TEXTS, "pwws", limit=12, folder=tmp_path)
    assert again.name == former and targets[0].texts == targets[1].texts == []


def test_a_study_goes_on_and_a_member_costs_its_row_and_column(tmp_path: Path) -> None:
    first, second, third = pool()
    named: dict[str, Any] = {"limit": 30, "name": "mine", "folder": tmp_path}
    before = brittle.transfer([first, second], TEXTS, "pwws", **named)
    assert before.winners["A"]
    for target in (first, second):
        target.texts.clear()
    brittle.transfer([first, second], TEXTS, "pwws", **named)
    assert first.texts == second.texts == []
    study = brittle.transfer([first, second, third], TEXTS, "pwws", **named)
    new = [dict(winner.adversarial)["text"] for winner in study.winners["C"]]
    asked = {dict(w.adversarial)["text"] for name in "AB" for w in study.winners[name]}
    for target in (first, second):
        assert sorted(target.texts) == sorted(set(new) - asked)
    # Of the new one: its own attack, and every text of the others once.
    originals = {dict(w.original)["text"] for name in "ABC" for w in study.winners[name]}
    scoring = third.texts[-len(asked | set(new)) - 30 :]
    assert asked | set(new) | originals <= set(third.texts) and len(scoring) == len(set(scoring))
    rate, _ = cells(study)
    np.testing.assert_array_equal(rate[:2, :2], cells(before)[0])
    # Another number of winners: nothing is attacked again.
    target_calls = len(third.texts)
    fewer = brittle.transfer([first, second, third], TEXTS, "pwws", winners=3, **named)
    assert len(third.texts) == target_calls
    assert {name: rows[:3] for name, rows in study.winners.items()} == dict(fewer.winners)
    # A warning names a number that sources could have reached: 500 of 30 texts is none.
    assert (study.max_winners, fewer.max_winners) == (500, 3)
    assert not any("fewer than" in warning for warning in study.warnings)
    wanted = brittle.transfer([first, second, third], TEXTS, "pwws", winners=30, **named)
    assert "sources have fewer than 30 winners among 30 texts" in wanted.warnings[-1]


def test_other_settings_or_texts_are_another_study(tmp_path: Path) -> None:
    names = {
        brittle.transfer(pool()[:2], TEXTS, "random-swap", folder=tmp_path, **changed).name
        for changed in (
            {"limit": 6},
            {"limit": 7},
            {"limit": 6, "share": 0.4},
            {"limit": 6, "seed": 1},
        )
    }
    assert len(names) == 4


def test_a_study_of_something_else_is_not_replaced(tmp_path: Path) -> None:
    named: dict[str, Any] = {"limit": 8, "name": "mine", "folder": tmp_path}
    brittle.transfer(pool()[:2], TEXTS, "random-swap", **named)
    stored = (tmp_path / "mine.study.json").read_text()
    others: list[dict[str, Any]] = [
        {"attack": "pwws"},
        {"seed": 1},
        {"share": 0.4},
        {"examples": [(f"{text}.", label) for text, label in TEXTS]},
    ]
    for changed in others:
        call = {"examples": TEXTS, "attack": "random-swap"} | named | changed
        with pytest.raises(UsageError, match="The study 'mine' already exists with other"):
            brittle.transfer(pool()[:2], **call)
    assert (tmp_path / "mine.study.json").read_text() == stored
    named["limit"] = 12
    brittle.transfer(pool(), TEXTS, "random-swap", winners=3, **named)
    assert (tmp_path / "mine.study.json").read_text() != stored
    assert brittle.transfer(pool(), TEXTS, "pwws", new=True, **named).attack == "pwws"


def test_a_member_that_fails_leaves_its_cells_empty(tmp_path: Path) -> None:
    first, second, _ = pool()
    # It answers all that its own attack asks, and breaks when it is scored.
    dying = fake("D", 0.5)
    brittle.transfer([first, dying], TEXTS, "pwws", limit=20, name="once", folder=tmp_path / "x")
    dying.breaks_after = len(dying.texts) - 20
    dying.texts.clear()
    members: list[Any] = [first, second, dying, "python:nowhere:model"]
    named: dict[str, Any] = {"limit": 20, "name": "mine", "folder": tmp_path}
    lines: list[str] = []
    study = brittle.transfer(members, TEXTS, "pwws", progress=lines.append, **named)
    assert set(study.failures) == {"D", "python:nowhere:model"}
    assert sum("open python:nowhere:model: begins" in line for line in lines) == 1
    assert "out of memory" in study.failures["D"]
    assert "nowhere" in study.failures["python:nowhere:model"]
    rate, _ = cells(study)
    assert not np.isnan(rate[[0, 1], [1, 0]]).any()
    assert np.isnan(rate[:, 2:]).all() and np.isnan(rate[3]).all()
    # A failure is not kept: what works again is filled in, and the others are asked nothing twice.
    dying.breaks_after = None
    first.texts.clear()
    mended = brittle.transfer(members, TEXTS, "pwws", **named)
    assert set(mended.failures) == {"python:nowhere:model"}
    assert not np.isnan(cells(mended)[0][[0, 1, 2, 2], [2, 2, 0, 1]]).any()
    assert len(first.texts) <= len(mended.winners["D"])


@pytest.mark.parametrize("labels", [("positive", "negative"), ("bad", "good", "odd")])
def test_other_labels_are_an_error_that_names_both(labels: tuple[str, ...], tmp_path: Path) -> None:
    first, second, _ = pool()
    first.texts.clear()
    with pytest.raises(UsageError) as error:
        brittle.transfer([first, replace(second, labels=labels)], TEXTS, folder=tmp_path)
    message = str(error.value)
    assert "'live:A' has negative, positive" in message and f"{', '.join(labels)}" in message
    assert ("in another order" in message) == (len(labels) == 2)
    assert first.texts == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ({"pool": pool()[:1]}, "has 1 member; expected 2 or more"),
        ({"pool": [*pool(), pool()[0]]}, "has the member 'A' twice"),
        ({"workers": 2}, "exists only in this process"),
        ({"winners": 0}, "Got 0 winners"),
        ({"examples": ["a film", "a book"]}, "2 have no label"),
        ({"name": "a/b"}, "without slashes"),
        ({"attack": "pwsw"}, "Did you mean 'pwws'"),
        ({"share": 7.0}, "share"),
        ({"pool": ["python:nowhere:a", "python:nowhere:b"]}, "No member of the pool"),
        ({"examples": [("a film", "odd"), ("a book", "positive")]}, "odd"),
    ],
)
def test_bad_calls_are_refused(call: dict[str, Any], message: str, tmp_path: Path) -> None:
    named = {"pool": pool(), "examples": TEXTS, "folder": tmp_path} | call
    with pytest.raises(UsageError, match=message):
        brittle.transfer(**named)


MODELS = """
from math import exp

def weighed(**weights):
    def classify(texts):
        logits = [sum(weights.get(word.lower(), 0.0) for word in text.split()) for text in texts]
        return [[1 / (1 + exp(x)), 1 / (1 + exp(-x))] for x in logits]
    classify.labels = ["negative", "positive"]
    return classify

one = weighed(good=2.0, bad=-2.0, film=0.1)
twin = weighed(good=2.0, bad=-2.0, goodness=1.0, film=0.1)
other = weighed(good=1.0, bad=-2.0, full=1.0, film=0.1)
"""


def test_the_diagonal_is_the_twins_and_sources_may_differ_from_targets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "transfer_models.py").write_text(MODELS)
    monkeypatch.syspath_prepend(tmp_path)
    spec = "python:transfer_models:"
    one, other = Member("one", f"{spec}one", f"{spec}twin"), Member("other", f"{spec}other")
    texts = [(f"a {word} film {n}", label) for n in range(6) for word, label in LABELS.items()]
    dataset = data.Dataset(
        "examples", "all", tuple(data.as_examples(texts)), ("negative", "positive")
    )
    request = TransferRequest(*("mine", "two", "pwws", {}, 0, 500, (one,), (one, other), dataset))
    study = run_study(request, tmp_path)
    rate, _ = cells(study)
    assert rate.shape == (1, 2) and not np.isnan(rate).any()
    from transfer_models import other as other_model  # type: ignore[import-not-found]
    from transfer_models import twin as twin_model

    for column, model in enumerate((twin_model, other_model)):
        rows = model([dict(w.adversarial)["text"] for w in study.winners["one"]])
        wrong = [int(np.argmax(row)) != w.label for row, w in zip(rows, study.winners["one"])]
        assert rate[0, column] == np.mean(wrong)
    assert set(study.twin_before["one"]) == {w.case for w in study.winners["one"]}
    # A twin is opened for a cell of the diagonal alone.
    alone = replace(request, name="alone", sources=(other,), targets=(replace(one, twin="x:y"),))
    assert not run_study(alone, tmp_path).failures
    assert not list((tmp_path / "alone" / "tasks").glob("open-x*"))
    # A twin that cannot be opened empties one cell.
    broken = replace(one, twin=f"{spec}nothing")
    study = run_study(replace(request, sources=(broken,), targets=(broken, other)), tmp_path)
    assert study.failures["one"].startswith("its twin: ")
    assert np.isnan(cells(study)[0]).tolist() == [[True, False]]


LABELS = {"good": "positive", "bad": "negative"}


def test_a_text_is_asked_about_once_whatever_happens(tmp_path: Path) -> None:
    target, memory = fake("A", 0.5), tmp_path / "labels" / "a.jsonl"
    texts = [(("text", text),) for text, _ in TEXTS]
    half = label_texts(target, texts[:20], memory, lambda message: None)
    # A write that was cut off costs what it held, and no more.
    with memory.open("a") as file:
        file.write('\n{"fingerprint": "x", "lab')
    again = label_texts(target, texts * 2, memory, lambda message: None)
    assert sorted(target.texts) == sorted(text for text, _ in TEXTS)
    assert again[:20] == half and again == again[: len(texts)] * 2
    assert again[: len(texts)] == [label_of(fake("A", 0.5), text) for text in texts]
    label_texts(target, texts, memory, lambda message: None)
    assert len(target.texts) == len(TEXTS)
    other = fake("A", 0.5, good=-3.0)  # another model under the same name
    assert label_texts(other, texts, memory, lambda message: None) != again[: len(texts)]
    assert len(other.texts) == len(TEXTS)


def test_texts_come_back_as_they_were_packed(tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    file.write_text("a,b,label\none,two,x\nthree,four,y\n")
    dataset = data.load(file, text=["a", "b"], locked=["a"])
    packed = json.loads(json.dumps(pack_texts(dataset)))
    assert unpack_texts(packed) == dataset


def test_models_of_the_zoo_are_trained_on_the_columns_of_the_study(tmp_path: Path) -> None:
    """One line has the study's data, the other a file of its own with the usual columns."""
    named, usual = tmp_path / "named.csv", tmp_path / "usual.csv"
    rows = [f"{text} {n},{label}" for n in range(4) for text, label in TEXTS]
    named.write_text("\n".join(["body,stars", *rows]))
    usual.write_text("\n".join(["text,label", *rows]))
    dataset = data.load(named, text=["body"], label="stars")
    lines = ["naive-bayes", f"zoo:naive-bayes@{usual}?smoothing=2"]
    study = brittle.transfer(lines, dataset, "random-swap", limit=8, seeds=1, folder=tmp_path)
    assert not study.failures and set(study.winners) == {m.name for m in study.sources}
    pair = f"ensemble:zoo:linear-svm@{named},zoo:naive-bayes@{usual}"
    study = brittle.transfer([lines[0], pair], dataset, "random-swap", limit=8, folder=tmp_path)
    assert not study.failures


def test_a_model_has_no_rate_with_itself(tmp_path: Path) -> None:
    """Both seeds of naive Bayes give one model; those of a network differ."""
    file = tmp_path / "texts.csv"
    rows = [f"{text} {n},{label}" for n in range(4) for text, label in TEXTS]
    file.write_text("\n".join(["text,label", *rows]))
    names = [f"zoo:naive-bayes@{file}", f"zoo:CNN-W-Random-1@{file}#0?size=tiny"]
    study = brittle.transfer(names, data.load(file), "pwws", limit=40, folder=tmp_path)
    assert all(study.winners.values()), "otherwise every cell is empty"
    rate, rate_of_right = cells(study)
    assert np.isnan(rate).tolist() == [[True, False], [False, False]]
    content = study.summary(resamples=5)
    assert content["rate"][0][0] is None and content["mean_base_rate"] == rate[1, 1]
    assert means(rate_matrix(study), of_right=True)[1] == rate_of_right[1, 1]
    first = study.sources[0].name
    warning = f"No base rate: both seeds give the same model (equal fingerprints) for {first}."
    assert study.warnings[-1] == content["warnings"][-1] == warning and not study.failures
    page = study.report(tmp_path / "page.html").read_text("utf-8")
    assert warning in html.unescape(page) and "over 1 model with a second seed" in page


def test_one_model_under_two_names_does_not_fool_itself(tmp_path: Path) -> None:
    pair = [fake("A", 0.6), fake("B", 0.9, good=0.5, bad=-0.4)]
    again = NamedAgain(fake("A", 0.6), "A again")
    study = brittle.transfer([*pair, again], TEXTS, "pwws", limit=30, folder=tmp_path)
    empty = [[True, False, True], [False, True, False], [True, False, True]]
    assert np.isnan(cells(study)[0]).tolist() == empty
    (warning,) = study.warnings
    assert warning.endswith("so their cells are empty: A and A again.")


@dataclass
class NamedAgain:
    """A target under another name."""

    target: FakeTarget
    name: str

    @property
    def fingerprint(self) -> str:
        return self.target.fingerprint

    @property
    def labels(self) -> Sequence[str]:
        return self.target.labels

    def scores(self, items: Sequence[Text]) -> Any:
        return self.target.scores(items)


@pytest.mark.slow
def test_models_of_the_zoo_in_several_processes(tmp_path: Path) -> None:
    """Two seeds of tiny networks: the same study in one process and in two."""
    texts, file = tmp_path / "texts.csv", tmp_path / "tiny.txt"
    networks = ("CNN-W-Random-1", "LSTM-W-Random-1")
    lines = [f"zoo:{name}@{texts}#0?size=tiny" for name in networks]
    file.write_text("\n".join([*lines, "naive-bayes"]))
    rows = [f"{text} {n},{label}" for n in range(4) for text, label in TEXTS]
    texts.write_text("\n".join(["text,label", *rows]))
    studies = [
        brittle.transfer(
            *(f"pool:{file}", str(texts), "random-swap"),
            limit=20,
            workers=workers,
            folder=tmp_path / str(workers),
        )
        for workers in (1, 2)
    ]
    assert studies[0] == studies[1] and not studies[0].failures
    assert not np.isnan(np.diag(cells(studies[0])[0])).all()
