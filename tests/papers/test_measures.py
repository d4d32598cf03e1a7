"""Tasks that measure: estimates against true changes, neighbours by cosine, strongest words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brittle.testing import FakeNetwork
from brittle.text import Text
from brittle.workflow.tasks import TaskContext
from brittle_papers import measures as estimates_file
from brittle_papers import measures as words_file
from brittle_papers.measures import KINDS, count_neighbours, estimates, strongest_words

VECTORS = {"good": (1, 0), "fine": (0.9, 0.1), "nice": (0.8, 0.6), "bad": (-1, 0), "the": (1, 0.01)}


class Vectored(FakeNetwork):
    layers = ("embedding",)

    def embeddings(self, items: list[Text], layer: str, level: str = "words") -> list[Any]:
        return [np.array([VECTORS[str(word)] for word in text.words]) for text in items]


@pytest.fixture
def context(tmp_path: Path) -> TaskContext:
    rows = {
        "train": ["good good fine,positive", "good the nice,positive", "bad the bad film,negative"],
        "test": ["Good the film,positive", "good nice,positive", "bad bad,negative"],
    }
    (tmp_path / "films").mkdir()
    for split, lines in rows.items():
        (tmp_path / "films" / f"{split}.csv").write_text("\n".join(["text,label", *lines]))
    data = {"folder": "films", "name": "films", "labels": ["negative", "positive"]}
    return TaskContext(tmp_path, "name", {"data": data, "train": {}}, lambda message: None)


def test_estimates_of_a_linear_network_order_flips_as_their_true_changes(
    context: TaskContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = FakeNetwork()
    monkeypatch.setattr(estimates_file, "open_model", lambda result: network)
    arguments: dict[str, Any] = {"target": "train", "data": "data", "estimate": "paper", "seed": 1}
    result = estimates(context, texts=2, edits=6, **arguments)
    found = result["correlations"]
    assert list(found) == list(KINDS) and "flip 1.00" in result["message"]
    # One flip has the length √2 whichever it is, so nothing but the sigmoid stands between.
    assert found["flip"] == pytest.approx([1.0, 1.0])
    assert all(len(values) == 2 for values in found.values())
    assert max(map(len, (found["append"], found["inner insert"]))) == 2
    assert estimates(context, texts=2, edits=6, **arguments) == result
    assert network.passes == [1] * 12 and max(network.calls) == 6


def test_neighbours_are_counted_as_often_as_their_word_occurs(
    context: TaskContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words_file, "open_model", lambda result: Vectored(tuple(VECTORS)))
    thresholds = [0.79, 0.9, 0.999]
    result = count_neighbours(context, target="train", data="data", thresholds=thresholds)

    def brute_force(word: str, threshold: float) -> int:
        unit = {w: np.array(v) / np.linalg.norm(v) for w, v in VECTORS.items()}
        return sum(other != word and unit[other] @ unit[word] >= threshold for other in unit)

    # "the" is a stop word and "film" has no vector.
    occurring = ["good", "good", "nice", "bad", "bad"]
    for threshold in thresholds:
        expected = sorted(brute_force(word, threshold) for word in occurring)
        assert sorted(result["neighbours"][f"{threshold:g}"]) == expected
    assert sorted(result["neighbours"]["0.9"]) == [0, 0, 0, 2, 2]


def test_strongest_words_of_each_class(context: TaskContext) -> None:
    source = context.folder / "films"
    for split in ("train", "dev", "test"):
        lines = ["text,label", "Not good.<br />4/10,negative", "good fun!,positive"]
        (source / f"{split}.csv").write_text("\n".join([*lines, "bad the,negative"]))
    (context.folder / "mine").mkdir()
    rows = ["good good fine,positive", "good the nice,positive", "bad the bad film,negative"]
    (context.folder / "mine" / "train.csv").write_text("\n".join(["text,label", *rows]))
    context.needs["data"]["folder"] = "mine"
    arguments = {"data": "data", "source": str(source), "content": "x"}
    words = strongest_words(context, count=2, **arguments)["words"]
    # φ with Laplace smoothing over five words: good 4/11 against 1/9, bad 1/11 against 3/9.
    assert words["train"] == {"negative": ["bad", "film"], "positive": ["good", "fine"]}
    # Three times each; without its stroke, the rating is one word, and first among its equals.
    assert words["whole"] == {"negative": ["410", "bad"], "positive": ["fun", "good"]}
