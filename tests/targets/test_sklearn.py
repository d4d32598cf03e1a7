"""Real scikit-learn pipelines, live and from skops files."""

from __future__ import annotations

import threading
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brittle.errors import TargetError, UsageError
from brittle.opening import as_target
from brittle.targets.sklearn import load_skops, of_estimator
from brittle.text import Text

pytest.importorskip("sklearn")
pytest.importorskip("skops")

from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import LinearSVC
from skops import io as skops

TEXTS = [
    "a wonderful and funny film",
    "good story, great cast",
    "a dull and terrible film",
    "bad story, awful cast",
    "news of the day",
    "the bank and the news",
] * 3
SENTIMENT = ["pos", "pos", "neg", "neg"]
TWO = [SENTIMENT[i % 6 % 4] for i in range(18)]
THREE = [["pos", "pos", "neg", "neg", "news", "news"][i % 6] for i in range(18)]
ITEMS = [Text.of("a wonderful story"), Text.of("a terrible story"), Text.of("unheard-of words")]


def fitted(model: Any, labels: Any = THREE) -> Pipeline:
    return make_pipeline(TfidfVectorizer(), model).fit(TEXTS, labels)


def test_a_live_pipeline_gives_its_own_probabilities() -> None:
    pipeline = fitted(LogisticRegression())
    target = as_target(pipeline)
    assert target.labels == ("neg", "news", "pos")
    assert target.name == "TfidfVectorizer+LogisticRegression"
    expected = pipeline.predict_proba([str(item) for item in ITEMS])
    assert target.scores(ITEMS) == pytest.approx(expected, abs=1e-12)
    assert target.scores([]).shape == (0, 3)


def test_a_hole_reads_as_nothing_or_as_told() -> None:
    pipeline = fitted(MultinomialNB())
    masked = ITEMS[0].mask(1)
    assert as_target(pipeline).scores([masked]) == pytest.approx(
        pipeline.predict_proba(["a  story"]), abs=1e-12
    )
    assert as_target(pipeline, mask="terrible").scores([masked]) == pytest.approx(
        pipeline.predict_proba(["a terrible story"]), abs=1e-12
    )


def test_the_fingerprint_is_that_of_the_model() -> None:
    once, same = (as_target(fitted(LogisticRegression())).fingerprint for _ in range(2))
    other = as_target(fitted(LogisticRegression(C=5))).fingerprint
    assert once == same != other


def test_the_fingerprint_follows_the_last_digits_of_what_was_fitted() -> None:
    first, second = fitted(LogisticRegression()), fitted(LogisticRegression())
    second[-1].coef_[0, 0] += 1e-9
    assert as_target(first).fingerprint != as_target(second).fingerprint
    asked = as_target(second)
    before = asked.fingerprint
    asked.scores(ITEMS)
    assert as_target(second).fingerprint == before


def test_a_model_that_cannot_be_looked_into_is_known_by_its_scores() -> None:
    prints = []
    for shift in (0.0, 0.0, 1e-6):
        pipeline = fitted(LogisticRegression())
        pipeline[-1].intercept_ += np.array([shift, 0.0, 0.0])
        pipeline[-1].lock = threading.Lock()
        prints.append(as_target(pipeline).fingerprint)
    assert prints[0] == prints[1] != prints[2]


def test_a_function_among_the_settings_does_not_change_the_fingerprint() -> None:
    prints = set()
    for _ in range(2):
        steps = (CountVectorizer(preprocessor=lambda text: text.lower()), MultinomialNB())
        prints.add(as_target(make_pipeline(*steps).fit(TEXTS, TWO)).fingerprint)
    assert len(prints) == 1


def test_integer_classes_can_be_named() -> None:
    pipeline = fitted(LogisticRegression(), [int(label == "pos") for label in THREE])
    assert as_target(pipeline).labels == ("0", "1")
    named = as_target(pipeline, labels="neg,pos")
    assert named.labels == ("neg", "pos")
    assert as_target(named, labels="neg,pos") is named


def test_margins_are_not_taken_for_probabilities() -> None:
    for labels in (TWO, THREE):
        with pytest.raises(UsageError, match=r"CalibratedClassifierCV.*--scores logits"):
            as_target(fitted(LinearSVC(), labels))


def test_declared_margins_are_logits() -> None:
    pipeline = fitted(LinearSVC(), TWO)
    margin = pipeline.decision_function(["a wonderful story"])[0]
    score = as_target(pipeline, scores="logits").scores(ITEMS[:1])
    assert score[0, 1] == pytest.approx(1 / (1 + np.exp(-margin)))
    three = fitted(LinearSVC(), THREE)
    score = as_target(three, scores="logits").scores(ITEMS)
    assert score.argmax(axis=1).tolist() == [
        list(three.classes_).index(label) for label in three.predict([str(i) for i in ITEMS])
    ]


def test_a_calibrated_margin_is_a_probability() -> None:
    target = as_target(fitted(CalibratedClassifierCV(LinearSVC(), cv=2), TWO))
    assert target.scores(ITEMS).sum(axis=1) == pytest.approx(np.ones(3))


class Rule:
    """A classifier that only predicts, with integer classes."""

    classes_ = np.array([0, 1])

    def fit(self, texts: Any, labels: Any) -> Rule:
        return self

    def predict(self, texts: list[str]) -> Any:
        return np.array([int("wonderful" in text) for text in texts])


def test_a_classifier_that_only_predicts_is_label_only() -> None:
    target = of_estimator(Rule(), labels="neg,pos")
    assert target.label_only
    assert target.scores(ITEMS).tolist() == [[0, 1], [1, 0], [1, 0]]


