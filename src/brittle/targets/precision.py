"""Lower precision: candidates are scored in it, and everything that is stored in float32.

A target with a lower precision has a second method, `candidate_scores`. The engine asks it about
candidates; originals, winners and what stands in a row are asked in float32. torch is imported
where it is used.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from brittle.errors import UsageError
from brittle.targets.options import FLOAT32, FP16, check_precision
from brittle.targets.protocols import close, declared_by

__all__ = ["autocast", "check_lowered", "check_weights", "refuse_precision"]


def autocast(precision: str, device: str) -> AbstractContextManager[Any]:
    """Compute in this precision inside a `with` block; float32 changes nothing."""
    if precision == FLOAT32:
        return nullcontext()
    import torch

    dtype = torch.float16 if precision == FP16 else torch.bfloat16
    # Weights are cast in every pass: a cache of them could outlive a change of the weights.
    return torch.autocast(device.partition(":")[0], dtype=dtype, cache_enabled=False)


def check_weights(weights: Iterable[Any], precision: str, device: str, who: str) -> None:
    """Refuse a precision that the device does not compute in, or the weights cannot be lowered to.

    `weights` are the parameters of the model, `who` names it in messages.
    """
    if check_precision(precision) == FLOAT32:
        return
    import torch

    if precision == FP16 and device.startswith("cpu"):
        raise UsageError(
            f"Got precision fp16 for {who} on the CPU. fp16 needs a GPU; on a CPU use bf16, or "
            "leave it out (float32)."
        )
    kinds = {weight.dtype for weight in weights if weight.is_floating_point()}
    if kinds - {torch.float32}:
        got = ", ".join(sorted(str(kind).removeprefix("torch.") for kind in kinds))
        raise UsageError(
            f"Got precision {precision} for {who}, whose weights are {got}. Expected "
            "float32 weights, because originals and winners are scored in float32. Load "
            "it in float32 (model.float()), or leave the precision out."
        )


def refuse_precision(precision: str, what: str) -> None:
    """Refuse a lower precision for a target that computes in its own."""
    if check_precision(precision) != FLOAT32:
        raise UsageError(
            f"Got --precision {precision} for {what}, which has only one precision. A "
            "lower one works for transformers classifiers, fine-tuned encoders of the "
            "zoo and torch networks (brittle.torch_target(precision=…)). Leave it out."
        )


def check_lowered(target: Any, precision: str, opened_here: bool = True) -> None:
    """Refuse an opened target that does not have the precision asked for, and close it."""
    if check_precision(precision) in (FLOAT32, declared_by(target, "precision")):
        return
    if opened_here:
        close(target)
    refuse_precision(precision, f"the target {getattr(target, 'name', target)!r}")
