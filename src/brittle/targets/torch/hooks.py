"""Hooks that are in a user's network for one pass only. This file needs torch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from brittle.errors import UsageError


class Leaves:
    """A hook that makes the vectors of the tokens the leaves of a backward pass.

    An embedding that is called more than once with the same ids has one leaf for each call: a
    token that changes changes all of them.
    """

    def __init__(self, ids: Tensor, who: str) -> None:
        self.ids, self.who = ids, who
        self.leaves: list[Tensor] = []
        self._are_turned: list[bool] = []

    def __call__(self, part: Any, args: Any, kwargs: Any, output: Tensor) -> Tensor:
        got = args[0] if args else kwargs.get("input")
        turned = is_turned(got, self.ids)
        if turned is None:
            raise UsageError(
                f"{self.who} reads other token ids by its embedding than those it is called with "
                f"(shape {tuple(got.shape)}, called with {tuple(self.ids.shape)}): a gradient "
                "there is not that of the text. Let tokenize add special tokens and max_length "
                "truncate, not the network; or attack it as a black box."
            )
        leaf = output.detach().requires_grad_()
        self.leaves.append(leaf)
        self._are_turned.append(turned)
        return leaf.clone()  # a network may change it in place

    def sum_of(self, gradients: Sequence[Tensor]) -> Tensor:
        """Sum the gradients of all leaves, each as texts × tokens × dimensions."""
        parts = [g.transpose(0, 1) if t else g for g, t in zip(gradients, self._are_turned)]
        total: Tensor = torch.stack(parts).sum(dim=0) if len(parts) > 1 else parts[0]
        return in_single(total)


@contextmanager
def evaluating(module: nn.Module) -> Iterator[None]:
    """Put a module in evaluation mode; afterwards every part has the mode it had before."""
    training = [part for part in module.modules() if part.training]
    if training:
        module.eval()
    try:
        yield
    finally:
        for part in training:
            part.training = True


@contextmanager
def hooked(parts: Sequence[nn.Module], hook: Leaves) -> Iterator[None]:
    """Let a hook see what some parts of a module return, inside a `with` block."""
    handles = [part.register_forward_hook(hook, with_kwargs=True) for part in parts]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def is_turned(got: Any, ids: Tensor) -> bool | None:
    """Tell whether ids are given as tokens × texts (True) or texts × tokens; None: other ids."""
    if not isinstance(got, Tensor):
        return None
    if got.shape == ids.shape and bool((got == ids).all()):
        return False
    return True if got.shape == ids.T.shape and bool((got == ids.T).all()) else None


def in_single(value: Tensor) -> Tensor:
    """Return a tensor in single precision, unless it is in double."""
    return value.float() if value.dtype.itemsize < 4 else value
