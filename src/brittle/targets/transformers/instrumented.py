"""A second model over the same weights, so that looking inside disturbs nobody who scores.

Hooks, a slower kind of attention and frozen weights are the twin's alone: the model itself, which
may be the user's own, stays as it is, and other threads go on scoring with it.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from brittle.errors import TargetError, UsageError
from brittle.moves import EditRequest


class InstrumentedModel:
    """A copy of a model's modules, whose weights are the model's own, in evaluation mode.

    With `eager` its attention is the plain kind, the only one that gives its weights away.
    """

    def __init__(self, model: Any, name: str, eager: bool = False) -> None:
        self.name = name
        self.kind = type(model).__name__
        memo: dict[int, Any] = {id(b): b for b in model.buffers()}
        for weight in model.parameters():
            memo[id(weight)] = torch.nn.Parameter(weight.detach(), requires_grad=False)
        self.model = copy.deepcopy(model, memo).eval()
        if eager:
            self.model.set_attn_implementation("eager")
        self._tap = _InputHook()
        self._embedding = self.model.get_input_embeddings()
        self._embedding.register_forward_hook(self._tap)

    def table(self) -> Tensor:
        """Give the input vector of every piece."""
        with torch.no_grad():
            if type(self._embedding) is torch.nn.Embedding:
                weight: Tensor = self._embedding.weight
                return weight
            # Some scale their vectors when they look them up.
            ids = torch.arange(self._embedding.num_embeddings, device=self.model.device)
            vectors: Tensor = self._embedding(ids)
            return vectors

    def hidden(self, arrays: dict[str, NDArray[np.int64]], layer: int) -> Tensor:
        """Give the vectors of a layer: texts × tokens × dimensions."""
        with torch.inference_mode():
            told: Tensor = self._called(arrays, output_hidden_states=True).hidden_states[layer]
        return told

    def attention(self, arrays: dict[str, NDArray[np.int64]]) -> tuple[Tensor, ...]:
        """Give for every layer the weights: texts × heads × tokens × tokens."""
        with torch.inference_mode():
            weights = getattr(self._called(arrays, output_attentions=True), "attentions", None)
        if not weights or any(weight is None for weight in weights):
            raise UsageError(
                f"Target {self.name!r} ({self.kind}) does not show its attention. Ask another "
                "model, or this one for its gradients."
            )
        return tuple(weights)

    def slopes(
        self, arrays: dict[str, NDArray[np.int64]], aims: Sequence[EditRequest]
    ) -> tuple[NDArray[np.float64], Tensor]:
        """Give the logits of aims, and the slope of each objective along its input vectors.

        One forward and one backward pass; the slope is texts × tokens × dimensions.
        """
        if self.model.config.is_encoder_decoder:
            raise self._unreachable()
        self._tap.ids, self._tap.vectors = arrays["input_ids"], None
        try:
            with torch.enable_grad():
                logits = self._called(arrays).logits.double()
                if self._tap.vectors is None:
                    raise self._unreachable()
                total = objective(logits, aims).sum()
                (slope,) = torch.autograd.grad(total, self._tap.vectors)
        finally:
            self._tap.ids = self._tap.vectors = None
        return logits.detach().cpu().numpy(), slope

    def _unreachable(self) -> UsageError:
        return UsageError(
            f"Target {self.name!r} ({self.kind}) does not read its input once, through one table "
            "of vectors, so that a gradient there would not tell the whole story. Use a black-box "
            "attack such as pwws."
        )

    def _called(self, arrays: dict[str, NDArray[np.int64]], **options: Any) -> Any:
        try:
            where = self.model.device
            inputs = {name: torch.from_numpy(a).to(where) for name, a in arrays.items()}
            return self.model(**inputs, **options)
        except Exception as error:
            raise TargetError(
                f"Target {self.name!r} raised {type(error).__name__}: {error}"
            ) from error


class _InputHook(threading.local):
    """A hook that makes a thread's input vectors the leaves of its backward pass."""

    ids: NDArray[np.int64] | None = None
    vectors: Tensor | None = None

    def __call__(self, module: Any, args: tuple[Any, ...], output: Tensor) -> Tensor | None:
        if self.ids is None or args[0].shape != self.ids.shape:
            return None
        if not np.array_equal(args[0].cpu().numpy(), self.ids):
            return None
        self.vectors = output.detach().requires_grad_()
        return self.vectors


def objective(logits: Tensor, aims: Sequence[EditRequest]) -> Tensor:
    """Give for every row the number that its aim wants to rise (see `Space`).

    Minus for the class to be left, plus for the one to be reached: the log-probability, whose
    negative is the cross-entropy, or the raw score.
    """
    raw = torch.tensor([aim.space.objective == "logit" for aim in aims], device=logits.device)
    value = torch.where(raw[:, None], logits, logits.log_softmax(1))
    aimed = [aim.label if aim.toward is None else aim.toward for aim in aims]
    sign = [-1.0 if aim.toward is None else 1.0 for aim in aims]
    column = torch.tensor(aimed, device=logits.device)
    return value.gather(1, column[:, None])[:, 0] * torch.tensor(sign, device=logits.device)
