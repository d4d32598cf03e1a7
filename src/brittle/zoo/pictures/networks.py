"""Networks that read pictures: LeNet, and one hidden layer. This file needs torch."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn

from brittle.errors import UsageError
from brittle.zoo.names.settings import PictureNetworkSettings

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
