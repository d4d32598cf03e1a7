"""Pipelines of word counts: which are sums over words, and the closed form against brute force."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

pytest.importorskip("sklearn")

from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import ComplementNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from brittle.opening import as_target
from brittle.spaces import Bounded, BoundRequest, SwapSpace, subsets
from brittle.targets.protocols import HasBounds
from brittle.targets.sklearn import is_additive
from brittle.text import Text

WORDS = ["good", "bad", "warm", "cold", "dull", "fine", "isn't", "well-made", "a", "Film", "the"]
RANDOM = Random(0)
TEXTS = [" ".join(RANDOM.choices(WORDS, k=6)) for _ in range(60)]
LABELS = [("no", "yes", "so")[(text.count("good") + 2 * text.count("bad")) % 3] for text in TEXTS]


def fitted(classifier: Any, classes: int = 3, vectorizer: Any = None, **settings: Any) -> Any:
    model = make_pipeline(vectorizer or CountVectorizer(**settings), classifier)
    keep = [n for n, label in enumerate(LABELS) if classes == 3 or label != "so"]
    return model.fit([TEXTS[n] for n in keep], [LABELS[n] for n in keep])


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    ("classifier", "scores"),
    [
        (MultinomialNB(), "auto"),
        (ComplementNB(), "auto"),
        (LogisticRegression(), "auto"),
        (LinearSVC(), "logits"),
        (RidgeClassifier(), "label"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_closed_form_equals_brute_force(classifier: Any, scores: str, classes: int) -> None:
    target: Any = as_target(fitted(classifier, classes), scores=scores)
    assert isinstance(target, HasBounds)
    random, ends = Random(classes), []
    for _ in range(40):
        text = Text.of(", ".join(random.choices([*WORDS, "unseen"], k=random.randint(1, 5))) + "!")
        options = [tuple(random.sample(WORDS, random.randint(0, 3))) for _ in text.words]
        space = SwapSpace(text, options, random.randint(1, 3))
        sets = [s for n in range(space.words + 1) for s in subsets([space.positions], n)]
        predicted = target.scores(list(space.texts(sets))).argmax(axis=1)
        [known] = target.bounds([BoundRequest(space, int(predicted[0]))])
        is_robust = bool((predicted == predicted[0]).all())
        ends.append(is_robust)
        if known == Bounded():  # too near to a tie to tell
            continue
        assert (known.proved_words >= space.words) == is_robust
        if not is_robust:
            assert (target.scores(known.strongest).argmax(axis=1) != predicted[0]).any()
    assert {*ends} == {True, False}


def test_what_is_no_sum_over_words_is_known() -> None:
    nb = MultinomialNB()
    assert is_additive(fitted(nb)) and is_additive(
        fitted(nb, lowercase=False, stop_words="english")
    )
    others = [
        fitted(nb, vectorizer=TfidfVectorizer()),
        fitted(nb, binary=True),
        fitted(nb, ngram_range=(1, 2)),
        fitted(nb, analyzer="char"),
        fitted(nb, token_pattern=r"\S+"),
        fitted(nb, tokenizer=str.split, token_pattern=None),
        fitted(nb, preprocessor=str.lower),
        fitted(DecisionTreeClassifier()),
    ]
    assert not any(map(is_additive, others))
    assert not is_additive(object()) and not is_additive(nb)
    assert not isinstance(as_target(others[0]), HasBounds)


def test_a_text_in_which_a_gap_could_join_words_is_left_open() -> None:
    target: Any = as_target(fitted(MultinomialNB()))
    space = SwapSpace(Text.of("good_bad film"), [("warm",), ("cold",), ()], 1)
    assert target.bounds([BoundRequest(space, 0)]) == [Bounded()]


def test_a_text_without_candidates_is_proved() -> None:
    target: Any = as_target(fitted(MultinomialNB()))
    text = Text.of("good film")
    label = int(target.scores([text])[0].argmax())
    space = SwapSpace(text, [(), ()], 2)
    assert target.bounds([BoundRequest(space, label)]) == [Bounded(2, ())]
