"""Word importance against sums that are known, and everything that can be wrong with a call."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from brittle.candidates.synonyms import SubstituteTable
from brittle.errors import UsageError
from brittle.studies.importance import importance
from brittle.text import HOLE, Text


class Weighed:
    """The log likelihoods are known: logits are sums of weights, by word."""

    def __init__(self, name: str, labels: Sequence[str] = ("neg", "pos"), **weights: float) -> None:
        self.name = self.fingerprint = name
        self.labels = tuple(labels)
        self.weights = weights
        self.closed = 0

    def plain(self, words: Sequence[object]) -> np.ndarray:
        total = sum(self.weights.get(str(w).lower(), 0.0) for w in words if w is not HOLE)
        logits = {"neg": 0.0, "pos": total}
        row = np.array([logits.get(label, 0.0) for label in self.labels])
        return np.asarray(np.log(np.exp(row) / np.exp(row).sum()))

    def scores(self, texts: Sequence[Text]) -> np.ndarray:
        return np.exp([self.plain(text.words) for text in texts])

    def close(self) -> None:
        self.closed += 1


class WithLogits(Weighed):
    def logits(self, texts: Sequence[Text]) -> np.ndarray:
        return np.array([self.plain(text.words) for text in texts]) + 7.0

    def scores(self, texts: Sequence[Text]) -> np.ndarray:
        raise AssertionError("logits come first: probabilities are rounded")


SENTENCE = "A good, funny film"


def test_the_drop_is_that_of_the_gold_log_likelihood() -> None:
    models = [Weighed("a", good=2.0, funny=1.0), WithLogits("b", good=0.5, film=-3.0)]
    result = importance(models, SENTENCE, label="pos")
    assert (result.models, result.label, result.is_majority) == (("a", "b"), "pos", False)
    assert result.columns == ("A", "good", "funny", "film")
    assert result.predicted == ("pos", "neg")
    words = SENTENCE.replace(",", "").split()
    for row, model in zip(result.drop, models):
        before = model.plain(words)[1]
        after = [model.plain(words[:i] + words[i + 1 :])[1] for i in range(4)]
        np.testing.assert_allclose(row, [before - value for value in after], atol=1e-12)
        assert model.closed == 0  # it was handed in
    np.testing.assert_allclose(result.mean, result.drop.mean(axis=0))
    np.testing.assert_allclose(result.log_likelihood, [m.plain(words)[1] for m in models])


def test_the_gold_label_is_that_of_the_majority() -> None:
    models = [
        Weighed("a", film=-1.0),
        Weighed("b", ("pos", "neg"), film=-2.0),
        Weighed("c", film=1),
    ]
    result = importance(models, SENTENCE)
    assert (result.label, result.is_majority) == ("neg", True)
    # The second has the same labels in another order.
    assert result.predicted == ("neg", "neg", "pos")
    assert result.drop[1, 3] == pytest.approx(models[1].plain(["film"])[1] - np.log(0.5))


def test_the_substitutes_of_one_word() -> None:
    model = Weighed("a", good=2.0, fine=1.5, bad=-1.0)
    table = SubstituteTable({"good": ("fine", "bad")})
    result = importance(model, "Good or good film", word="good", label="pos", proposal=table)
    assert (result.word, result.columns) == ("good", ("fine", "bad"))
    before = model.plain(["good", "good"])[1]
    after = [model.plain([word, "good"])[1] for word in ("fine", "bad")]
    np.testing.assert_allclose(result.drop, [[before - value for value in after]])
    columns = importance(model, SENTENCE, word="funny").columns
    assert "amusing" in columns and "story" not in columns


def test_a_model_that_fails_is_named_and_the_rest_goes_on() -> None:
    class Broken(Weighed):
        def scores(self, texts: Sequence[Text]) -> np.ndarray:
            raise RuntimeError("out of order")

    class Empty(Weighed):
        def scores(self, texts: Sequence[Text]) -> np.ndarray:
            return np.full((len(texts), 2), np.nan)

    models = [
        Weighed("a", good=1.0), Broken("b"), Weighed("c", ("x", "y")), Empty("d"),
        "zoo:no-such-model@mr",
    ]  # fmt: skip
    result = importance(models, SENTENCE)
    assert result.models == ("a",)
    assert result.failures["b"] == "RuntimeError: out of order"
    assert "x, y; expected neg, pos" in result.failures["c"]
    assert result.failures["d"] == "Its scores are not finite."
    assert "no-such-model" in result.failures["zoo:no-such-model@mr"]
    with pytest.raises(UsageError, match=r"No model .* b: RuntimeError: out of order"):
        importance([Broken("b")], SENTENCE)


def test_bad_calls_are_refused(tmp_path: Path) -> None:
    model = Weighed("a", good=1.0)
    with pytest.raises(UsageError, match=r"Unknown word of the sentence: 'fnny'\. Did you mean"):
        importance(model, SENTENCE, word="fnny")
    with pytest.raises(UsageError, match=r"'A' has no substitutes here \(part of speech: DT\)"):
        importance(model, SENTENCE, word="a")
    with pytest.raises(UsageError, match=r"Unknown label 'poss'\. Did you mean 'pos'"):
        importance(model, SENTENCE, label="poss")
    opened: list[str] = []
    with pytest.raises(UsageError, match="Unknown label 'poss'"):
        importance([model, Weighed("b")], SENTENCE, label="poss", progress=opened.append)
    assert opened == ["a"]
    with pytest.raises(UsageError, match="has no words"):
        importance(model, "…")
    file = tmp_path / "mine.txt"
    file.write_text("LSTM-W-Random-1\nnaive-bayes\n")
    with pytest.raises(UsageError, match="Name the data, such as --data mr"):
        importance(f"pool:{file}", SENTENCE)


def test_no_model_of_a_pool_is_trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path))
    file = tmp_path / "mine.txt"
    file.write_text("LSTM-W-Random-1\nnaive-bayes\n")
    with pytest.raises(UsageError, match=r"not trained yet\. Train it with: brittle train LSTM"):
        importance(f"pool:{file}", SENTENCE, data="mr")
    assert not list(tmp_path.glob("models/*"))
