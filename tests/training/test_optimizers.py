"""Optimizers: each learns, resumes as if undisturbed, and stops where the loss is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from brittle.errors import BrittleError  # noqa: E402
from brittle.training import TrainingProgress, train_on  # noqa: E402
from brittle.training import loop as loop_module  # noqa: E402
from brittle.training import stepwise as module  # noqa: E402
from brittle.training.checkpoint import TrainingState, load  # noqa: E402
from brittle.training.job import accuracy  # noqa: E402
from brittle.zoo import folder as folders  # noqa: E402
from brittle.zoo.model import open_model  # noqa: E402
from brittle.zoo.names.grid import design, settings  # noqa: E402
from brittle.zoo.names.settings import FineTuningSettings, NetworkSettings  # noqa: E402

LSTM, CNN = "LSTM-W-Random-1", "CNN-W-Random-1"
ADAM = {"dropout": 0.1, "word_dropout": 0.0}
SGD = {
    **ADAM,
    "optimizer": "sgd",
    "learning_rate": 0.5,
    "max_grad_norm": 5.0,
    "epochs": 12,
    "patience": 12,
}
BOTH = pytest.mark.parametrize(
    "changed", [{**ADAM, "max_grad_norm": 1.0}, SGD], ids=["adam", "sgd"]
)


def weights(folder: Path) -> bytes:
    return (folder / folders.WEIGHTS_FILE).read_bytes()


def chosen(name: str = LSTM, **changed: Any) -> Any:
    return settings(design(name), "tiny", **changed)


@pytest.mark.slow
@BOTH
def test_it_learns(changed: dict[str, Any], splits: Any) -> None:
    reports: list[TrainingProgress] = []
    network = chosen(CNN, **changed)
    folder = train_on(CNN, splits(160, 40), settings=network, progress=reports.append)
    epochs = [p for p in reports if p.dev_accuracy is not None]
    assert epochs[-1].loss < 0.9 * epochs[0].loss
    assert open_model(folder)[0].dev_accuracy > 0.8


@BOTH
@pytest.mark.slow
def test_an_interrupted_training_ends_as_if_undisturbed(
    changed: dict[str, Any], splits: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = changed | {"epochs": 6, "patience": 6}

    def stop(progress: TrainingProgress) -> None:
        if progress.epoch == 4 and progress.dev_accuracy is None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_on(LSTM, splits(), settings=chosen(**changed), progress=stop)
    [partial] = (tmp_path / "cache" / "models").glob("*.partial")
    state, _ = load(partial, TrainingState) or (TrainingState(), {})
    gains = [a for _, a in state.history]
    losses = sum(gains[n] <= max(gains[:n], default=-1) for n in range(3))
    assert losses and state.rate == chosen(**changed).learning_rate / 2**losses
    resumed = train_on(LSTM, splits(), settings=chosen(**changed))
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path / "other"))
    assert weights(train_on(LSTM, splits(), settings=chosen(**changed))) == weights(resumed)


@BOTH
def test_a_lost_loss_keeps_the_last_good_weights(
    changed: dict[str, Any], splits: Any, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rate(settings: Any, state: TrainingState, done: float) -> float:
        return settings.learning_rate if state.epoch < 2 else float("nan")

    monkeypatch.setattr(loop_module, "learning_rate", rate)
    with pytest.raises(BrittleError, match=r"epoch 3, step 2.*good weights \(epoch [12], dev"):
        train_on(LSTM, splits(), settings=chosen(**changed))
    [kept] = (cache / "models").glob("*.kept")
    card, model = open_model(kept)
    assert accuracy(model, splits().labelled(splits().dev)) == card.dev_accuracy
    for tensor in folders.load_tensors(kept / folders.WEIGHTS_FILE).values():
        assert np.isfinite(tensor).all()


def test_weights_lost_in_the_last_step_of_an_epoch_are_never_the_best(
    splits: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = 48 // 8

    def rate(settings: Any, state: TrainingState, done: float) -> float:
        last = round(done * steps * settings.epochs) == steps - 1
        return float("nan") if last else settings.learning_rate

    monkeypatch.setattr(loop_module, "learning_rate", rate)
    with pytest.raises(
        BrittleError, match=r"weights are NaN or infinite after epoch 1\. No epoch was"
    ):
        train_on(LSTM, splits(), settings=chosen(**ADAM))


def test_a_step_of_each() -> None:
    for changed, expected in [({"optimizer": "sgd"}, 0.5 * 3), ({"optimizer": "adam"}, 0.5)]:
        weight = nn.Parameter(torch.tensor([1.0]))
        optimizer = module.make_optimizer(
            NetworkSettings(learning_rate=0.5, **changed), {"w": weight}
        )
        (3 * weight).backward()
        optimizer.step()
        assert weight.item() == pytest.approx(1.0 - expected, abs=1e-6)


def test_the_rate_of_a_step() -> None:
    state = TrainingState(rate=0.25)
    assert (
        module.learning_rate(NetworkSettings(optimizer="sgd", learning_rate=1.0), state, 0.9)
        == 0.25
    )
    assert module.learning_rate(NetworkSettings(learning_rate=1.0), state, 0.75) == 0.25
    assert (
        module.learning_rate(FineTuningSettings(learning_rate=2.0, warmup=0.1), state, 0.05) == 1.0
    )
    assert (
        module.learning_rate(FineTuningSettings(learning_rate=2.0, warmup=0.1), state, 0.1) == 2.0
    )


def test_gradients_are_shortened_together() -> None:
    one, two = nn.Parameter(torch.zeros(1)), nn.Parameter(torch.zeros(1))
    for clip, norm in [(0.0, 5.0), (1.0, 1.0), (9.0, 5.0)]:
        one.grad, two.grad = torch.tensor([3.0]), torch.tensor([4.0])
        module.clip_gradients(NetworkSettings(max_grad_norm=clip), [one, two])
        assert np.hypot(one.grad.item(), two.grad.item()) == pytest.approx(norm, rel=1e-4)


def test_the_course_halves_the_rate_after_an_epoch_without_gain() -> None:
    state = TrainingState(rate=1.0)
    assert [state.end_epoch(1.0, accuracy) for accuracy in (0.5, 0.5, 0.6, 0.4)] == [1, 0, 1, 0]
    assert (state.rate, state.best, state.best_epoch, state.since) == (0.25, 0.6, 3, 1)
    assert state.epoch == 4 and len(state.history) == 4
