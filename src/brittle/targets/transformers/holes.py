"""Holes that read as padding: the vector at their position is zero, and positions stay.

A hole is a token of its own in our copy of the tokenizer, so that it is aligned like any other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from brittle.targets.options import NoZeroVector
from brittle.targets.rendering import PADDING

HOLE_TOKEN = "\ue000\ue001\ue002"  # characters for private use: no text has all three in a row


@dataclass(frozen=True)
class ZeroedHoles:
    """The id that holes have in keys, and the id of an ordinary token that the model is given.

    That token's vector is then zeroed. Padding cannot stand in: models that count positions by it,
    or read a text only up to it, would read another text.
    """

    token_id: int
    stand_in: int


def add_hole(backend: Any, hf_tokenizer: Any, model: Any) -> ZeroedHoles:
    """Add the token of a hole to a copy of the tokenizer's backend."""
    if backend is None or model.config.is_encoder_decoder:
        reason = "a tokenizer written in Python" if backend is None else "an encoder and a decoder"
        raise NoZeroVector(
            f"Got --mask {PADDING} for a {type(model).__name__} with {reason}. Expected a model "
            "with a fast tokenizer that reads its input once. Leave --mask out, or name a text."
        )
    from tokenizers import AddedToken

    # As mask tokens do, it takes the space before it along, which else could be a token itself.
    backend.add_special_tokens([AddedToken(HOLE_TOKEN, lstrip=True, normalized=False)])
    special = {*hf_tokenizer.all_special_ids, model.config.pad_token_id}
    stand_in = next(n for n in range(len(special) + 1) if n not in special)
    return ZeroedHoles(backend.token_to_id(HOLE_TOKEN), stand_in)
