"""The loss of a hardened pretrained encoder: half on the texts, half on their noisy copies.

As in network_loss.py; the noise is scaled by the norm of a whole text with its special tokens. This
file needs torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor
from torch.nn.functional import cross_entropy

from brittle.training.adversarial.noise import worst_noise


def noisy_loss(network: Any, inputs: Mapping[str, Tensor], label: Tensor, noise: float) -> Tensor:
    """Compute the loss of a batch and of its noisy copy (Miyato et al., 2017).

    The backward pass of the batch's own half has already run when this returns.
    """
    rest = {name: tensor for name, tensor in inputs.items() if name != "input_ids"}
    embedded = network.get_input_embeddings()(inputs["input_ids"])
    leaf = embedded.detach().requires_grad_()
    clean_half = cross_entropy(network(inputs_embeds=leaf, **rest).logits, label) / 2
    clean_half.backward()  # type: ignore[no-untyped-call]
    if embedded.requires_grad:
        embedded.backward(leaf.grad, retain_graph=True)
    inside = inputs["attention_mask"] != 0
    noisy = embedded + worst_noise(embedded, leaf.grad, inside, noise)
    logits = network(inputs_embeds=noisy, **rest).logits
    return clean_half.detach() + cross_entropy(logits, label) / 2
