"""What is proved at a level is broken by no other attack with the candidates of that level."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import brittle

GOOD = ("great", "funny", "clever", "lovely", "strong", "warm", "fine", "smart")
BAD = ("dull", "boring", "weak", "awful", "sad", "cold", "poor", "silly")
NOUNS = ("film", "story", "plot", "movie", "script", "actor", "scene", "ending")
OTHERS = {
    "salient-swap": {},
    "pwws": {},
    "genetic": {"population": 6, "generations": 3, "share": 1.0},
    "random-swap": {"share": 1.0},
    "exhaustive": {"words": 2},
}
MODELS: dict[str, Any] = {
    "naive Bayes": lambda: make_pipeline(CountVectorizer(), MultinomialNB()),
    "logistic regression": lambda: make_pipeline(TfidfVectorizer(), LogisticRegression(C=10.0)),
    "nearest": lambda: make_pipeline(TfidfVectorizer(), KNeighborsClassifier(3)),
    "forest": lambda: make_pipeline(
        CountVectorizer(), RandomForestClassifier(20, random_state=0, max_depth=6)
    ),
}


def sentences(count: int, seed: int) -> list[tuple[str, str]]:
    random, made = Random(seed), []
    for _ in range(count):
        label = random.choice(("positive", "negative"))
        one, other = (GOOD, BAD) if label == "positive" else (BAD, GOOD)
        words = [random.choice(one), random.choice(one if random.random() < 0.8 else other)]
        nouns = random.sample(NOUNS, 2)
        made.append((f"a {words[0]} {nouns[0]} with a {words[1]} {nouns[1]}", label))
    return made


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_no_attack_breaks_what_is_proved(name: str, tmp_path: Path) -> None:
    train, tested = sentences(300, 1), sentences(40, 2)
    model = MODELS[name]().fit(*map(list, zip(*train)))
    seen: Counter[str] = Counter()
    for level in ("careful", "loose"):
        options: dict[str, Any] = {"folder": tmp_path, "measures": "none"}
        climbed = brittle.attack(
            model, tested, "auto", levels=level, max_space=5000, name=f"auto-{level}", **options
        ).results()
        proved = {row.case for row in climbed if dict(row.levels).get(level) == "proved"}
        seen["proved"] += len(proved)
        for attack, settings in OTHERS.items():
            run = brittle.attack(
                model, tested, attack, candidates=level, name=f"{attack}-{level}",
                **settings, **options,
            )  # fmt: skip
            broken = {row.case for row in run.results() if row.status == "broken"}
            seen["broken"] += len(broken)
            assert not proved & broken, (attack, level)
    assert seen["proved"] >= 10 and seen["broken"] >= 10
