"""A torch module on pictures as a target: scores and gradients. This file needs torch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from brittle.errors import TargetError, UsageError
from brittle.picture import Picture, PixelGradientRequest, Shape, stack
from brittle.ranking.moves import Pixels, as_tensor, pixel_gradients
from brittle.targets.fingerprints import code_of
from brittle.targets.labels import label_names, stated_labels
from brittle.targets.options import Labels, ScoreKind, check_kind
from brittle.targets.protocols import Scores, failing_as
from brittle.targets.readers import picture_settings, probe_pictures
from brittle.targets.scores import as_probabilities
from brittle.targets.torch.checks import check_not_probabilities
from brittle.targets.torch.network import evaluating
from brittle.targets.torch.weights import hash_module
from brittle.zoo.device import torch_device


class PictureNetwork:
    """A module that reads pictures × channels × height × width, from 0 to 1, in evaluation mode."""

    item_kind = "picture"
    parallel = 1

    def __init__(
        self,
        module: nn.Module,
        shape: Shape,
        labels: tuple[str, ...],
        kind: ScoreKind,
        name: str,
    ) -> None:
        self.module, self.shape, self.labels = module, shape, labels
        self.kind, self.name = kind, name

    def __repr__(self) -> str:
        return f"PictureNetwork({self.name!r})"

    @cached_property
    def fingerprint(self) -> str:
        """Hash the weights, the structure and the code of the module."""
        settings = picture_settings(self.shape, self.kind)
        return hash_module(self.module, *settings, *self.labels, code_of(self.module))

    @property
    def device(self) -> torch.device:
        tensors = (*self.module.parameters(), *self.module.buffers())
        return tensors[0].device if tensors else torch.device("cpu")

    def scores(self, items: Sequence[Picture]) -> Scores:
        if not items:
            return np.zeros((0, len(self.labels)))
        table = self.output(items).double().cpu().numpy()
        return as_probabilities(table, len(items), self.labels, self.kind, self._who)

    def output(self, items: Sequence[Picture]) -> Tensor:
        """Return what the module returns for pictures."""
        pixels = stack(items, self.shape, self._who)
        with torch.no_grad():
            return self._forward(as_tensor(pixels, self.device))

    def gradients(self, requests: Sequence[PixelGradientRequest]) -> list[Pixels]:
        """Compute the gradient of every request's objective, in the shape of its picture."""
        stack([request.picture for request in requests], self.shape, self._who)
        return pixel_gradients(self._logits, requests, self.device)

    def _logits(self, pixels: Tensor) -> Tensor:
        """Return logits, of probabilities their logarithms; always one for each label."""
        output = self._forward(pixels)
        if self.kind == "single":
            output = torch.cat([1 - output.reshape(-1, 1), output.reshape(-1, 1)], dim=1)
        elif output.numel() == len(output):
            output = output.reshape(-1, 1)
            output = torch.cat([torch.zeros_like(output), output], dim=1)
        return output if self.kind == "logits" else output.clamp_min(1e-30).log()

    def _forward(self, pixels: Tensor) -> Tensor:
        parameter = next(self.module.parameters(), pixels)
        with failing_as(self._who), evaluating(self.module):
            output: Any = self.module(pixels.to(parameter.dtype))
        if not isinstance(output, Tensor):
            raise UsageError(
                f"{self._who} returned a {type(output).__name__}. Expected a tensor of "
                "scores, pictures × labels; wrap the module in a function that returns "
                "one."
            )
        return output

    @property
    def _who(self) -> str:
        return f"Target {self.name!r}"


def of_picture_module(
    module: Any,
    shape: Shape,
    *,
    labels: Labels = None,
    scores: str = "auto",
    name: str | None = None,
    device: str = "auto",
) -> PictureNetwork:
    """Build a target from a module; it returns logits, unless `scores` declares something else.

    Its labels are `labels`, or its attribute of that name.
    """
    name = name or type(module).__name__
    who = f"The network {name!r}"
    declared = check_kind(scores)
    if declared == "label":
        raise UsageError(
            f"{who} gives a score per class, so --scores label does not work. Leave it out."
        )
    if device != "auto":
        module.to(torch_device(device))
    names = label_names(stated_labels(module), labels, who)
    kind: ScoreKind = "logits" if declared == "auto" else declared
    target = PictureNetwork(module, shape, names, kind, name)
    try:
        if declared == "auto":
            black_and_white = [Picture(np.full(shape, value)) for value in (0, 1)]
            check_not_probabilities(
                target.output([*probe_pictures(shape), *black_and_white]), who, "picture"
            )
        target.scores(probe_pictures(shape)[:2])
    except TargetError as error:
        size = " × ".join(map(str, shape))
        raise UsageError(
            f"{who} does not take the pictures of the data, {size} (height × width × "
            f"channels, passed as pictures × channels × height × width): {error}"
        ) from error
    return target
