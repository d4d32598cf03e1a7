"""Noise on the vectors a network begins with, where it raises the loss most. Needs torch.

Miyato et al. (2017) add r = ε g / ‖g‖ to the word vectors of a text, with its gradient g and ε the
same for all, and normalise the vectors so that a network cannot outgrow the noise. Here they stay
as they are, and ε is in units of their own norm: r = noise · ‖x‖ g / ‖g‖. So noise of 1 is as long
as what it is added to, whatever the vectors' scale, and they can't outgrow it either.
"""

from __future__ import annotations

import torch
from torch import Tensor

from brittle.zoo.networks import Batch, Embedded

TINY = torch.finfo(torch.float32).tiny


def add_noise(embedded: Embedded, gradient: Embedded, batch: Batch, noise: float) -> Embedded:
    """Add the noise: to characters by the norm of each word, to words by that of the whole text."""
    words, characters = embedded.words, embedded.characters
    if words is not None and gradient.words is not None:
        place = torch.arange(words.shape[1], device=words.device)
        words = words + worst_noise(words, gradient.words, place < batch.length[:, None], noise)
    if characters is not None and gradient.characters is not None:
        assert batch.characters is not None
        inside = batch.characters != 0
        characters = characters + worst_noise(characters, gradient.characters, inside, noise)
    return Embedded(words, characters)


def worst_noise(vectors: Tensor, gradient: Tensor, inside: Tensor, noise: float) -> Tensor:
    """Give the noise that raises the loss most, to first order, of all with its norm.

    The norm is Frobenius', of each matrix vectors[i]; what is not `inside` gets none, and counts
    for nothing. Where the slope is zero, so is the noise.
    """
    x = vectors.detach() * inside[:, :, None]
    g = gradient * inside[:, :, None]
    # At its own scale first: the squares of a sure text's tiny slope would all be zero.
    g = g / g.abs().amax(dim=(1, 2), keepdim=True).clamp(min=TINY)
    length = torch.linalg.vector_norm(g, dim=(1, 2), keepdim=True).clamp(min=TINY)
    found: Tensor = noise * torch.linalg.vector_norm(x, dim=(1, 2), keepdim=True) * g / length
    return found
