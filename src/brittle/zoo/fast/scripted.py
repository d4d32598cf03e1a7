"""Loops of tensor operations that run without Python: faster, and several at a time.

A hand-written pass takes some twenty small operations a word. Called from Python, every one of them
waits for Python's lock, and two workers spend more time on waiting than on computing. TorchScript
runs the whole loop in one call that does not hold the lock; the operations are the same, and so are
their results. This file needs torch.

With the loops in Python whole runs took 1.06 to 1.08 times the processor time, with equal rows, and
a pass of an LSTM by two workers 1.11 times as long (benchmarks/whole_runs.json).
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

import torch

P = ParamSpec("P")
R = TypeVar("R")

UNSUPPORTED_PYTHON = (3, 14)  # from here on torch does not support TorchScript


def scripted(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function of tensors; where torch has no TorchScript, the function itself is used.

    Torch calls TorchScript deprecated. What it offers instead needs a C++ compiler at run time.
    """
    if sys.version_info >= UNSUPPORTED_PYTHON or not hasattr(torch.jit, "script"):
        return function
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return cast(Callable[P, R], torch.jit.script(function))
