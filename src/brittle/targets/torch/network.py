"""A torch module from the inside: hooks, its forward and its backward pass.

Hooks that are in a user's network for one pass only. This file needs torch. The passes of a user's
network: logits, gradients at its embedding table, outputs of its parts.

Everything is by hooks that are there for one pass only. In a pass the network is in evaluation
mode; afterwards every part of it has the mode it had before. This file needs torch.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

from brittle.errors import BrittleError, TargetError, UsageError
from brittle.moves import EditRequest
from brittle.ranking.moves import objective_gradient
from brittle.targets.options import FLOAT32
from brittle.targets.precision import autocast
from brittle.zoo.device import without_cudnn


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
                f"{self.who} changes its token ids before the embedding reads them (shape "
                f"{tuple(got.shape)}, called with {tuple(self.ids.shape)}), so the "
                "gradient there is not the gradient of the text. Let tokenize add "
                "special tokens and max_length truncate, not the network; or attack it "
                "as a black box."
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


Call = Callable[[nn.Module, Tensor, Tensor], Any]
"""How to call a module: with itself, the ids (texts × tokens) and the lengths of the texts."""
OutputKind = Literal["logits", "prob", "single"]
CALL_REMEDY = "call=lambda module, ids, lengths: {}"


@dataclass(frozen=True, eq=False)
class Network:
    """A module, how it is called, and the name of the embedding that reads its tokens."""

    module: nn.Module
    embedding: str
    call: Call
    labels: tuple[str, ...]
    kind: OutputKind
    name: str

    @property
    def device(self) -> torch.device:
        weight: Tensor = self._embedding.weight
        return weight.device

    @property
    def _embedding(self) -> nn.Embedding:
        embedding = self.module.get_submodule(self.embedding)
        assert isinstance(embedding, nn.Embedding)
        return embedding

    def table(self) -> Tensor:
        """Return the vector of every token, as the network looks it up."""
        with torch.no_grad():
            # A copy: a table with a largest norm changes the rows it looks up.
            embedding = copy.deepcopy(self._embedding).eval()
            vectors: Tensor = embedding(torch.arange(embedding.num_embeddings, device=self.device))
        return in_single(vectors)

    def logits(self, ids: Tensor, lengths: Tensor, precision: str = FLOAT32) -> Tensor:
        """Compute the logits of texts in a precision; return them on the CPU, as doubles."""
        lowered = autocast(precision, self.device.type)
        with torch.no_grad(), evaluating(self.module), lowered:
            return self._forward(ids, lengths).cpu().double()

    def gradients(
        self, ids: Tensor, lengths: Tensor, requests: Sequence[EditRequest]
    ) -> tuple[Tensor, Tensor]:
        """Compute the logits, and the gradient of each objective at the vectors of its tokens.

        One forward and one backward pass; the gradient is texts × tokens × dimensions, in single
        precision at least, on the network's device.
        """
        hook = Leaves(ids, self._who)
        shared = [
            part
            for part in self.module.modules()
            if isinstance(part, nn.Embedding) and part.weight is self._embedding.weight
        ]
        with (
            torch.enable_grad(),
            without_cudnn(str(self.device)),
            evaluating(self.module),
            hooked(shared, hook),
        ):
            logits = in_single(self._forward(ids, lengths))
            if not hook.leaves:
                raise UsageError(
                    f"{self._who} does not use its embedding {self.embedding!r} to read "
                    "token ids. Name the nn.Embedding that does: embedding='….weight'."
                )
            scores = logits.detach().cpu().double().softmax(dim=1)
            value = (logits * objective_gradient(scores, requests).to(logits)).sum()
            gradients: tuple[Tensor | None, ...] = (None,)
            if value.requires_grad:
                gradients = torch.autograd.grad(value, hook.leaves, allow_unused=True)
        if any(gradient is None for gradient in gradients):
            raise UsageError(
                f"{self._who} has no gradient at its embedding {self.embedding!r}: "
                "something in between stops it, such as torch.no_grad(), detach() or "
                "argmax. Remove it, or attack the network as a black box: pass a "
                "function from texts to scores."
            )
        return logits.detach().cpu().double(), hook.sum_of([g for g in gradients if g is not None])

    def outputs(self, ids: Tensor, lengths: Tensor) -> dict[str, Tensor]:
        """Compute the output of every part that has a vector for each token, in order of calls.

        Of a part that returns several tensors, such as an LSTM, it is the first.
        """
        found: dict[str, Tensor] = {}

        def keep(name: str) -> Callable[[Any, Any, Any], None]:
            def hook(part: Any, args: Any, output: Any) -> None:
                first = output[0] if isinstance(output, tuple | list) and output else output
                if isinstance(first, Tensor) and not first.is_nested and first.ndim == 3:
                    if first.shape[:2] == ids.shape:
                        found[name] = first.detach()
                    elif first.shape[:2] == ids.T.shape:
                        found[name] = first.detach().transpose(0, 1)

            return hook

        # With gradients: without, torch's own transformers run in one piece, past their parts.
        leaves = hooked([self._embedding], Leaves(ids, self._who))
        with torch.enable_grad(), evaluating(self.module), leaves, ExitStack() as stack:
            for name, part in self.module.named_modules():
                if name:
                    handle = part.register_forward_hook(keep(name))
                    stack.callback(handle.remove)
            self._forward(ids, lengths)
        return found

    def head_input(self, ids: Tensor, lengths: Tensor, head: str) -> tuple[Tensor, Tensor]:
        """Compute what a part reads, texts × dimensions, and the logits, on the CPU."""
        inputs: list[Any] = []

        def keep(part: Any, args: Any, kwargs: Any) -> None:
            inputs.append(next(iter((*args, *kwargs.values())), None))

        part = self.module.get_submodule(head)
        with torch.no_grad(), evaluating(self.module), ExitStack() as stack:
            stack.callback(part.register_forward_pre_hook(keep, with_kwargs=True).remove)
            logits = self._forward(ids, lengths)
        shapes = [tuple(value.shape) for value in inputs if isinstance(value, Tensor)]
        if len(inputs) != 1 or [shape[:1] for shape in shapes if len(shape) == 2] != [(len(ids),)]:
            read = f"read tensors of shape {', '.join(map(str, shapes))}" if shapes else "read none"
            raise UsageError(
                f"{self._who} has the head {head!r}, which {read} for {len(ids)} texts. "
                f"Expected one tensor of shape ({len(ids)}, dimensions): the head is the "
                "part that reads one vector per text, once."
            )
        return inputs[0].detach().cpu().double(), logits.cpu().double()

    def other_tables(self, ids: Tensor, lengths: Tensor) -> list[str]:
        """Name the other embeddings that read the same ids, by tables of their own."""
        found: dict[str, None] = {}

        def watch(name: str) -> Callable[[Any, Any], None]:
            def hook(part: Any, args: Any) -> None:
                if args and isinstance(args[0], Tensor) and is_turned(args[0], ids) is not None:
                    found[name] = None

            return hook

        own = self._embedding.weight
        with torch.no_grad(), evaluating(self.module), ExitStack() as stack:
            for name, part in self.module.named_modules():
                if isinstance(part, nn.Embedding | nn.EmbeddingBag) and part.weight is not own:
                    stack.callback(part.register_forward_pre_hook(watch(name)).remove)
            self._forward(ids, lengths)
        return list(found)

    @property
    def _who(self) -> str:
        return f"The network {self.name!r}"

    def output(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """Compute what the module itself returns for texts."""
        with torch.no_grad(), evaluating(self.module):
            return self._call(ids, lengths)

    def _call(self, ids: Tensor, lengths: Tensor) -> Tensor:
        try:
            output = self.call(self.module, ids, lengths)
        except BrittleError:
            raise
        except Exception as error:
            raise TargetError(
                f"{self._who} raised {type(error).__name__} for token ids of shape "
                f"{tuple(ids.shape)}, texts × tokens: {str(error).rstrip('.')}. If it "
                "needs another call, write it: "
                f"{CALL_REMEDY.format('module(ids, lengths)')}."
            ) from error

        if not isinstance(output, Tensor):
            raise UsageError(
                f"{self._who} returned a {type(output).__name__}. Expected a tensor, "
                "texts × labels. Select the right part: "
                f"{CALL_REMEDY.format('module(ids)[0]')}."
            )
        return output

    def _forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """Call the module, and make logits, texts × labels, of what it returns."""
        output = self._call(ids, lengths)
        rows, labels = len(ids), len(self.labels)
        if rows == 1 and output.shape in ((), (labels,)):
            output = output[None]  # of one text, squeezed
        if labels == 2 and output.shape in ((rows,), (rows, 1)):
            second = output.reshape(-1, 1)
            if self.kind == "single":
                return _log(torch.cat([1 - second, second], dim=1))
            output = torch.cat([torch.zeros_like(second), second], dim=1)
        if output.shape != (rows, labels):
            turned = output.ndim == 2 and output.shape[0] == ids.shape[1] != rows
            raise UsageError(
                f"{self._who} returned a tensor of shape {tuple(output.shape)} for {rows} texts of "
                f"{ids.shape[1]} tokens. Expected ({rows}, {labels}): a row for every text and a "
                f"column for every label ({', '.join(self.labels)}). "
                + (
                    f"If it reads tokens × texts, say {CALL_REMEDY.format('module(ids.T)')}."
                    if turned
                    else "Name as many labels as it has outputs, in their order."
                )
            )
        return _log(output) if self.kind == "prob" else output


def _log(probability: Tensor) -> Tensor:
    return probability.clamp(min=torch.finfo(probability.dtype).tiny).log()
