"""Noise on a network's input embeddings, in the direction that raises the loss most. Needs torch.

Miyato et al. (2017) add r = ε g / ‖g‖ to the word embeddings of a text, where g is its gradient and
ε is the same for all texts. They normalise the embeddings so that a network cannot outgrow the
noise. Here the embeddings are not normalised; ε is in units of their norm: r = noise · ‖x‖ g / ‖g‖.
So noise of 1 is as long as the embeddings it is added to, and they cannot outgrow it either.
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
        column = torch.arange(words.shape[1], device=words.device)
        words = words + worst_noise(words, gradient.words, column < batch.length[:, None], noise)
    if characters is not None and gradient.characters is not None:
        assert batch.characters is not None
        inside = batch.characters != 0
        characters = characters + worst_noise(characters, gradient.characters, inside, noise)
    return Embedded(words, characters)


def worst_noise(vectors: Tensor, gradient: Tensor, inside: Tensor, noise: float) -> Tensor:
    """Compute the noise of a given norm that raises the loss most, to first order.

    The norm is `noise` times the Frobenius norm of each matrix vectors[i]. Rows that are not
    `inside` get no noise and do not count. Where the gradient is zero, the noise is zero.
    """
    x = vectors.detach() * inside[:, :, None]
    g = gradient * inside[:, :, None]
    # Scale first: a confident text has such a small gradient that its squares would all be zero.
    g = g / g.abs().amax(dim=(1, 2), keepdim=True).clamp(min=TINY)
    length = torch.linalg.vector_norm(g, dim=(1, 2), keepdim=True).clamp(min=TINY)
    r: Tensor = noise * torch.linalg.vector_norm(x, dim=(1, 2), keepdim=True) * g / length
    return r
