"""Networks that read pictures: LeNet and one hidden layer, and trained ones. Needs torch.

The zoo's models of pictures: networks, and a random forest.

Networks that read pictures: LeNet, and one hidden layer. This file needs torch.

A trained network on pictures, behind the protocol of the zoo's models. This file needs torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from brittle.errors import UsageError
from brittle.picture import PixelGradientRequest, Shape, stack
from brittle.ranking.moves import Pixels, as_tensor, pixel_gradients
from brittle.zoo.device import torch_device
from brittle.zoo.families import restore_settings
from brittle.zoo.folder import Card
from brittle.zoo.forest import keys_of, pixels_of
from brittle.zoo.names.settings import PictureNetworkSettings
from brittle.zoo.restoring import load_network

SMALLEST_SIDE_PIXELS = 12  # below it, nothing is left after LeNet's second pooling


def build(
    name: str, settings: PictureNetworkSettings, shape: Sequence[int], classes: int
) -> nn.Sequential:
    """Build a network for pictures of this shape: height, width, channels."""
    height, width, channels = shape
    if name == "MLP":
        return nn.Sequential(
            nn.Flatten(),
            nn.Linear(height * width * channels, settings.hidden),
            nn.ReLU(),
            nn.Dropout(settings.dropout),
            nn.Linear(settings.hidden, classes),
        )
    if min(height, width) < SMALLEST_SIDE_PIXELS:
        raise UsageError(
            f"LeNet reads pictures of {SMALLEST_SIDE_PIXELS} × {SMALLEST_SIDE_PIXELS} pixels or "
            f"more; these have {height} × {width}. Use MLP or forest."
        )
    # LeNet-5 (LeCun et al., 1998), with ReLU and the maximum in place of tanh and the mean.
    left = ((height // 2 - 4) // 2) * ((width // 2 - 4) // 2)
    return nn.Sequential(
        nn.Conv2d(channels, 6, 5, padding=2),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(16 * left, 120),
        nn.ReLU(),
        nn.Linear(120, settings.hidden),
        nn.ReLU(),
        nn.Dropout(settings.dropout),
        nn.Linear(settings.hidden, classes),
    )


def forward(network: nn.Module, pixels: Tensor) -> Tensor:
    """Compute the logits of pictures × channels × height × width."""
    logits: Tensor = network(pixels)
    return logits


class PixelNetwork:
    """Scores pictures of one shape; a key is the pixels of a picture, as bytes."""

    parallel = 1

    def __init__(self, network: nn.Module, shape: Shape, name: str, device: Any) -> None:
        self.network, self.shape, self.name, self.device = network, shape, name, device

    def encode(self, items: Sequence[Any]) -> list[bytes]:
        return keys_of(items, self.shape, self.name)

    def logits(self, keys: Sequence[bytes]) -> NDArray[Any]:
        return self._logits(pixels_of(keys, self.shape))

    def picture_logits(self, items: Sequence[Any]) -> NDArray[Any]:
        """Return the logits of pictures, without their keys."""
        return self._logits(stack(items, self.shape, f"The model {self.name!r}", is_only_read=True))

    def _logits(self, pixels: Pixels) -> NDArray[Any]:
        with torch.no_grad():
            table: NDArray[Any] = (
                forward(self.network, as_tensor(pixels, self.device)).cpu().numpy()
            )
        return table

    def gradients(self, requests: Sequence[PixelGradientRequest]) -> list[Pixels]:
        self.encode([request.picture for request in requests])
        return pixel_gradients(partial(forward, self.network), requests, self.device)

    def close(self) -> None:
        self.network = nn.Identity()


def open_pixel_network(folder: Path, card: Card, device: str, hole_id: int) -> PixelNetwork:
    """Load a network as its card says."""
    height, width, channels = card.parts["shape"]
    shape, settings = (height, width, channels), restore_settings(card)
    network = load_network(folder, lambda: build(card.name, settings, shape, len(card.labels)))
    where = torch_device(device)
    return PixelNetwork(network.to(where).eval(), shape, card.name, where)
