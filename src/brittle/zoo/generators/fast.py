"""Decoding by plain convolutions, the same numbers in less time. This file needs torch.

A transposed convolution of stride 2 writes four pixels for each that it reads. Each of the four is
a convolution by itself, of at most 3 × 3 of the 5 × 5 weights; the four results are then woven into
one picture. Plain convolutions are much faster on a processor, above all with few channels.
"""

from __future__ import annotations

from itertools import product

from torch import Tensor, nn
from torch.nn import functional

from brittle.zoo.generators.networks import UpsampledConvolution

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
