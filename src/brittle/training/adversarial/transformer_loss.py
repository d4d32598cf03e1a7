"""The loss of a pretrained encoder that is hardened: half on the texts, half on their copies.

As in network.py, with noise by the norm of a whole text, its special tokens included.
This file needs torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from brittle.training.adversarial.network_loss import cross_entropy
from brittle.training.adversarial.noise import worst_noise


def noisy_loss(network: Any, inputs: Mapping[str, Tensor], label: Tensor, noise: float) -> Tensor:
    """Give the loss of a batch and of noise on its vectors (Miyato et al., 2017).

    The batch's own half has gone back through the network when this returns.
    """
    rest = {name: tensor for name, tensor in inputs.items() if name != "input_ids"}
    read = network.get_input_embeddings()(inputs["input_ids"])
    cut = read.detach().requires_grad_()
    half = cross_entropy(network(inputs_embeds=cut, **rest).logits, label) / 2
    half.backward()  # type: ignore[no-untyped-call]
    if read.requires_grad:
        read.backward(cut.grad, retain_graph=True)
    inside = inputs["attention_mask"] != 0
    added = read + worst_noise(read, cut.grad, inside, noise)
    logits = network(inputs_embeds=added, **rest).logits
    return half.detach() + cross_entropy(logits, label) / 2