def test_an_object_with_classes_that_predicts_is_a_classifier() -> None:
    class Bare:
        classes_ = np.array(["neg", "pos"])

        def predict(self, texts: list[str]) -> Any:
            return ["pos" for _ in texts]

    assert as_target(Bare()).scores(ITEMS)[:, 1].tolist() == [1.0, 1.0, 1.0]

    class Short(Bare):
        def predict(self, texts: list[str]) -> Any:
            return ["pos"]

    with pytest.raises(TargetError, match="1 labels for 3 items"):
        as_target(Short()).scores(ITEMS)


def test_labels_can_be_asked_of_any_classifier() -> None:
    target = as_target(fitted(RidgeClassifier()), scores="label")
    assert getattr(target, "label_only", False)
    assert set(target.scores(ITEMS).ravel()) == {0.0, 1.0}


@pytest.mark.parametrize("kind", ["logits", "single"])
def test_a_kind_of_scores_that_does_not_fit_is_refused(kind: str) -> None:
    with pytest.raises(UsageError, match=f"--scores {kind}"):
        as_target(fitted(MultinomialNB()), scores=kind)


def test_regressors_are_refused_by_name() -> None:
    with pytest.raises(UsageError, match="Ridge, a regressor"):
        as_target(fitted(Ridge(), list(range(18))))


@pytest.mark.parametrize(
    "model",
    [
        MultiOutputClassifier(LogisticRegression()),
        OneVsRestClassifier(LogisticRegression()),
        RandomForestClassifier(n_estimators=2),
        KNeighborsClassifier(2),
    ],
)
def test_multi_label_classifiers_are_refused_by_name(model: Any) -> None:
    two = np.array([[i % 2, i % 3 > 0] for i in range(18)], dtype=int)
    with pytest.raises(UsageError, match="multi-label"):
        as_target(fitted(model, two))


def test_what_is_not_fitted_or_takes_no_texts_is_refused() -> None:
    with pytest.raises(UsageError, match="not fitted"):
        as_target(make_pipeline(TfidfVectorizer(), LogisticRegression()))
    bare = LogisticRegression().fit([[0.0], [1.0]], ["a", "b"])
    with pytest.raises(UsageError, match="make_pipeline"):
        as_target(bare)


def test_two_fields_need_a_function() -> None:
    pair = Text.of({"premise": "a", "hypothesis": "b"})
    with pytest.raises(UsageError, match="premise, hypothesis"):
        as_target(fitted(MultinomialNB())).scores([pair])


def test_an_error_inside_is_the_targets() -> None:
    class Fragile(Rule):
        def predict(self, texts: list[str]) -> Any:
            if any("unheard" in text for text in texts):
                raise RuntimeError("out of words")
            return super().predict(texts)

    with pytest.raises(TargetError, match="RuntimeError: out of words"):
        of_estimator(Fragile()).scores(ITEMS)


def test_a_skops_file_is_the_same_target(tmp_path: Path) -> None:
    pipeline = fitted(LogisticRegression())
    path = tmp_path / "model.skops"
    skops.dump(pipeline, path)
    target = as_target(str(path))
    assert target.name == "model"
    assert (target.scores(ITEMS) == as_target(pipeline).scores(ITEMS)).all()
    first = target.fingerprint
    assert as_target(str(path)).fingerprint == first
    assert as_target(str(path), scores="label").fingerprint != first
    skops.dump(fitted(LogisticRegression(C=3)), path)
    assert as_target(path).fingerprint != first


def test_private_classes_of_scikit_learn_load(tmp_path: Path) -> None:
    path = tmp_path / "model.skops"
    skops.dump(fitted(CalibratedClassifierCV(LinearSVC(), cv=2)), path)
    assert skops.get_untrusted_types(file=path)
    assert as_target(path).labels == ("neg", "news", "pos")


def test_what_a_file_may_hold_has_to_be_said(tmp_path: Path) -> None:
    path = tmp_path / "forest.skops"
    skops.dump(fitted(RandomForestClassifier(n_estimators=2)), path)
    tree = "sklearn.tree._tree.Tree"
    if tree not in skops.get_untrusted_types(file=path):
        pytest.skip("this version of skops trusts trees")
    with pytest.raises(UsageError, match=f"--trust {tree}"):
        as_target(path)
    assert as_target(path, trust=[tree]).labels == ("neg", "news", "pos")


def test_functions_are_never_trusted_unasked(tmp_path: Path) -> None:
    """A crafted file could call them: numpy.load, for one, can run what is pickled in a file."""
    path = tmp_path / "model.skops"
    lists = FunctionTransformer(np.load, kw_args={"allow_pickle": True})
    skops.dump(Pipeline([("load", lists), ("model", LogisticRegression())]), path)
    with pytest.raises(UsageError, match=r"--trust numpy.*load"):
        load_skops(path)


@pytest.mark.parametrize("content", [b"", b"not a zip"])
def test_a_file_that_is_none_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.skops"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="not a skops file"):
        load_skops(path)
    with zipfile.ZipFile(path, "w") as other:
        other.writestr("something", "else")
    with pytest.raises(UsageError, match="not a skops file"):
        load_skops(path)
    with pytest.raises(UsageError, match="no file"):
        load_skops(tmp_path / "absent.skops")


DEEP = "[" * 100_000


@pytest.mark.parametrize(
    "schema",
    ["[1, 2]", "null", "{}", DEEP, '{"__loader__": []}', '{"__class__": 1, "__module__": 2}', "{"],
    ids=["list", "null", "empty", "deep", "loader", "numbers", "cut"],
)
def test_a_damaged_schema_is_refused(tmp_path: Path, schema: str) -> None:
    path = tmp_path / "model.skops"
    with zipfile.ZipFile(path, "w") as damaged:
        damaged.writestr("schema.json", schema)
    with pytest.raises(UsageError, match="is damaged, or not a skops file"):
        load_skops(path)
