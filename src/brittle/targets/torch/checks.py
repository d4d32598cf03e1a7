"""What can be wrong with a network, a vocabulary or a tokenizer, said before anything is attacked.

This file needs torch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import torch
from torch import Tensor, nn

from brittle.errors import TargetError, UsageError, unknown
from brittle.moves import EditRequest, EditSpace
from brittle.targets.fingerprints import SENTENCES
from brittle.targets.options import FLOAT32
from brittle.targets.torch.network import CALL_REMEDY, Network, OutputKind
from brittle.targets.torch.tokens import TokenReader, locate
from brittle.text import Text, is_word

EXAMPLE_TEXTS, EXAMPLE_TOKENS = 3, 7
MAX_EXAMPLE_WORDS = 100
MIN_SHARE_FOUND = 0.5  # of the tokens of example sentences that are found in them
TOLERANCE, HALF_TOLERANCE = 1e-3, 5e-2  # of logits of about 1, in single and in half precision
MAX_LOWERED_DIFFERENCE = 0.1  # of probabilities, between float32 and a lower precision


@dataclass(frozen=True, eq=False)
class Examples:
    """Token ids to try a network with: several texts of several tokens, and the shortest text."""

    ids: Tensor
    shortest: Tensor

    @staticmethod
    def of(
        vocabulary: Mapping[str, int], min_length: int, max_length: int | None, device: Any
    ) -> Examples:
        length = max(min_length, min(EXAMPLE_TOKENS, max_length or EXAMPLE_TOKENS))
        known = sorted(set(vocabulary.values()))
        texts = EXAMPLE_TEXTS + (length == EXAMPLE_TEXTS)  # a square would look alike turned
        ids = np.resize(known[::-1], (texts, length))
        return Examples(
            torch.from_numpy(ids).to(device), torch.from_numpy(ids[:1, :min_length]).to(device)
        )


def find_embedding(module: nn.Module, name: str | None, who: str) -> str:
    """Return the name of the embedding whose weight is named, or of the only one."""
    parts = dict(module.named_modules())
    tables: list[str] = [path for path, part in parts.items() if isinstance(part, nn.Embedding)]
    weights = [f"{path}.weight".removeprefix(".") for path in tables]
    if not tables:
        raise UsageError(
            f"{who} has no nn.Embedding, so brittle cannot compute gradients at its "
            "input. Attack it as a black box: pass a function from texts to scores."
        )
    if name is None and len(tables) > 1:
        raise UsageError(
            f"{who} has {len(tables)} embeddings: {', '.join(weights)}. Name the one that reads "
            f"the tokens: embedding={weights[0]!r}."
        )
    if name is None:
        return tables[0]
    path = name.removesuffix("weight").removesuffix(".")
    if path in tables:
        return path
    if name in dict(module.named_parameters()) or path in parts:
        kind = type(parts[path if path in parts else name.rpartition(".")[0]]).__name__
        raise UsageError(
            f"{name!r} belongs to a {kind} of {who[0].lower()}{who[1:]}. Expected the weight of an "
            f"nn.Embedding: {', '.join(weights)}."
        )
    raise unknown(f"parameter of {who[0].lower()}{who[1:]}", name, weights)


def check_vocabulary(
    vocabulary: Mapping[str, int] | Sequence[str], rows: int, who: str
) -> dict[str, int]:
    """Return the id of every token; a list of tokens has them in the order of their ids."""
    if isinstance(vocabulary, Mapping):
        ids = dict(vocabulary)
    elif isinstance(vocabulary, Sequence) and not isinstance(vocabulary, str):
        ids = {token: n for n, token in enumerate(vocabulary)}
    else:
        raise UsageError(
            f"Got a {type(vocabulary).__name__} as vocabulary. Expected a dict from tokens to ids, "
            "or a list of tokens in the order of their ids."
        )
    for token, number in ids.items():
        if not isinstance(token, str) or not isinstance(number, int | np.integer):
            raise UsageError(
                f"The vocabulary has the entry {token!r}: {number!r}. Expected tokens (strings) "
                "and their ids (integers)."
            )
        if not 0 <= number < rows:
            raise UsageError(
                f"The vocabulary has {token!r} as {number}, but the embedding of "
                f"{who[0].lower()}{who[1:]} has {rows} rows (0 to {rows - 1}). Use the vocabulary "
                "it was trained with, or name another embedding."
            )
    if not ids:
        raise UsageError("The vocabulary is empty. Expected the tokens the network was trained on.")
    return {token: int(number) for token, number in ids.items()}


def check_lengths(min_length: int, max_length: int | None) -> None:
    """Refuse lengths that no text can have."""
    if min_length < 1 or (max_length is not None and max_length < min_length):
        raise UsageError(
            f"Got min_length={min_length} and max_length={max_length}. Expected at least "
            "1, and a max_length of at least min_length."
        )


def check_kind(scores: str) -> OutputKind:
    """Return what a network's outputs are; what is not declared is taken for logits."""
    kinds: tuple[OutputKind, ...] = get_args(OutputKind)
    for kind in kinds:
        if scores in (kind, "auto"):
            return kind
    raise unknown("kind of scores", scores, ("auto", *kinds))


