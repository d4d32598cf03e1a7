"""Compiled loops compute what the functions themselves compute, where torch can compile them."""

from __future__ import annotations

import sys

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor  # noqa: E402

from brittle.zoo.fast import lstm, lstm_gradients  # noqa: E402
from brittle.zoo.fast import lstm as scripted  # noqa: E402

LOOPS = [lstm._read, lstm_gradients._read, lstm_gradients._read_upper, lstm_gradients._backward]


def _accumulate(rows: Tensor, factor: float) -> Tensor:
    total = torch.zeros([rows.size(1)])
    for n in range(rows.size(0)):
        total = (total * factor + rows[n]).sigmoid_()
    return total


@pytest.mark.skipif(sys.version_info >= scripted.UNSUPPORTED_PYTHON, reason="no TorchScript")
def test_the_loops_of_the_lstm_passes_are_compiled() -> None:
    """Left to Python, they would still be right, but two workers would wait for each other."""
    assert all(isinstance(loop, torch.jit.ScriptFunction) for loop in LOOPS)


def test_the_same_bits_in_every_call() -> None:
    rows, compiled = torch.randn(20, 33), scripted.scripted(_accumulate)
    for _ in range(4):  # torch optimises anew in the second call
        assert torch.equal(compiled(rows, 0.3), _accumulate(rows, 0.3))


def test_without_torchscript_the_function_itself_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripted, "UNSUPPORTED_PYTHON", (3, 0))
    assert scripted.scripted(_accumulate) is _accumulate
