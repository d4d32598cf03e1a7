"""What live objects hold, hashed: the same for equal ones, another for any change."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

from brittle.targets.fingerprints import hash_object


class Held:
    def __init__(self, **values: Any) -> None:
        vars(self).update(values)


def make_held(**changes: Any) -> Held:
    matrix = np.arange(6.0).reshape(2, 3)
    values = {"matrix": matrix, "words": {"a": 0, "b": 1}, "stop": {"the", "of", "and"}}
    nested = {"inner": Held(bias=0.5), "classes": np.array(["x", "yy"], dtype=object)}
    return Held(**{**values, **nested, "key": lambda text: text.lower(), **changes})


@pytest.mark.parametrize(
    "change",
    [
        {"matrix": np.arange(6.0).reshape(3, 2)},
        {"matrix": np.arange(6.0).reshape(2, 3) + np.eye(2, 3) * 1e-12},
        {"matrix": np.arange(6, dtype=np.float32).reshape(2, 3)},
        {"words": {"a": 1, "b": 0}},
        {"stop": {"the", "of"}},
        {"inner": Held(bias=0.50000001)},
        {"classes": np.array(["x", "yz"], dtype=object)},
        {"key": lambda text: text.upper()},
        {"more": None},
    ],
)
def test_every_change_is_seen(change: Any) -> None:
    assert hash_object(make_held(**change)) != hash_object(make_held())


@pytest.mark.parametrize(
    "same",
    [
        {},
        {"matrix": np.asfortranarray(np.arange(6.0).reshape(2, 3))},
        {"words": {"b": 1, "a": 0}},
        {"stop": {"and", "of", "the"}},
        {"_stop_words_id": 140234},
    ],
)
def test_order_and_addresses_do_not_count(same: Any) -> None:
    assert hash_object(make_held(**same)) == hash_object(make_held())


def test_an_object_may_hold_itself() -> None:
    loops = [Held(value=1), Held(value=1), Held(value=2)]
    for loop in loops:
        loop.itself = [loop]  # type: ignore[attr-defined]
    first, same, other = map(hash_object, loops)
    assert first == same != other


def test_what_cannot_be_taken_apart_says_so() -> None:
    with pytest.raises(TypeError):
        hash_object(Held(lock=threading.Lock()))


@pytest.mark.slow
def test_every_process_sees_the_same_pipeline() -> None:
    pytest.importorskip("sklearn")
    script = """
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from brittle.opening import as_target
texts, labels = ["a good film", "a bad film", "good story", "bad story"], [1, 0, 1, 0]
for model in (LogisticRegression(), RandomForestClassifier(3, random_state=0)):
    pipeline = make_pipeline(TfidfVectorizer(stop_words=["the", "of"]), model).fit(texts, labels)
    print(as_target(pipeline).fingerprint)
"""
    outputs = [
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for seed in ("1", "2")
    ]
    assert outputs[0] == outputs[1]
    assert len(set(outputs[0])) == 2
