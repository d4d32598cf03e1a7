"""The hash of a network's weights. This file needs torch."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import torch

from brittle.targets.fingerprints import hash_parts


def hash_module(module: Any, *about: str | bytes) -> str:
    """Hash a user's module: its weights, its structure, and what else is known about it."""
    structure = re.sub(r"0x[0-9a-f]+", "", repr(module))
    return hash_parts(hash_weights(module), structure, *about)


def hash_weights(module: Any) -> bytes:
    """Hash everything in a module's state: names, types, shapes and values."""
    weights = hashlib.sha256()
    for key, tensor in sorted(module.state_dict().items()):
        kind = str(tensor.dtype).removeprefix("torch.")
        weights.update(f"{key} {kind} {tuple(tensor.shape)}".encode())
        # As bytes, because numpy does not know every number type of torch.
        weights.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy())
    return weights.digest()
