"""The device a network runs on, and the cores of this process."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from brittle.errors import UsageError, require


def torch_device(device: str = "auto") -> str:
    """Return the device to use; `auto` is CUDA or Apple's Metal if there is one, else the CPU."""
    torch = require("torch", "torch", "A network")
    if device != "auto":
        try:
            torch.empty(0, device=device)
        except (RuntimeError, AssertionError) as error:
            raise UsageError(f"The device {device!r} cannot be used: {error}") from error
        return device
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def portable_device(device: str) -> str:
    """Return what to ask for on another machine, which may have no accelerator, or another one."""
    return device if device == "cpu" else "auto"


def cores() -> int:
    """Count the cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    count = len(affinity(0)) if affinity else os.cpu_count() or 1
    return min([count, *_LIMITS])


def limit_cores(count: int) -> None:
    """Let this process use so many cores at most: one of several workers has its share."""
    _LIMITS[:] = [count]


_LIMITS: list[int] = []


def without_cudnn(device: str) -> AbstractContextManager[Any]:
    """Turn cuDNN off, which cannot go back through an LSTM in evaluation mode."""
    if not device.startswith("cuda"):
        return nullcontext()
    import torch

    return torch.backends.cudnn.flags(enabled=False)
