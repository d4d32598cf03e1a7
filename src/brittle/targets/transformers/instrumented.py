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

from brittle.errors import UsageError
from brittle.moves import EditRequest
from brittle.ranking.moves import objective_gradient
from brittle.ranking.top_k import WholeRows
from brittle.targets.protocols import failing_as
from brittle.targets.transformers.tokenizer import ZeroedHoles

Arrays = dict[str, NDArray[np.int64]]


class InstrumentedModel:
    """A copy of a model's modules that shares the model's weights, in evaluation mode.

    With `holes`, tokens of their id have a zero vector. With `eager` its attention is the plain
    kind, the only one that returns its weights.
    """

    def __init__(
        self, model: Any, name: str, holes: ZeroedHoles | None = None, eager: bool = False
    ) -> None:
        self.name, self.holes = name, holes
        self.kind = type(model).__name__
        memo: dict[int, Any] = {id(b): b for b in model.buffers()}
        for weight in model.parameters():
            memo[id(weight)] = torch.nn.Parameter(weight.detach(), requires_grad=False)
        self.model = copy.deepcopy(model, memo).eval()
        if eager:
            self.model.set_attn_implementation("eager")
        self._hook, self._head_hook = _InputHook(), _HeadHook()
        self._embedding = self.model.get_input_embeddings()
        self._embedding.register_forward_hook(self._hook)
        for module in self.model.modules():
            if getattr(module, "out_features", None) == self.model.config.num_labels:
                module.register_forward_hook(self._head_hook)

    @property
    def vocabulary_size(self) -> int:
        """Return how many tokens have an embedding, holes apart."""
        return int(self._embedding.num_embeddings)

    @cached_property
    def table(self) -> Tensor:
        """Return the input embedding of every token, and of holes, where they have one."""
        with torch.no_grad():
            table: Tensor = self._embedding.weight
            if type(self._embedding) is not torch.nn.Embedding:
                # Some scale their embeddings when they look them up.
                ids = torch.arange(self._embedding.num_embeddings, device=self.model.device)
                table = self._embedding(ids)
            if self.holes is not None:
                lacking = max(0, self.holes.token_id + 1 - len(table))
                table = torch.cat([table, table.new_zeros((lacking, table.shape[1]))])
                table[self.holes.token_id] = 0.0
            return table

    def logits(self, arrays: Arrays) -> Tensor:
        """Compute the logits: texts × labels."""
        with torch.inference_mode():
            logits: Tensor = self._call(arrays).logits
        return logits

    def pooled_and_logits(self, arrays: Arrays) -> tuple[Tensor, Tensor]:
        """Compute the vectors that the last linear layer reads (texts × dimensions), and logits.

        A layer that reads every token gives the logits of one of them: its vector is taken.
        """
        self._head_hook.passes = []
        try:
            logits = self.logits(arrays)
            for vector, output in reversed(self._head_hook.passes):
                if output.shape == logits.shape and torch.equal(output, logits):
                    return vector, logits
                if output.ndim == 3 and output[:, 0].shape == logits.shape:
                    is_read = (output == logits[:, None]).all(dim=2)
                    if bool(is_read.any(dim=1).all()):
                        text = torch.arange(len(vector), device=vector.device)
                        return vector[text, is_read.int().argmax(dim=1)], logits
        finally:
            self._head_hook.passes = None
        raise UsageError(
            f"Target {self.name!r} ({self.kind}) has no linear layer before its logits, "
            "so it has no vector of a text. Use another model, or a sentence encoder."
        )

    def hidden(self, arrays: Arrays, layer: int) -> Tensor:
        """Compute the vectors of a layer: texts × tokens × dimensions."""
        with torch.inference_mode():
            states: Tensor = self._call(arrays, output_hidden_states=True).hidden_states[layer]
        return states

    def attention(self, arrays: Arrays) -> tuple[list[Tensor], Tensor]:
        """Compute for every layer the attention weights: texts × heads × tokens × tokens.

        Comes with the share that each position has in what the head reads (texts × tokens): of the
        last states, those along which a logit has a gradient, [CLS] alone or several alike.
        """
        self._hook.needs_gradient = True
        try:
            with torch.enable_grad():
                options = {"output_attentions": True, "output_hidden_states": True}
                output = self._call(arrays, **options)
                weights = getattr(output, "attentions", None)
                if not weights or any(weight is None for weight in weights):
                    raise UsageError(
                        f"Target {self.name!r} ({self.kind}) does not return its "
                        "attention, even with attn_implementation='eager'. Use another "
                        "model, or an attack that uses gradients."
                    )
                state, logit = output.hidden_states[-1], output.logits[:, 0].sum()
                (gradient,) = torch.autograd.grad(logit, state, allow_unused=True)
        finally:
            self._hook.needs_gradient = False
        if gradient is None:
            raise UsageError(
                f"Target {self.name!r} ({self.kind}) does not show which position its "
                "head reads. Use another model, or an attack that uses gradients."
            )
        is_read = gradient.abs().sum(dim=2) > 0
        is_read[:, 0] |= ~is_read.any(dim=1)  # a head that is saturated has no gradient
        share = is_read.double()
        return [w.detach() for w in weights], share / share.sum(dim=1, keepdim=True)

    def gradients(
        self, arrays: Arrays, requests: Sequence[EditRequest]
    ) -> tuple[NDArray[np.float64], Tensor]:
        """Compute the logits, and the gradient of each objective along its input embeddings.

        One forward and one backward pass; the gradient is texts × tokens × dimensions.
        """
        if self.model.config.is_encoder_decoder:
            raise self._unreachable()
        self._hook.needs_gradient = True
        try:
            with torch.enable_grad():
                logits = self._call(arrays).logits.double()
                weight = objective_gradient(logits.detach().softmax(dim=1), requests)
                assert self._hook.vectors is not None
                # The sum has the gradient `weight` along the logits.
                (gradient,) = torch.autograd.grad((logits * weight).sum(), self._hook.vectors)
        finally:
            self._hook.needs_gradient, self._hook.vectors = False, None
        return logits.detach().cpu().numpy(), gradient

    def _unreachable(self) -> UsageError:
        return UsageError(
            f"Target {self.name!r} ({self.kind}) does not read its input once through one "
            "embedding, so its gradient would be incomplete. Use a black-box attack such "
            "as pwws."
        )

    def _call(self, arrays: Arrays, **options: Any) -> Any:
        ids, hook = arrays["input_ids"], self._hook
        is_hole = ids == self.holes.token_id if self.holes else np.zeros(ids.shape, dtype=bool)
        if self.holes and is_hole.any():
            ids = np.where(is_hole, self.holes.stand_in, ids)
            arrays, hook.is_hole = {**arrays, "input_ids": ids}, is_hole
        hook.vectors = None
        hook.ids = ids if hook.needs_gradient or hook.is_hole is not None else None
        try:
            device = self.model.device
            inputs = {name: torch.from_numpy(a).to(device) for name, a in arrays.items()}
            with failing_as(f"Target {self.name!r}"), WholeRows():
                output = self.model(**inputs, **options)
            if hook.ids is not None and hook.vectors is None:
                raise self._unreachable()
            return output
        finally:
            hook.ids = hook.is_hole = None


class _InputHook(threading.local):
    """A hook on a thread's input embeddings: it zeroes holes, and makes leaves of them all."""

    ids: NDArray[np.int64] | None = None
    is_hole: NDArray[np.bool_] | None = None
    needs_gradient = False
    vectors: Tensor | None = None

    def __call__(self, module: Any, args: tuple[Any, ...], output: Tensor) -> Tensor | None:
        if self.ids is None or args[0].shape != self.ids.shape:
            return None
        if not np.array_equal(args[0].cpu().numpy(), self.ids):
            return None
        if self.is_hole is not None:
            is_hole = torch.from_numpy(self.is_hole).to(output.device)
            output = output.masked_fill(is_hole[:, :, None], 0.0)
        self.vectors = output.detach().requires_grad_() if self.needs_gradient else output
        return self.vectors


class _HeadHook(threading.local):
    """A hook that keeps what layers with an output for every label read and return."""

    passes: list[tuple[Tensor, Tensor]] | None = None

    def __call__(self, module: Any, args: tuple[Any, ...], output: Any) -> None:
        if self.passes is not None and args and isinstance(output, Tensor):
            self.passes.append((args[0], output))