def check_tokens(reader: TokenReader) -> None:
    """Refuse a tokenizer whose tokens are no pieces of the text, or not those of the vocabulary."""
    reader.align(Text.of(SENTENCES[0]))
    tokens = [reader.split(sentence) for sentence in SENTENCES]
    spans = np.concatenate([locate(part, text) for part, text in zip(tokens, SENTENCES)])
    if not len(spans) or np.mean(spans[:, 1] > spans[:, 0]) < MIN_SHARE_FOUND:
        raise UsageError(
            f"tokenize splits {SENTENCES[0]!r} into {list(tokens[0])[:6]!r}. Expected "
            "pieces of the text in order, in any case, so that brittle can find the word "
            "of each token."
        )
    special = {reader.unknown_id, reader.padding_id, reader.separator_id}
    words = [w for w, n in reader.vocabulary.items() if n not in special and is_word(w)]
    words = words[:MAX_EXAMPLE_WORDS]
    read = reader.tokens_of(words)
    if words and all(ids != (reader.vocabulary[word],) for word, ids in zip(words, read)):
        raise UsageError(
            f"tokenize reads the word {words[0]!r} of the vocabulary as "
            f"{list(reader.split(words[0]))!r}, and no other word as one token either. "
            "Use the vocabulary and the tokenizer that the network was trained with."
        )


def check_network(network: Network, examples: Examples, is_declared: bool) -> list[str]:
    """Try every pass of a network; return the names of the parts that have a vector per token.

    Without `is_declared` an output that looks like a probability is refused.
    """
    ids = examples.ids
    lengths = torch.full((len(ids),), ids.shape[1])
    who = f"The network {network.name!r}"
    try:
        logits = network.logits(ids, lengths)
        if not bool(torch.isfinite(logits).all()):
            raise UsageError(
                f"{who} returned {logits[0].tolist()} for token ids {ids[0].tolist()}. "
                "Expected finite numbers: check whether its training diverged."
            )
        if not is_declared:
            check_not_probabilities(network.output(ids, lengths), who, "text")
        _check_rows(network, ids, logits, who)
        _check_shortest(network, examples.shortest, who)
        requests = [EditRequest(Text.of(""), 0, None, EditSpace(objective="logit"), ())] * len(ids)
        network.gradients(ids, lengths, requests)
        others = network.other_tables(ids, lengths)
        if others:
            raise UsageError(
                f"{who} reads tokens by its embedding {network.embedding!r} and also by "
                f"{', '.join(map(repr, others))}, so the gradient of one table misses a "
                "part of each edit. Use one table, or attack it as a black box."
            )
        outputs = network.outputs(ids, lengths)
    except TargetError as error:
        raise UsageError(str(error)) from error
    return [name for name in outputs if name != network.embedding]


def check_head(network: Network, examples: Examples, head: str) -> None:
    """Refuse a head that is no part of a network, or does not read one vector of every text."""
    parts = [name for name, _ in network.module.named_modules() if name]
    if head not in parts:
        raise unknown(f"part of the network {network.name!r}", head, parts)
    lengths = torch.full((len(examples.ids),), examples.ids.shape[1])
    network.head_input(examples.ids, lengths, head)


def check_lowered_pass(network: Network, examples: Examples, precision: str) -> None:
    """Refuse a lower precision in which a network does not run, or answers something else."""
    if precision == FLOAT32:
        return
    lengths = torch.full((len(examples.ids),), examples.ids.shape[1])
    exact = network.logits(examples.ids, lengths).softmax(dim=1)
    remedy = "Leave the precision out: float32 is the default."
    try:
        lowered = network.logits(examples.ids, lengths, precision).softmax(dim=1)
    except TargetError as error:
        raise UsageError(
            f"The network {network.name!r} does not run in {precision}: {error} {remedy}"
        ) from error
    difference = float((lowered - exact).abs().max())
    if not difference <= MAX_LOWERED_DIFFERENCE:
        raise UsageError(
            f"The network {network.name!r} gives other answers in {precision}: a "
            f"probability differs by {difference:.2g}, expected at most "
            f"{MAX_LOWERED_DIFFERENCE:g}. {remedy}"
        )


def check_not_probabilities(output: Tensor, who: str, item: str) -> None:
    """Refuse an output, of several items, that looks like probabilities."""
    if bool((output < 0).any()) or bool((output > 1).any()):
        return
    is_single = output.numel() == len(output)
    if not is_single and not bool(((output.sum(dim=1) - 1).abs() < TOLERANCE).all()):
        return
    example, kind = output[0].tolist(), "single" if is_single else "prob"
    raise UsageError(
        f"{who} returned {example} for a {item}, which looks like a probability. Tell "
        f"brittle what it is: scores={kind!r}, or scores='logits' if it is a score before "
        "the softmax."
    )


def _check_rows(network: Network, ids: Tensor, logits: Tensor, who: str) -> None:
    """Refuse a network that answers at random, or whose texts influence each other."""
    lengths = torch.full((len(ids),), ids.shape[1])
    again = network.logits(ids, lengths)
    alone = torch.cat([network.logits(ids[n : n + 1], lengths[:1]) for n in range(len(ids))])
    is_half = network.output(ids, lengths).dtype.itemsize < 4
    limit = (HALF_TOLERANCE if is_half else TOLERANCE) * (1 + logits.abs())
    if bool(((again - logits).abs() > limit).any()):
        raise UsageError(
            f"{who} gives different answers to the same text in evaluation mode: "
            f"{logits[0].tolist()} and {again[0].tolist()}. Does it call "
            "functional.dropout without training=self.training?"
        )
    if bool(((alone - logits).abs() > limit).any()):
        raise UsageError(
            f"{who} answers {alone[0].tolist()} to a text alone and {logits[0].tolist()} "
            "to the same text in a batch. Texts must not influence each other: is "
            "batch_first=True missing? If it reads tokens × texts, use "
            f"{CALL_REMEDY.format('module(ids.T)')}."
        )


def _check_shortest(network: Network, shortest: Tensor, who: str) -> None:
    length = shortest.shape[1]
    try:
        network.logits(shortest, torch.tensor([length]))
    except (TargetError, UsageError) as error:
        raise UsageError(
            f"{who} cannot read a text of {length} tokens: {error} If it needs longer "
            "texts, like a convolution, pad short ones: min_length=5."
        ) from error
