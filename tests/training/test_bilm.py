"""The biLM and the networks that read it: what is trained, found, shared, resumed and refused."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from brittle.errors import UsageError  # noqa: E402
from brittle.opening import as_target  # noqa: E402
from brittle.text import Text  # noqa: E402
from brittle.training import TrainingProgress, train, train_on, trained_models  # noqa: E402
from brittle.training.adversarial.losses import KeptLayers  # noqa: E402
from brittle.zoo.bilm import needed_folders  # noqa: E402
from brittle.zoo.folder import load_card  # noqa: E402
from brittle.zoo.model import open_model  # noqa: E402
from brittle.zoo.names.grid import design, settings  # noqa: E402
from brittle.zoo.names.settings import LanguageModelSettings, NetworkSettings  # noqa: E402
from brittle.zoo.networks import (  # noqa: E402
    Batch,
    LanguageModel,
    make_batch,
)

ELMO = "LSTM-WC-ELMo-1"
CLEAR = "is a language model"


def tiny(bilm: Path) -> NetworkSettings:
    chosen = settings(design(ELMO), "tiny")
    assert isinstance(chosen, NetworkSettings)
    return replace(chosen, bilm=bilm.name, epochs=1)


@pytest.fixture
def bilm(splits: Any) -> Path:
    return train_on("biLM", splits(), size="tiny")


def test_the_card_has_perplexity_and_no_accuracy(bilm: Path) -> None:
    card = json.loads((bilm / "model.json").read_text())
    assert card["kind"] == "language model" and card["dev_accuracy"] is None
    perplexity = card["perplexity"]
    mean = (perplexity["forward"] + perplexity["backward"]) / 2
    assert perplexity["dev"] == pytest.approx(mean, abs=0.01) and 1 < mean < 30
    assert 0 < perplexity["known words"] <= 1
    readme = (bilm / "README.md").read_text()
    assert f"{perplexity['dev']}" in readme and "no classifier" in readme
    assert [model.dev_accuracy for model in trained_models()] == [None]


def test_an_epoch_reports_the_perplexity_of_both_directions(splits: Any) -> None:
    lines: list[str] = []
    train_on("biLM", splits(), size="tiny", progress=lambda p: lines.append(str(p)))
    assert "dev perplexity" in lines[-1] and "forward" in lines[-1] and "backward" in lines[-1]


def test_a_language_model_needs_no_labels(tmp_path: Path) -> None:
    path = tmp_path / "plain.csv"
    words = ["red", "green", "blue", "and", "or", "not", "one", "two", "six", "ten", "the"]
    rows = [" ".join(words[(n + i) % 11] for i in range(8)) for n in range(30)]
    path.write_text("\n".join(["text", *(f"{row} {n}" for n, row in enumerate(rows))]))
    folder = train("biLM", str(path), size="tiny")
    assert load_card(folder).labels == () and load_card(folder).full_name.startswith("biLM@plain#0")


def test_a_resumed_training_ends_with_the_same_weights(splits: Any, cache: Path) -> None:
    def stop(progress: TrainingProgress) -> None:
        if progress.dev_accuracy is not None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_on("biLM", splits(), size="tiny", progress=stop)
    epochs: list[int] = []
    resumed = train_on("biLM", splits(), size="tiny", progress=lambda p: epochs.append(p.epoch))
    weights = (resumed / "model.safetensors").read_bytes()
    whole = train_on("biLM", splits(), size="tiny", new=True)
    assert min(epochs) == 2 and (whole / "model.safetensors").read_bytes() == weights


def test_the_loss_is_that_of_the_next_word_on_each_side() -> None:
    torch.manual_seed(0)
    chosen = settings(design("biLM"), "tiny")
    assert isinstance(chosen, LanguageModelSettings)
    model = LanguageModel(chosen, 22, 9).eval()
    model.begin_with_frequencies(torch.arange(20, 0, -1))
    # Three words, of which the second is unknown, and a text of two words.
    words = torch.tensor([[5, 1, 9], [3, 4, 0]])
    characters, which = torch.tensor([[0, 0], [2, 3], [4, 0], [5, 6]]), [[1, 2, 3], [2, 1, 0]]
    batch = Batch(torch.tensor([3, 2]), words, characters, torch.tensor(which))
    with torch.no_grad():
        forward, backward = model.losses(batch)
        states = model.bilm.layers(model._word_vectors(batch), batch.length)[-1]
    ahead = model.bilm.width // 2
    with torch.no_grad():

        def score(text: int, at: int, word: int, back: bool) -> float:
            half = states[text, at, ahead:] if back else states[text, at, :ahead]
            row = torch.nn.functional.pad(half, (0, 1), value=1.0)[None]
            return -float(model.softmax.log_prob(row)[0, word - 2])

        assert forward.tolist() == pytest.approx([score(0, 1, 9, False), score(1, 0, 4, False)])
        assert backward.tolist() == pytest.approx([score(0, 1, 5, True), score(1, 1, 3, True)])


def test_a_language_model_begins_as_the_unigram_model() -> None:
    chosen = settings(design("biLM"), "tiny")
    assert isinstance(chosen, LanguageModelSettings)
    count = torch.tensor([50, 30, 20, 10, 8, 7, 6, 5, 4, 3, 2, 1])
    model = LanguageModel(chosen, len(count) + 2, 9)
    model.begin_with_frequencies(count)
    state = torch.zeros(1, chosen.hidden + 1)
    state[0, -1] = 1.0
    with torch.no_grad():
        found = model.softmax.log_prob(state)[0].exp()
    assert found.tolist() == pytest.approx((count / count.sum()).tolist(), abs=1e-6)


def test_a_network_names_its_bilm_by_content(splits: Any, bilm: Path) -> None:
    folder = train_on(ELMO, splits(), size="tiny", settings=tiny(bilm))
    named, card = load_card(folder).parts["bilm"], load_card(bilm)
    assert (named["key"], named["fingerprint"]) == (card.key, card.fingerprint)
    assert needed_folders(folder) == [folder, bilm] and needed_folders(bilm) == [bilm]
    other = train_on("biLM", splits(), 1, size="tiny")
    assert train_on(ELMO, splits(), size="tiny", settings=tiny(other)) != folder
    # The weights of the biLM are not in the folder of the network, and stay as they were.
    names = {"mix.weight", "mix.scale", "head.weight", "head.bias"}
    from safetensors.numpy import load_file

    stored = set(load_file(str(folder / "model.safetensors")))
    assert names < stored and all(n in names or n.startswith("encoder.") for n in stored)


def test_all_networks_of_a_process_share_one_bilm(splits: Any, bilm: Path) -> None:
    folders = [train_on(ELMO, splits(), seed, size="tiny", settings=tiny(bilm)) for seed in (0, 1)]
    models: list[Any] = [open_model(folder)[1] for folder in folders]
    assert models[0].network.bilm is models[1].network.bilm
    assert not any(p.requires_grad for p in models[0].network.bilm.parameters())


def test_a_copied_network_takes_its_bilm_along(
    splits: Any, bilm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = train_on(ELMO, splits(), size="tiny", settings=tiny(bilm))
    text = [Text.of("the plot is great")]
    before = as_target(str(folder)).scores(text)
    away = tmp_path / "elsewhere"
    for needed in needed_folders(folder):
        shutil.copytree(needed, away / needed.name)
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path / "empty"))
    assert (as_target(str(away / folder.name)).scores(text) == before).all()
    shutil.rmtree(away / bilm.name)
    with pytest.raises(UsageError, match=r"reads the biLM biLM@toy#0.*missing.*Copy it from"):
        as_target(str(away / folder.name))


def test_a_bilm_of_other_weights_is_refused(splits: Any, bilm: Path) -> None:
    folder = train_on(ELMO, splits(), size="tiny", settings=tiny(bilm))
    card = json.loads((bilm / "model.json").read_text())
    (bilm / "model.json").write_text(
        json.dumps(card | {"settings": card["settings"] | {"span": 9}})
    )
    with pytest.raises(
        UsageError, match="other weights than the one this network was trained with"
    ):
        open_model(folder)


def test_a_missing_bilm_is_trained_first(
    splits: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("brittle.training.elmo.load_splits", lambda data, labels: splits())
    chosen = replace(tiny(Path("x")), bilm="biLM@imdb#0")
    folder = train_on(ELMO, splits(), size="tiny", settings=chosen)
    assert "which is not trained yet" in caplog.text
    assert [m.name for m in trained_models()] == [ELMO, "biLM"]
    caplog.clear()
    assert train_on(ELMO, splits(), size="tiny", settings=chosen) == folder and not caplog.text


def test_it_is_no_target(bilm: Path) -> None:
    for name in ("zoo:biLM@imdb", str(bilm)):
        with pytest.raises(UsageError, match=CLEAR):
            as_target(name)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"bilm": "LSTM-W-Random-1@mr"}, "is not a language model"),
        ({"bilm": "biLM"}, "Expected biLM@DATA"),
        ({"kernels": 9}, "does not use it"),
        ({"forget": 0.2}, "does not use it"),
    ],
)
def test_wrong_settings_are_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        train(ELMO, "mr", size="tiny", changed=changed)


def test_what_a_language_model_cannot_learn_from_is_refused(splits: Any) -> None:
    with pytest.raises(UsageError, match="words to predict"):
        train_on("biLM", splits(2, 2), size="tiny")
    with pytest.raises(UsageError, match="hardens classifiers"):
        train_on("biLM", splits(), size="tiny", adversarial="key")


def test_other_networks_have_no_use_for_a_bilm() -> None:
    with pytest.raises(UsageError, match="networks that read a biLM"):
        train("LSTM-W-Random-1", "mr", changed={"bilm": "biLM@imdb#1"})


@pytest.mark.parametrize("max_bytes", [1 << 20, 0])
def test_kept_layers_are_those_of_the_network(splits: Any, bilm: Path, max_bytes: int) -> None:
    folder = train_on(ELMO, splits(), size="tiny", settings=tiny(bilm))
    model: Any = open_model(folder)[1]
    kept = KeptLayers(model.network, model.tokenizer, "cpu", max_bytes)
    keys = model.encode([Text.of(t) for t in ("a plot", "the great cast is dull", "film")])
    with torch.no_grad():
        expected = model.network(make_batch(keys, model.tokenizer, "cpu")).numpy()
        for _ in range(2):
            assert np.abs(kept.logits(keys).numpy() - expected).max() < 2e-3
    assert len(kept._kept) == (3 if max_bytes else 0)


@pytest.mark.slow
@pytest.mark.parametrize("attack", ["pwws", "hotflip", "hotflip-words"])
def test_attacks_break_a_network_that_reads_a_bilm(
    splits: Any, bilm: Path, tmp_path: Path, attack: str
) -> None:
    import brittle

    folder = train_on(ELMO, splits(), size="tiny", settings=replace(tiny(bilm), epochs=4))
    examples = splits().dev.examples[:4]
    run = brittle.attack(as_target(str(folder)), examples, attack, folder=tmp_path / "runs")
    assert sum(run.counts().values()) == 4 and not run.counts().get("error")
