"""A second model over the same weights, so that looking inside does not disturb scoring.

Only the second model has hooks, frozen weights and a slower kind of attention: the model itself,
which may be the user's own, stays as it is, and other threads go on scoring with it.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from brittle.errors import TargetError, UsageError
from brittle.moves import EditRequest
from brittle.ranking.objective import objective_gradient
from brittle.ranking.whole_rows import WholeRows


class InstrumentedModel:
    """A copy of a model's modules that shares the model's weights, in evaluation mode.

    With `eager` its attention is the plain kind, the only one that returns its weights.
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
        self._hook = _InputHook()
        self._embedding = self.model.get_input_embeddings()
        self._embedding.register_forward_hook(self._hook)

    @cached_property
    def table(self) -> Tensor:
        """Return the input embedding of every token."""
        with torch.no_grad():
            table: Tensor = self._embedding.weight
            if type(self._embedding) is not torch.nn.Embedding:
                # Some scale their embeddings when they look them up.
                ids = torch.arange(self._embedding.num_embeddings, device=self.model.device)
                table = self._embedding(ids)
            return table

    def hidden(self, arrays: dict[str, NDArray[np.int64]], layer: int) -> Tensor:
        """Compute the vectors of a layer: texts × tokens × dimensions."""
        with torch.inference_mode():
            states: Tensor = self._call(arrays, output_hidden_states=True).hidden_states[layer]
        return states

    def attention(self, arrays: dict[str, NDArray[np.int64]]) -> tuple[Tensor, ...]:
        """Compute for every layer the attention weights: texts × heads × tokens × tokens."""
        with torch.inference_mode():
            weights = getattr(self._call(arrays, output_attentions=True), "attentions", None)
        if not weights or any(weight is None for weight in weights):
            raise UsageError(
                f"Target {self.name!r} ({self.kind}) does not show its attention. Ask another "
                "model, or this one for its gradients."
            )
        return tuple(weights)

    def gradients(
        self, arrays: dict[str, NDArray[np.int64]], requests: Sequence[EditRequest]
    ) -> tuple[NDArray[np.float64], Tensor]:
        """Compute the logits, and the gradient of each objective along its input embeddings.

        One forward and one backward pass; the gradient is texts × tokens × dimensions.
        """
        if self.model.config.is_encoder_decoder:
            raise self._unreachable()
        self._hook.ids, self._hook.vectors = arrays["input_ids"], None
        try:
            with torch.enable_grad():
                logits = self._call(arrays).logits.double()
                if self._hook.vectors is None:
                    raise self._unreachable()
                weight = objective_gradient(logits.detach().softmax(dim=1), requests)
                # The sum has the gradient `weight` along the logits.
                (gradient,) = torch.autograd.grad((logits * weight).sum(), self._hook.vectors)
        finally:
            self._hook.ids = self._hook.vectors = None
        return logits.detach().cpu().numpy(), gradient

    def _unreachable(self) -> UsageError:
        return UsageError(
            f"Target {self.name!r} ({self.kind}) does not read its input once, through one table "
            "of vectors, so that a gradient there would not tell the whole story. Use a black-box "
            "attack such as pwws."
        )

    def _call(self, arrays: dict[str, NDArray[np.int64]], **options: Any) -> Any:
        try:
            device = self.model.device
            inputs = {name: torch.from_numpy(a).to(device) for name, a in arrays.items()}
            with WholeRows():
                return self.model(**inputs, **options)
        except Exception as error:
            raise TargetError(
                f"Target {self.name!r} raised {type(error).__name__}: {error}"
            ) from error


class _InputHook(threading.local):
    """A hook that makes a thread's input embeddings the leaves of its backward pass."""

    ids: NDArray[np.int64] | None = None
    vectors: Tensor | None = None

    def __call__(self, module: Any, args: tuple[Any, ...], output: Tensor) -> Tensor | None:
        if self.ids is None or args[0].shape != self.ids.shape:
            return None
        if not np.array_equal(args[0].cpu().numpy(), self.ids):
            return None
        self.vectors = output.detach().requires_grad_()
        return self.vectors
