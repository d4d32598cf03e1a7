"""Python functions as targets: what goes in, what may come out, and how they are found."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brittle.errors import TargetError, UsageError
from brittle.opening import as_target
from brittle.text import Text
from brittle.values import import_named

GOOD, BAD = Text.of("a good film"), Text.of("a bad film")


def table(texts: list[str]) -> Any:
    return np.array([[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts])


def test_a_function_gets_a_list_of_strings() -> None:
    seen: list[Any] = []

    def spy(texts: list[str]) -> Any:
        seen.append(texts)
        return table(texts)

    target = as_target(spy, labels=["neg", "pos"])
    assert target.scores([GOOD, BAD.mask(1)]).tolist() == [[0.1, 0.9], [0.8, 0.2]]
    assert seen == [["a good film", "a  film"]]
    assert as_target(spy, labels="neg,pos", mask="?").scores([BAD.mask(1)]).shape == (1, 2)
    assert seen[-1] == ["a ? film"]
    assert target.scores([]).shape == (0, 2)


def test_several_fields_come_as_dicts() -> None:
    seen: list[Any] = []

    def spy(rows: list[dict[str, str]]) -> list[list[float]]:
        seen.append(rows)
        return [[0.5, 0.5] for _ in rows]

    pair = Text.of({"premise": "It rains.", "hypothesis": "It is wet."}, locked=["premise"])
    as_target(spy, labels="no,yes").scores([pair])
    assert seen == [[{"premise": "It rains.", "hypothesis": "It is wet."}]]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (lambda texts: [{"neg": 0.2, "pos": 0.8} for _ in texts], "auto"),
        (lambda texts: [[0.2, 0.8] for _ in texts], "prob"),
        (lambda texts: [0.8 for _ in texts], "single"),
        (lambda texts: [[0.0, np.log(4.0)] for _ in texts], "logits"),
        (lambda texts: ([0.2, 0.8] for _ in texts), "auto"),
    ],
)
def test_every_kind_of_answer(answer: Any, kind: str) -> None:
    score = as_target(answer, labels="neg,pos", scores=kind).scores([GOOD, BAD])
    assert score == pytest.approx(np.array([[0.2, 0.8]] * 2))


def test_labels_alone_are_answers_too() -> None:
    target = as_target(lambda texts: ["POS" for _ in texts], labels="neg,pos")
    assert target.scores([GOOD]).tolist() == [[0.0, 1.0]]
    declared = as_target(lambda texts: [1 for _ in texts], labels="n=0,p=1", scores="label")
    assert declared.label_only
    assert declared.scores([GOOD]).tolist() == [[0.0, 1.0]]


def test_labels_can_stand_on_the_function() -> None:
    class Model:
        labels = ("LABEL_0", "LABEL_1")

        def __call__(self, texts: list[str]) -> list[dict[str, float]]:
            return [{"LABEL_1": 0.9, "LABEL_0": 0.1} for _ in texts]

    assert as_target(Model()).labels == ("LABEL_0", "LABEL_1")
    renamed = as_target(Model(), labels="neg,pos")
    assert renamed.labels == ("neg", "pos")
    assert renamed.scores([GOOD])[0].tolist() == [0.1, 0.9]


def test_unknown_labels_are_asked_for() -> None:
    with pytest.raises(UsageError, match=r"'table'.*--labels"):
        as_target(table)


def test_what_a_function_raises_is_a_target_error() -> None:
    def broken(texts: list[str]) -> Any:
        raise ZeroDivisionError("no words")

    with pytest.raises(TargetError, match="ZeroDivisionError: no words") as error:
        as_target(broken, labels="a,b").scores([GOOD])
    assert isinstance(error.value.__cause__, ZeroDivisionError)


def test_the_fingerprint_follows_the_scores() -> None:
    def colder(texts: list[str]) -> Any:
        return table(texts) * 0.5 + 0.25

    same = [as_target(table, labels="neg,pos", name="f").fingerprint for _ in range(2)]
    assert same[0] == same[1]
    assert same[0] != as_target(colder, labels="neg,pos", name="f").fingerprint


def test_the_fingerprint_follows_the_code() -> None:
    """Both pairs answer the fixed sentences alike, up to the digits that count."""

    def longer(texts: list[str]) -> Any:
        return ["pos" if len(text) > 500 else "neg" for text in texts]

    def longest(texts: list[str]) -> Any:
        return ["pos" if len(text) > 501 else "neg" for text in texts]

    lambdas = (
        lambda texts: [[0.5, 0.5]] * len(texts),
        lambda texts: [[0.50001, 0.49999]] * len(texts),
    )
    for pair in ((longer, longest), lambdas):
        for kind in ("auto", "label"):
            targets = [
                as_target(f, labels="neg,pos", name="f", scores=kind) for f in (*pair, pair[0])
            ]
            first, second, again = (target.fingerprint for target in targets)
            assert first == again != second


def test_a_random_function_is_known_by_its_code() -> None:
    random = np.random.default_rng()

    def guess(texts: list[str]) -> Any:
        return random.dirichlet([1, 1], len(texts))

    def worse(texts: list[str]) -> Any:
        return random.dirichlet([1, 2], len(texts))

    first, again, other = (
        as_target(f, labels="neg,pos", name="f").fingerprint for f in (guess, guess, worse)
    )
    assert first == again != other


@pytest.mark.slow
def test_weights_that_are_not_in_the_code_show_in_the_scores() -> None:
    class Model:
        def __init__(self, bias: float) -> None:
            self.bias = bias

        def __call__(self, texts: list[str]) -> Any:
            return [[self.bias, 1 - self.bias] for _ in texts]

    prints = [as_target(Model(b), labels="a,b").fingerprint for b in (0.25, 0.25, 0.75)]
    assert prints[0] == prints[1] != prints[2]


def test_a_function_of_pairs_has_a_fingerprint() -> None:
    def entails(rows: list[dict[str, str]]) -> Any:
        return [[0.5, 0.5] if row["premise"] > row["hypothesis"] else [0.1, 0.9] for row in rows]

    def other(rows: list[dict[str, str]]) -> Any:
        return [[0.4, 0.6] if row["premise"] > row["hypothesis"] else [0.1, 0.9] for row in rows]

    asked = ("premise", "hypothesis")
    prints = [
        as_target(f, labels="no,yes", name="f", **more).fingerprint
        for f in (entails, other)
        for more in ({}, {"fields": asked})  # unknown fields: the code's hash
    ]
    assert len(set(prints)) == 4


@pytest.mark.parametrize("thing", [lambda: table, lambda a, b: None])
def test_what_does_not_take_one_list_is_refused(thing: Any) -> None:
    with pytest.raises(UsageError, match="one argument"):
        as_target(thing, labels="a,b")


def test_a_class_is_not_called() -> None:
    class Model:
        def __init__(self, texts: list[str]) -> None:
            raise AssertionError("called")

    with pytest.raises(UsageError, match="an instance"):
        as_target(Model, labels="a,b")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p])
    yield tmp_path
    for name in ("my_models", "broken_module"):
        sys.modules.pop(name, None)


MODULE = """
class Model:
    labels = ["neg", "pos"]
    def classify(self, texts):
        return [[0.25, 0.75] for _ in texts]
    def __call__(self, texts):
        return self.classify(texts)
