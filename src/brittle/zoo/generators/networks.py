"""The networks of a WGAN on pictures, and plain convolutions that decode faster. Needs torch.

The networks of a WGAN on pictures: generator, critic and inverter. This file needs torch.

Networks read and write pictures × channels × height × width, from 0 to 1. None of them has a batch
norm, so what is computed of one picture never depends on its neighbours, in training neither.

Decoding by plain convolutions, the same numbers in less time. This file needs torch.

A transposed convolution of stride 2 writes four pixels for each that it reads. Each of the four is
a convolution by itself, of at most 3 × 3 of the 5 × 5 weights; the four results are then woven into
one picture. Plain convolutions are much faster on a processor, above all with few channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from brittle.errors import UsageError
from brittle.zoo.names.settings import PictureGeneratorSettings

LEAK = 0.2  # the slope of the leaky ReLU below 0
CONVOLUTIONS, BLOCKS = 3, 4
SMALLEST_SIDE_PIXELS = 8


class Wgan(nn.Module):
    """Three networks of one latent space: `generator`, `critic` and `inverter`."""

    def __init__(self, generator: nn.Module, critic: Critic, inverter: nn.Module) -> None:
        super().__init__()
        self.generator, self.critic, self.inverter = generator, critic, inverter


class Critic(nn.Module):
    """Features of a picture, and one number from them: the higher, the likelier it is real."""

    def __init__(self, features: nn.Module, size: int) -> None:
        super().__init__()
        self.features = features
        self.head = nn.Linear(size, 1)

    def forward(self, pictures: Tensor) -> Tensor:
        return cast(Tensor, self.head(self.features(pictures))).squeeze(1)


class UpsampledConvolution(nn.Module):
    """A transposed convolution that doubles both sides; what is beyond `size` is cut off."""

    def __init__(self, inputs: int, outputs: int, size: tuple[int, int]) -> None:
        super().__init__()
        self.convolution = nn.ConvTranspose2d(inputs, outputs, 5, 2, padding=2, output_padding=1)
        self.size = size

    def forward(self, x: Tensor) -> Tensor:
        height, width = self.size
        return cast(Tensor, self.convolution(x))[:, :, :height, :width]


class ResidualBlock(nn.Module):
    """A pre-activation block of two 3 × 3 convolutions, with a 1 × 1 convolution beside them.

    It halves both sides by the mean, or doubles them by repeating the nearest pixel. The norm is
    over all features of one picture. The convolution next to the change of size is computed
    together with it, and the one beside on the smaller side: the same numbers in less time.
    """

    def __init__(self, inputs: int, outputs: int, doubles: bool) -> None:
        super().__init__()
        self.doubles = doubles
        self.norms = nn.ModuleList(nn.GroupNorm(1, n) for n in (inputs, inputs))
        self.first = nn.Conv2d(inputs, inputs, 3, padding=1)
        self.second = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.beside = nn.Conv2d(inputs, outputs, 1)

    def forward(self, x: Tensor) -> Tensor:
        y = self.norms[0](x).relu()
        if self.doubles:
            y = self.second(self.norms[1](doubled(y, self.first)).relu())
            return functional.interpolate(self.beside(x), scale_factor=2.0) + cast(Tensor, y)
        y = self.norms[1](self.first(y)).relu()
        return halved(y, self.second) + cast(Tensor, self.beside(functional.avg_pool2d(x, 2)))


def halved(x: Tensor, layer: nn.Conv2d) -> Tensor:
    """Compute a 3 × 3 convolution and the mean of every 2 × 2 pixels of it, as one of 4 × 4."""
    shifts = [(a, 1 - a, b, 1 - b) for a in (0, 1) for b in (0, 1)]
    weight = torch.stack([functional.pad(layer.weight, shift) for shift in shifts]).mean(dim=0)
    return functional.conv2d(x, weight, layer.bias, stride=2, padding=1)


def doubled(x: Tensor, layer: nn.Conv2d) -> Tensor:
    """Compute a 3 × 3 convolution of every pixel repeated 2 × 2 times, as four ones of 2 × 2.

    Of the three pixels in a row that one of them reads, two are repetitions of one pixel.
    """
    first, middle, last = layer.weight.unbind(dim=2)
    rows = torch.stack([first, middle + last, first + middle, last])
    rows = rows.reshape(2, 2, *first.shape)
    first, middle, last = rows.unbind(dim=-1)
    both = torch.stack([first, middle + last, first + middle, last])
    both = both.reshape(2, 2, *first.shape)
    # column parity, its pixel, row parity, its pixel, outputs, inputs
    weight = both.permute(4, 2, 0, 5, 3, 1).flatten(0, 2)
    bias = None if layer.bias is None else layer.bias.repeat_interleave(4)
    height, width = x.shape[2:]
    four = functional.conv2d(x, weight, bias, padding=1)
    four = four.reshape(len(x), -1, 2, 2, height + 1, width + 1)
    lines = [
        torch.stack([four[:, :, a, b, a : a + height, b : b + width] for b in (0, 1)], dim=-1)
        for a in (0, 1)
    ]
    return torch.stack(lines, dim=3).flatten(2, 3).flatten(3, 4)


def build(name: str, settings: PictureGeneratorSettings, shape: Sequence[int]) -> Wgan:
    """Build the networks of a design for pictures of this shape: height, width, channels."""
    height, width, _ = shape
    if name == "WGAN-residual":
        if height % 2**BLOCKS or width % 2**BLOCKS:
            raise UsageError(
                f"{name} halves pictures {BLOCKS} times, so their sides must be multiples of "
                f"{2**BLOCKS}; these have {height} × {width}. Resize them, or use WGAN."
            )
        return _residual(settings, shape)
    if min(height, width) < SMALLEST_SIDE_PIXELS:
        raise UsageError(
            f"{name} reads pictures of {SMALLEST_SIDE_PIXELS} × {SMALLEST_SIDE_PIXELS} pixels or "
            f"more; these have {height} × {width}. Use larger pictures."
        )
    return _convolutional(settings, shape)


def _convolutional(settings: PictureGeneratorSettings, shape: Sequence[int]) -> Wgan:
    """Build the networks of the paper's digits; at 28 × 28 and 64 channels they are its own.

    The paper puts the inverter on the critic's last hidden layer, with 1,024 units. Here, as in the
    authors' code, it has convolutions of its own; training begins with a copy of the critic's.
    """
    height, width, channels = shape
    sizes = [(height, width)]
    for _ in range(CONVOLUTIONS):
        sizes.insert(0, tuple((side + 1) // 2 for side in sizes[0]))  # type: ignore[arg-type]
    (rows, columns), *larger = sizes
    c, z = settings.channels, settings.latent
    flat = 4 * c * rows * columns
    generator = nn.Sequential(
        nn.Linear(z, flat),
        nn.ReLU(),
        nn.Unflatten(1, (4 * c, rows, columns)),
        UpsampledConvolution(4 * c, 2 * c, larger[0]),
        nn.ReLU(),
        UpsampledConvolution(2 * c, c, larger[1]),
        nn.ReLU(),
        UpsampledConvolution(c, channels, larger[2]),
        nn.Sigmoid(),
    )

    def features() -> nn.Sequential:
        widths = (channels, c, 2 * c, 4 * c)
        layers = [
            layer
            for inputs, outputs in pairwise(widths)
            for layer in (nn.Conv2d(inputs, outputs, 5, 2, padding=2), nn.LeakyReLU(LEAK))
        ]
        return nn.Sequential(*layers, nn.Flatten())

    inverter = nn.Sequential(features(), *_dense((flat, 16 * c, z)))
    return Wgan(generator, Critic(features(), flat), inverter)


def _residual(settings: PictureGeneratorSettings, shape: Sequence[int]) -> Wgan:
    """Build the residual networks of the paper's churches and towers.

    At 64 × 64 and 64 channels the inverter's layers are the paper's 8,192, 2,048 and 512. The norm
    of a block is over one picture, where others use the batch in the generator.
    """
    height, width, channels = shape
    rows, columns = height // 2**BLOCKS, width // 2**BLOCKS
    c, z = settings.channels, settings.latent
    flat = 8 * c * rows * columns
    up = (8 * c, 8 * c, 4 * c, 2 * c, c)
    generator = nn.Sequential(
        nn.Linear(z, flat),
        nn.Unflatten(1, (8 * c, rows, columns)),
        *(ResidualBlock(inputs, outputs, True) for inputs, outputs in pairwise(up)),
        nn.GroupNorm(1, c),
        nn.ReLU(),
        nn.Conv2d(c, channels, 3, padding=1),
        nn.Sigmoid(),
    )

    def features() -> nn.Sequential:
        down = up[::-1]
        return nn.Sequential(
            nn.Conv2d(channels, c, 3, padding=1),
            *(ResidualBlock(inputs, outputs, False) for inputs, outputs in pairwise(down)),
            nn.Flatten(),
        )

    inverter = nn.Sequential(features(), *_dense((flat, 32 * c, 8 * c, z)))
    return Wgan(generator, Critic(features(), flat), inverter)


def _dense(widths: Sequence[int]) -> list[nn.Module]:
    """Return linear layers of these widths, with a leaky ReLU after each but the last."""
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(widths):
        layers += [nn.Linear(inputs, outputs), nn.LeakyReLU(LEAK)]
    return layers[:-1]


TAPS = 3  # of one pixel in each direction


class MergedConvolution(nn.Module):
    """What an `UpsampledConvolution` computes, as one convolution with four times its outputs."""

    weight: Tensor
    bias: Tensor

    def __init__(self, layer: UpsampledConvolution) -> None:
        super().__init__()
        self.size = layer.size
        own = layer.convolution.weight.detach()  # inputs × outputs × 5 × 5
        assert own.shape[2:] == (5, 5) and layer.convolution.bias is not None
        weight = own.new_zeros(own.shape[1], 2, 2, own.shape[0], TAPS, TAPS)
        # Pixel 2m + a of the output reads pixel m + t of the input by the weight a + 2 − 2t.
        for a, b, t, u in product((0, 1), (0, 1), (-1, 0, 1), (-1, 0, 1)):
            row, column = a + 2 - 2 * t, b + 2 - 2 * u
            if row < 5 and column < 5:
                weight[:, a, b, :, t + 1, u + 1] = own[:, :, row, column].T
        self.register_buffer("weight", weight.flatten(0, 2))
        self.register_buffer("bias", layer.convolution.bias.detach().repeat_interleave(4))

    def forward(self, x: Tensor) -> Tensor:
        height, width = self.size
        four = functional.conv2d(x, self.weight, self.bias, padding=1)
        return functional.pixel_shuffle(four, 2)[:, :, :height, :width]


def fast_decoder(generator: nn.Module) -> nn.Module:
    """Return a network that decodes as a trained generator does, with upsampling merged.

    Its convolutions are copies: it does not follow a generator that is trained further.
    """
    if not isinstance(generator, nn.Sequential):
        return generator
    layers = [
        MergedConvolution(layer) if isinstance(layer, UpsampledConvolution) else layer
        for layer in generator
    ]
    return nn.Sequential(*layers)
