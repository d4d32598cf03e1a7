"""The loss of a hardened network, its gradient, and what training with it leads to."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from brittle.data import Dataset, Example
from brittle.text import Text
from brittle.training import TrainingProgress, train_on
from brittle.training.adversarial.methods import HotFlipTraining, NoiseTraining, TypoTraining
from brittle.training.job import TrainingJob
from brittle.training.plan import TrainingPlan
from brittle.training.splits import TrainingSplits
from brittle.zoo import folder as folders
from brittle.zoo.names import grid
from training.adversarial.test_losses import TEXTS, model_of
from training.conftest import BAD, GOOD, OTHER

torch = pytest.importorskip("torch")

from brittle.training.adversarial.losses import (  # noqa: E402
    LabelledBatch,
    NetworkInTraining,
    add_noise,
    batch_loss,
    clean_half,
    cross_entropy,
    flip_batch,
)
from brittle.training.loop import Trainable, run_epochs  # noqa: E402
from brittle.zoo.model import open_model  # noqa: E402
from brittle.zoo.networks import make_batch  # noqa: E402

NAMES = ["CNN-C-Random-1", "LSTM-WC-Random-1", "BiLSTM-W-Random-1"]
LABEL = torch.arange(len(TEXTS)) % 2


def gradients(model: NetworkInTraining) -> dict[str, Any]:
    found = {n: p.grad.clone() for n, p in model.network.named_parameters() if p.grad is not None}
    model.network.zero_grad()
    return found


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "method", [HotFlipTraining(), NoiseTraining(0.3), TypoTraining(), None], ids=str
)
def test_the_loss_is_the_mean_of_both_and_so_is_its_gradient(name: str, method: Any) -> None:
    texts = [Text.of(text) for text in TEXTS]
    typed = [Text.of(text[::-1]) for text in TEXTS]
    model = model_of(name, texts)
    network, tokenizer = model.network, model.tokenizer
    keys = tokenizer.encode(texts, 400)
    batch = make_batch(keys, tokenizer, "cpu", apart=True)
    _, embedded, gradient = clean_half(network, batch, LABEL)
    noisy = add_noise(embedded, gradient, batch, 0.3)
    noise = [None if b is None else (b - a).detach() for a, b in zip(parts(embedded), parts(noisy))]
    network.zero_grad()

    # The same in the simplest way: the copies are a batch like any other.
    if isinstance(method, HotFlipTraining):
        other = network(flip_batch(model, keys, batch, embedded, gradient, 0.2))
    elif isinstance(method, NoiseTraining):
        again = parts(network.embed(batch))
        loud = [None if v is None else v + n for v, n in zip(again, noise)]
        other = network.logits(type(embedded)(*loud), batch)
    elif isinstance(method, TypoTraining):
        other = network(make_batch(tokenizer.encode(typed, 400), tokenizer, "cpu"))
    else:
        other = network(batch)
    plain = (cross_entropy(network(batch), LABEL) + cross_entropy(other, LABEL)) / 2
    plain.backward()
    expected = gradients(model)

    spellings = None if not hasattr(tokenizer, "alphabet") else len(tokenizer)
    found = batch_loss(model, LabelledBatch(keys, LABEL, lambda: typed), method)
    found.backward()
    assert found.item() == pytest.approx(plain.item())
    got = gradients(model)
    assert got.keys() == expected.keys()
    for weight, wanted in expected.items():
        assert torch.allclose(got[weight], wanted, atol=1e-12), weight
    if spellings is not None:
        assert len(tokenizer) == spellings  # spellings of copies are not kept


def parts(embedded: Any) -> list[Any]:
    return [embedded.words, embedded.characters]


def test_words_that_are_not_tuned_have_a_gradient_all_the_same() -> None:
    texts = [Text.of(text) for text in TEXTS]
    model = model_of("CNN-W-Random-1", texts)
    model.network.embedding.weight.requires_grad_(False)
    keys = model.tokenizer.encode(texts, 400)
    for method in (HotFlipTraining(), NoiseTraining()):
        batch_loss(model, LabelledBatch(keys, LABEL, tuple), method).backward()
        got = gradients(model)
        assert got and "embedding.weight" not in got


def test_the_half_that_has_gone_back_already_counts_in_a_step(tmp_path: Path) -> None:
    design = grid.design("CNN-W-Random-1")
    chosen: Any = grid.settings(
        design, "tiny", optimizer="sgd", learning_rate=0.5, max_grad_norm=0.0, epochs=1
    )
    network = torch.nn.Linear(1, 1)
    before = network.weight.item()

    def halves(rows: list[int]) -> Any:
        half = network(torch.tensor([[2.0]])).sum() / 2
        half.backward()
        return network(torch.tensor([[6.0]])).sum() / 2 + half.detach()

    data = Dataset("toy", "train", (Example((("text", "a"),), "a"),))
    splits = TrainingSplits("toy", data, data)
    job = TrainingJob(TrainingPlan(design, chosen, "tiny", 0, splits), tmp_path)
    run_epochs(job, Trainable(network, chosen, lambda epoch: [1], halves, lambda: 1.0))
    assert network.weight.item() == pytest.approx(before - 0.5 * (2.0 + 6.0) / 2)


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("LSTM-W-Random-1", "hotflip"),
        ("LSTM-W-Random-1", "miyato"),
        pytest.param("CNN-C-Random-1", "key", marks=pytest.mark.slow),
        pytest.param("CNN-C-Random-1", "hotflip", marks=pytest.mark.slow),
        pytest.param("CNN-C-Random-1", "miyato", marks=pytest.mark.slow),
        pytest.param("LSTM-W-Random-1", "key", marks=pytest.mark.slow),
    ],
)
def test_an_interrupted_training_ends_as_if_undisturbed(
    name: str, method: str, splits: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(progress: TrainingProgress) -> None:
        if progress.epoch == 2 and progress.dev_accuracy is not None:
            raise KeyboardInterrupt

    options: dict[str, Any] = {"size": "tiny", "adversarial": method}
    with pytest.raises(KeyboardInterrupt):
        train_on(name, splits(), progress=stop, **options)
    reports: list[TrainingProgress] = []
    resumed = train_on(name, splits(), progress=reports.append, **options)
    assert reports[0].epoch == 3 and f"{name}+{method}@toy#0" in str(reports[0])
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path / "other"))
    whole = train_on(name, splits(), **options)
    weights = [(folder / folders.WEIGHTS_FILE).read_bytes() for folder in (resumed, whole)]
    assert weights[0] == weights[1]
    plain = train_on(name, splits(), size="tiny")
    assert (plain / folders.WEIGHTS_FILE).read_bytes() != weights[0]


@pytest.mark.slow
def test_hardened_by_flips_a_network_is_fooled_less() -> None:
    """Three words of every text tell its class, so that a network could well withstand a flip."""
    fooled = {"": 0, "hotflip": 0}
    design = grid.design("CNN-C-Random-1")
    learning: dict[str, Any] = {"batch_size": 16, "learning_rate": 1e-2, "epochs": 6, "patience": 6}
    small: dict[str, Any] = {"kernels": 16, "filters": 8, "character_embedding": 8, "dropout": 0.1}
    chosen = grid.settings(design, "tiny", widths=(1, 2), word_dropout=0.0, **learning, **small)
    for seed in range(3):
        data = TrainingSplits("toy", several(160, seed), several(80, seed + 1000))
        for method in fooled:
            folder = train_on(design.name, data, seed, settings=chosen, adversarial=method or None)
            _, trained = open_model(folder)
            fooled[method] += fooled_at_once(trained, data)
    assert fooled["hotflip"] < 0.7 * fooled[""], fooled


def several(count: int, seed: int) -> Dataset:
    random, labels = Random(seed), ("negative", "positive")
    out = []
    for n in range(count):
        words = [
            *random.choices(OTHER, k=random.randint(2, 5)),
            *random.choices((BAD, GOOD)[n % 2], k=3),
        ]
        random.shuffle(words)
        out.append(Example((("text", " ".join(words)),), labels[n % 2]))
    return Dataset("toy", "train", tuple(out), labels)


def fooled_at_once(trained: Any, data: TrainingSplits) -> int:
    """Count the dev texts that are right, and wrong after the best tenth of all flips."""
    dev = data.labelled(data.dev)
    keys, label = trained.encode(dev.texts), torch.tensor(dev.label)
    model = NetworkInTraining(trained.network, trained.tokenizer, trained.reads, "cpu")
    batch = make_batch(keys, model.tokenizer, "cpu", apart=True)
    _, embedded, gradient = clean_half(model.network, batch, label)
    right = model.network(batch).argmax(dim=1) == label
    copy = flip_batch(model, keys, batch, embedded, gradient, 0.1)
    wrong = model.network(copy).argmax(dim=1) != label
    assert right.float().mean() > 0.9
    return int((right & wrong).sum())