model = Model()
def classify(texts):
    return model.classify(texts)
number = 3
"""


def test_a_function_is_found_in_the_working_folder(folder: Path) -> None:
    (folder / "my_models.py").write_text(MODULE)
    target = as_target("python:my_models:classify", labels="neg,pos")
    assert target.name == "python:my_models:classify"
    assert target.scores([GOOD]).tolist() == [[0.25, 0.75]]
    assert as_target("python:my_models:model").labels == ("neg", "pos")
    nested = as_target("python:my_models:model.classify", labels="neg,pos")
    assert nested.scores([GOOD]).tolist() == [[0.25, 0.75]]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("python:my_models", "expected python:MODULE:NAME"),
        ("python:absent_module:f", "No module named 'absent_module'"),
        ("python:broken_module:f", "RuntimeError: at import"),
        ("python:my_models:clasify", "Found: Model, model, classify"),
        ("python:my_models:Model", "the class Model"),
        ("python:my_models:number", "a int"),
    ],
)
def test_names_that_lead_nowhere(folder: Path, spec: str, message: str) -> None:
    (folder / "my_models.py").write_text(MODULE)
    (folder / "broken_module.py").write_text("raise RuntimeError('at import')")
    with pytest.raises(UsageError, match=message):
        as_target(spec, labels="neg,pos")


def test_a_name_may_lead_to_anything_importable() -> None:
    assert import_named("python:json:decoder.JSONDecoder", "").__name__ == "JSONDecoder"
