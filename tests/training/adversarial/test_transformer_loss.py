"""Hardening a pretrained encoder, one small enough for a test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from brittle.training import TrainingProgress, train_on
from brittle.training.adversarial.methods import by_attack
from brittle.zoo.names.settings import FineTuningSettings

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from brittle.training import transformer  # noqa: E402
from brittle.training.adversarial.losses import (  # noqa: E402
    cross_entropy,
    noisy_loss,
    worst_noise,
)
from training.test_transformer import encoder, weights  # noqa: E402, F401


@pytest.mark.parametrize("frozen", [False, True])
def test_the_loss_is_the_mean_of_both_and_so_is_its_gradient(frozen: bool) -> None:
    config = transformers.BertConfig(
        vocab_size=12,
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    torch.manual_seed(0)
    network = transformers.BertForSequenceClassification(config).double()
    table = network.get_input_embeddings()
    table.weight.requires_grad_(not frozen)
    inputs = {
        "input_ids": torch.tensor([[2, 5, 6, 3], [2, 7, 3, 0]]),
        "attention_mask": torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]]),
    }
    label, rest = torch.tensor([0, 1]), {"attention_mask": inputs["attention_mask"]}

    embedded = table(inputs["input_ids"]).detach().requires_grad_()
    plain = cross_entropy(network(inputs_embeds=embedded, **rest).logits, label)
    [gradient] = torch.autograd.grad(plain, embedded)
    noise = worst_noise(embedded, gradient, rest["attention_mask"] == 1, 0.3)
    for r, x in zip(noise, (embedded.detach()[0], embedded.detach()[1, :3])):
        assert r.norm().item() == pytest.approx(0.3 * x.norm().item())
    assert noise[1, 3].abs().max() == 0
    loud = network(inputs_embeds=table(inputs["input_ids"]) + noise, **rest).logits
    expected = (cross_entropy(network(**inputs).logits, label) + cross_entropy(loud, label)) / 2
    expected.backward()
    wanted = {n: p.grad for n, p in network.named_parameters() if p.grad is not None}
    network.zero_grad()

    found = noisy_loss(network, inputs, label, 0.3)
    found.backward()
    assert found.item() == pytest.approx(expected.item()) and found.item() > plain.item()
    got = {n: p.grad for n, p in network.named_parameters() if p.grad is not None}
    assert got.keys() == wanted.keys() and wanted
    assert all(torch.allclose(wanted[name], got[name], atol=1e-12) for name in wanted)


@pytest.mark.parametrize("method", ["miyato", "key", "key-any"])
@pytest.mark.slow
def test_it_is_trained_and_resumed(
    method: str,
    encoder: str,  # noqa: F811
    splits: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Threads that wait for each other at every step of so small a network only take time.
    monkeypatch.setattr(transformer, "cores", lambda: 1)
    chosen = FineTuningSettings(
        encoder=encoder, max_length=12, learning_rate=1e-2, batch_size=16, epochs=2, frozen=1
    )
    adversarial: Any = by_attack(method, copies=16) if method == "key-any" else method
    options: dict[str, Any] = {"settings": chosen, "adversarial": adversarial}

    def stop(progress: TrainingProgress) -> None:
        if progress.epoch == 1 and progress.dev_accuracy is not None:
            raise KeyboardInterrupt

    data = splits(32, 8)
    with pytest.raises(KeyboardInterrupt):
        train_on("MiniLM", data, progress=stop, **options)
    folder = train_on("MiniLM", data, **options)
    assert f"MiniLM+{method}" in folder.name
    assert not {path.name for path in folder.iterdir()} & {"present", "copies.json"}
    plain = train_on("MiniLM", data, settings=chosen)
    assert weights(plain) != weights(folder)
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path / "other"))
    assert weights(train_on("MiniLM", data, **options)) == weights(folder)
