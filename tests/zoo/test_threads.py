"""Torch's number of threads: whoever closes first or fails, the others keep theirs."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import brittle  # noqa: E402
from brittle.errors import UsageError  # noqa: E402
from brittle.opening import as_target  # noqa: E402
from brittle.training.loop import seeded  # noqa: E402
from brittle.zoo import restoring as module  # noqa: E402
from brittle.zoo import scoring  # noqa: E402
from brittle.zoo.restoring import ThreadUse  # noqa: E402
from zoo import small  # noqa: E402

FORMER = 3


@pytest.fixture(autouse=True, scope="module")
def collected() -> None:
    gc.collect()  # models that other tests have dropped


@pytest.fixture(autouse=True)
def former(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(module, "_OWNER", module._Owner())  # other tests have models open
    before = torch.get_num_threads()
    torch.set_num_threads(FORMER)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_the_newest_open_use_holds_and_the_former_number_comes_back(order: Any) -> None:
    uses = [ThreadUse(threads) for threads in (1, 2, 4)]
    still_open = {0: 1, 1: 2, 2: 4}
    for number in order:
        assert torch.get_num_threads() == still_open[max(still_open)]
        uses[number].close()
        uses[number].close()
        del still_open[number]
    assert torch.get_num_threads() == FORMER


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_models_close_in_any_order(order: tuple[int, int]) -> None:
    models = [small.model("LSTM-W-Random-1"), small.model("CNN-C-Random-1")]
    models[order[0]].close()
    models[order[0]].close()
    assert torch.get_num_threads() == 1
    models[order[1]].close()
    assert torch.get_num_threads() == FORMER


def test_a_model_of_the_zoo_and_a_transformer_keep_what_each_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("transformers")
    from brittle.targets.transformers import classifier, loading
    from targets import tiny

    monkeypatch.setattr(loading, "cores", lambda: 8)
    tokenizer = tiny.tokenizer("bert")
    network = small.model("LSTM-W-Random-1")
    transformer = classifier.of_model(tiny.model("bert", len(tokenizer)), tokenizer)
    assert torch.get_num_threads() == 2
    network.close()
    assert torch.get_num_threads() == 2
    transformer.close()
    assert torch.get_num_threads() == FORMER


def test_a_constructor_that_fails_uses_no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    first = small.model("LSTM-W-Random-1")
    first.close()

    def fail(*_: Any) -> None:
        raise ValueError("cannot be built")

    monkeypatch.setattr(scoring, "_build_fast", fail)
    with pytest.raises(ValueError, match="cannot be built"):
        small.model("LSTM-W-Random-1")
    assert torch.get_num_threads() == FORMER


def test_a_model_that_is_dropped_gives_its_threads_back() -> None:
    model = small.model("LSTM-W-Random-1")
    assert torch.get_num_threads() == 1
    del model
    gc.collect()
    assert torch.get_num_threads() == FORMER


def test_training_beside_an_open_model() -> None:
    model = small.model("LSTM-W-Random-1")
    with seeded(0, 2):
        assert torch.get_num_threads() == 2
    assert torch.get_num_threads() == 1
    with pytest.raises(KeyError), seeded(0, 2):
        raise KeyError
    assert torch.get_num_threads() == 1
    with seeded(0, 2):
        model.close()
        assert torch.get_num_threads() == 2
    assert torch.get_num_threads() == FORMER


def test_a_target_with_the_wrong_labels_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path / "cache"))
    rows = [f"a {word} film {n},{label}" for n in range(20) for word, label in WORDS.items()]
    (tmp_path / "toy.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    folder = brittle.train("LSTM-W-Random-1", str(tmp_path / "toy.csv"), size="tiny")
    assert torch.get_num_threads() == FORMER
    errors = []
    for labels in ("low,high", "low=negativ"):
        with pytest.raises(UsageError) as caught:
            as_target(folder, labels=labels)
        errors.append(caught)  # it holds the frames, so that nothing is dropped
        assert torch.get_num_threads() == FORMER
    with pytest.raises(UsageError) as caught:
        brittle.attack(str(folder), [("a good film", "nonsense")], folder=tmp_path)
    assert torch.get_num_threads() == FORMER


WORDS = {"good": "positive", "bad": "negative"}
