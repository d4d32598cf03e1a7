"""LSTMs there and back, against torch's own."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from brittle.zoo.fast.lstm_gradients import LstmGradients  # noqa: E402
from zoo.exact import close, model  # noqa: E402


@pytest.mark.parametrize("double", [True, False])
@pytest.mark.parametrize("layers", [1, 2, 4])
def test_logits_and_gradients_are_torch_s_own(layers: int, double: bool) -> None:
    network = model(f"LSTM-W-Random-{layers}", double=double, hidden=7, embedding=5).network
    generator = torch.Generator().manual_seed(1)
    weight = network.head.weight
    distinct = torch.randn((9, 5), generator=generator).to(weight)
    which = torch.randint(9, (6, 11), generator=generator).numpy()
    length = np.array([1, 2, 11, 5, 5, 10])
    gradient = torch.randn((6, 3), generator=generator).to(weight)
    vectors = distinct[torch.from_numpy(which)].requires_grad_()
    logits = network.classify(vectors, torch.from_numpy(length))
    (expected,) = torch.autograd.grad(logits, vectors, gradient)
    with torch.no_grad():
        passed = LstmGradients(network).forward(distinct, which, length)
        found = passed.backward(gradient).permute(2, 0, 1)
    error = 1e-12 if double else 1e-6
    assert close(passed.logits, logits.detach(), error)
    assert close(found, expected, error) and expected.abs().max() > 1e-3
    assert not found[0, 1:].any()  # what stands after a text has no gradient


def test_it_says_which_networks_it_can_read() -> None:
    fits = {
        name: LstmGradients.fits(model(name).network)
        for name in ("LSTM-W-Random-1", "CharCNN-LSTM", "LSTM-W-Random-1-max", "BiLSTM-W-Random-1")
    }
    assert list(fits.values()) == [True, True, False, False]
