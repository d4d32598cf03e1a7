"""Rows padded to a multiple, so that what is computed of one row does not depend on the others.

A text must have the same scores and gains in every batch, to the last bit: searches compare them,
and the batch size is found by timing. Two things break this in single precision. For few rows,
matrix products are computed by other routines, which sum in another order; with MKL on AVX-512 all
of 16 rows or more are computed alike. A row of 50 numbers begins at another alignment than the row
before it, and may be summed in another order; with zeros up to a multiple of 4 all rows begin
alike. And torch computes the sigmoid of the rest of an array, what does not fill its vectors, by
another routine. This file needs torch.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import linear, pad
from torch.overrides import TorchFunctionMode

ROWS = 16
COLUMNS = 4


def whole_rows(x: Tensor) -> Tensor:
    """Add rows of zeros up to a multiple of `ROWS`."""
    lacking = -len(x) % ROWS
    return pad(x, (0, 0, 0, lacking)) if lacking else x


def whole_columns(x: Tensor) -> Tensor:
    """Add columns of zeros up to a multiple of `COLUMNS`: to rows, and to what they multiply."""
    lacking = -x.shape[-1] % COLUMNS
    return pad(x, (0, lacking)) if lacking else x


class WholeLinear(nn.Linear):
    """A linear layer whose result for a row does not depend on where the row stands."""

    def forward(self, input: Tensor) -> Tensor:
        return linear(whole_columns(input), whole_columns(self.weight), self.bias)


def whole_sigmoid_(x: Tensor, vector: int = 32) -> Tensor:
    """Compute the sigmoid of a contiguous array in place, all of it by one routine.

    Torch computes `vector` numbers at once. (It is an argument for TorchScript, which reads no
    globals.)
    """
    rest = x.numel() % vector
    if rest == 0:
        return x.sigmoid_()
    flat = x.view(-1)
    flat[:-rest].sigmoid_()
    flat[-rest:] = pad(flat[-rest:], (0, vector - rest)).sigmoid_()[:rest]
    return x


class WholeRows(TorchFunctionMode):
    """Inside this context, no linear layer on the CPU has fewer than `ROWS` rows, of any model."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if func is not linear or not args or args[0].device.type != "cpu":
            return func(*args, **(kwargs or {}))
        x, *rest = args
        if x.numel() >= ROWS * x.shape[-1]:
            return linear(*args, **(kwargs or {}))
        rows = x.reshape(-1, x.shape[-1])
        out = linear(whole_rows(rows), *rest, **(kwargs or {}))
        return out[: len(rows)].view(*x.shape[:-1], -1)


def repeat_last(index: NDArray[np.int64]) -> NDArray[np.int64]:
    """Repeat the last index, which must be there, up to a multiple of `ROWS`."""
    lacking = -len(index) % ROWS
    return np.concatenate([index, index[-1:].repeat(lacking)]) if lacking else index
