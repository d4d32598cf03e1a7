"""`brittle.torch_target`: a target from a user's network, its tokenizer and its vocabulary."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from brittle.errors import UsageError, require
from brittle.targets.labels import label_names
from brittle.targets.options import FLOAT32, Labels
from brittle.targets.precision import check_weights
from brittle.targets.torch.tokens import Tokenize, TokenReader
from brittle.zoo.device import torch_device

if TYPE_CHECKING:
    from torch import Tensor, nn

    from brittle.targets.torch.network import Call
    from brittle.targets.torch.target import TorchTarget

LENGTHS = ("lengths", "length")  # names of parameters that are given the lengths of the texts
PADDING = "<pad>"
HOLE_CHARACTER = "\ue000"  # for private use: no vocabulary has it, and it is no letter


def torch_target(
    module: nn.Module,
    *,
    vocabulary: Mapping[str, int] | Sequence[str],
    labels: Labels,
    tokenize: Tokenize | None = None,
    embedding: str | None = None,
    call: Callable[[nn.Module, Tensor, Tensor], Any] | None = None,
    scores: str = "auto",
    unknown: str | None = "<unk>",
    padding: str | None = PADDING,
    separator: str | None = None,
    mask: str | None = None,
    head: str | None = None,
    min_length: int = 1,
    max_length: int | None = None,
    name: str | None = None,
    device: str = "auto",
    batch: int | None = None,
    precision: str = FLOAT32,
) -> TorchTarget:
    """Build a target with gradients from any module that reads token ids by an embedding table.

    `tokenize` splits a string into tokens as in training: into words, or into characters (`list`).
    The default splits a text into words and lowers those that are not in the vocabulary.
    `vocabulary` maps tokens to ids; other tokens read as `unknown`, or are left out if that is
    None. `embedding` names the table, such as "embed.weight"; leave it out if there is only one.

    The module is called with ids, texts × tokens, and also with the lengths of the texts if its
    forward has a parameter `lengths`; for any other call pass `call`, a function of module, ids and
    lengths. It returns logits, texts × labels, or one logit per text for the second of two labels;
    `scores` declares other outputs: "prob", or "single" for one probability per text.

    Texts with more than `max_length` tokens are truncated, and texts with fewer than `min_length`
    are padded with `padding`; other texts are never padded. `separator` is put between the fields
    of a pair, `mask` replaces a masked word (default: the unknown token). `head` names the last
    layer, such as "out": its input is the vector of a text (`sentence_embeddings`). The module
    keeps its mode, and its device unless `device` names another. `batch` is the number of texts in
    one call (default: automatic). In a lower `precision`, "bf16" or "fp16" (on a GPU), candidates
    are scored with torch's autocast; originals and winners always use float32.
    """
    torch = require("torch", "torch", "torch_target")
    from brittle.targets.torch import checks
    from brittle.targets.torch.network import Network
    from brittle.targets.torch.target import TorchTarget, TorchTargetWithHead

    if not isinstance(module, torch.nn.Module):
        raise UsageError(
            f"torch_target got a {type(module).__name__}. Expected a torch.nn.Module; for anything "
            "else that predicts labels use brittle.as_target."
        )
    name = name or type(module).__name__
    who = f"The network {name!r}"
    path = checks.find_embedding(module, embedding, who)
    table: Any = module.get_submodule(path)
    ids = checks.check_vocabulary(vocabulary, table.num_embeddings, who)
    checks.check_lengths(min_length, max_length)
    reader = TokenReader(
        tokenize,
        ids,
        _special_id("unknown", unknown, ids),
        _padding_id(padding, ids, table.padding_idx, min_length),
        _special_id("separator", separator, ids),
        max_length=max_length,
    )
    checks.check_tokens(reader)
    reader = replace(reader, mask=_find_mask(reader, unknown) if mask is None else mask)
    if device != "auto":
        module.to(torch_device(device))
    names = label_names(None, labels, who)
    kind, call = checks.check_kind(scores), call or _default_call(module, who)
    network = Network(module, path, call, names, kind, name)
    examples = checks.Examples.of(ids, min_length, max_length, network.device)
    layers = checks.check_network(network, examples, is_declared=scores != "auto")
    check_weights(module.parameters(), precision, str(network.device), f"the network {name!r}")
    checks.check_lowered_pass(network, examples, precision)
    about = (network, reader, layers, min_length, batch, precision)
    if head is None:
        return TorchTarget(*about)
    checks.check_head(network, examples, head)
    return TorchTargetWithHead(head, *about)


def _special_id(role: str, token: str | None, ids: Mapping[str, int]) -> int | None:
    if token is not None and token not in ids:
        special = [word for word in ids if word[:1] in "<["][:5]
        raise UsageError(
            f"The vocabulary has no {token!r}, the {role} token. Name it ({role}='[UNK]', "
            f"for example{'; it has ' + ', '.join(special) if special else ''}), or use "
            f"{role}=None if it has none."
        )
    return None if token is None else ids[token]


def _padding_id(
    padding: str | None, ids: Mapping[str, int], padding_idx: int | None, min_length: int
) -> int | None:
    """Return the id of padding, if there is any: the vocabulary's, or that of the table."""
    if padding is not None and (padding in ids or padding != PADDING):
        return _special_id("padding", padding, ids)
    if padding_idx is None and min_length > 1:
        raise UsageError(
            f"min_length={min_length} needs a padding token, but the vocabulary has no "
            f"{PADDING!r} and the embedding has no padding_idx. Name one: padding='[PAD]'."
        )
    return padding_idx


def _find_mask(reader: TokenReader, unknown: str | None) -> str:
    """Find a string that reads as one unknown token; nothing, if there is none."""
    if reader.tokenize is None:
        return HOLE_CHARACTER
    masks = [unknown or "", HOLE_CHARACTER]
    alone = zip(masks, reader.tokens_of(masks))
    return next((mask for mask, tokens in alone if tokens == (reader.unknown_id,)), "")


def _default_call(module: nn.Module, who: str) -> Call:
    """Return how a module is called, by the names of its parameters."""
    parameters = list(inspect.signature(module.forward).parameters.values())
    positional = [p for p in parameters if p.kind is not p.VAR_KEYWORD][1:]
    named = next((p.name for p in positional if p.name in LENGTHS), None)
    needed = [p.name for p in positional if p.default is p.empty and p.kind is not p.VAR_POSITIONAL]
    others = [name for name in needed if name != named]
    if others:
        arguments = ", ".join(["ids", *(f"{name}=…" for name in others)])
        raise UsageError(
            f"{who} also takes {', '.join(others)}, which brittle cannot fill in. Show "
            f"how to call it: call=lambda module, ids, lengths: module({arguments})."
        )
    return call_with_ids if named is None else partial(call_with_lengths, named)


def call_with_ids(module: nn.Module, ids: Tensor, lengths: Tensor) -> Any:
    """Call a module that takes ids."""
    return module(ids)


def call_with_lengths(name: str, module: nn.Module, ids: Tensor, lengths: Tensor) -> Any:
    """Call a module that takes ids and, by this name, the lengths of the texts."""
    return module(ids, **{name: lengths})
