"""The loss of a hardened network: half on the texts, half on copies with flips or noise.

The layers of a frozen biLM for the texts of a training, computed once for all epochs. This file
needs torch. Noise on a network's input embeddings, in the direction that raises the loss most.
Needs torch.

Miyato et al. (2017) add r = ε g / ‖g‖ to the word embeddings of a text, where g is its gradient and
ε is the same for all texts. They normalise the embeddings so that a network cannot outgrow the
noise. Here the embeddings are not normalised; ε is in units of their norm: r = noise · ‖x‖ g / ‖g‖.
So noise of 1 is as long as the embeddings it is added to, and they cannot outgrow it either.

Copies of a batch with its best flips, all from one backward pass and applied at once.

Ebrahimi et al. (2018) train on such copies: they take the best flip of every position, and of these
the best share in every text. Everything is done on the tensors of the batch. This file needs torch.

The loss of a hardened network: half of it on the texts, half on their adversarial copies.

Ebrahimi et al. (2018) add adversarial copies to every mini-batch, without saying how these are
weighted. Here a text and its copy have equal weights: the loss is the mean of two means. The copies
are built from the gradient of the pass that also trains the network on the texts, with dropout, so
that hardening costs one more forward and backward pass, not two. This file needs torch.

The loss of a hardened pretrained encoder: half on the texts, half on their noisy copies.

As in network_loss.py; the noise is scaled by the norm of a whole text with its special tokens. This
file needs torch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from brittle.text import Text, is_word
from brittle.training.adversarial.methods import (
    AdversarialTraining,
    HotFlipTraining,
    NoiseTraining,
    TypoTraining,
)
from brittle.zoo.networks import (
    Batch,
    Classifier,
    Embedded,
    Tokenizer,
    make_batch,
    make_row_batch,
    pad_keys,
    split_rows,
)
from brittle.zoo.spellings import UNKNOWN_CHARACTER, CharacterTokenizer
from brittle.zoo.tokenizers import SEPARATOR, UNKNOWN, WordTokenizer

MAX_BYTES = 1 << 29  # the layers of texts beyond these are computed again in every epoch


class KeptLayers:
    """The layers of the texts met so far, in half precision, up to `max_bytes`."""

    def __init__(
        self, network: Classifier, tokenizer: Tokenizer, device: str, max_bytes: int = MAX_BYTES
    ) -> None:
        self.network, self.tokenizer, self.device = network, tokenizer, device
        self._bytes_left = max_bytes
        self._kept: dict[bytes, Tensor] = {}

    def logits(self, keys: Sequence[bytes]) -> Tensor:
        """Compute the logits of encoded texts from the layers of the biLM."""
        rows = split_rows(keys, self.tokenizer)
        new = [row for row in dict.fromkeys(rows) if row not in self._kept]
        computed = dict(zip(new, self._compute(new))) if new else {}
        layers = [self._kept[row] if row in self._kept else computed[row] for row in rows]
        for row, layer in computed.items():
            size = layer.numel() * layer.element_size()
            if size <= self._bytes_left:
                self._kept[row] = layer
                self._bytes_left -= size
        padded = torch.nn.utils.rnn.pad_sequence(layers, batch_first=True).to(self.device).float()
        length = torch.tensor([len(layer) for layer in layers], device=self.device)
        return self.network.classify(self.network.mixed(padded.unbind(dim=2)), length)

    def _compute(self, rows: Sequence[bytes]) -> list[Tensor]:
        """Compute the layers of each text: words × layers × width."""
        network, batch = self.network, make_row_batch(rows, self.tokenizer, self.device)
        assert network.bilm is not None
        with torch.no_grad():
            vectors = network.vectors(network.embed(batch), batch)
            layers = torch.stack(network.bilm.layers(vectors, batch.length), dim=2)
        whole = layers.half().cpu()
        return [text[:length].clone() for text, length in zip(whole, batch.length.tolist())]


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


MAX_PRODUCT_ENTRIES = 1 << 24  # entries of one positions × choices table: 64 MB


def flip_characters(
    batch: Batch, is_word: Tensor, gradient: Tensor, table: Tensor, allowed: Tensor, share: float
) -> Batch:
    """Flip a share of each text's characters to allowed characters of the alphabet.

    Every word of the batch must have its own row of characters. `is_word` (texts × words) marks
    words, `gradient` is that of the loss at the character embeddings, `table` holds the embeddings
    of the alphabet, and `allowed` the ids of the characters to choose from. Flips are ranked by the
    characters alone. If the network also reads words, a flipped word becomes unknown, as most
    misspelt words are.
    """
    characters, which = batch.characters, batch.which
    assert characters is not None and which is not None
    row, column = torch.nonzero(characters, as_tuple=True)
    current = characters[row, column]
    value, choice = best_flips(
        gradient[row, column], table[allowed], _index_in(allowed, current, len(table))
    )
    gain = gradient.new_full(characters.shape, -torch.inf)
    gain[row, column] = value - (gradient[row, column] * table[current]).sum(1)
    best = characters.clone()
    best[row, column] = allowed[choice]
    gain_by_text = gain[which].masked_fill(~is_word[:, :, None], -torch.inf)
    flips = mark_highest(gain_by_text.flatten(1), share).view_as(gain_by_text)
    text, word, column = torch.nonzero(flips, as_tuple=True)
    row = which[text, word]
    flipped = characters.clone()
    flipped[row, column] = best[row, column]
    words = batch.words
    if words is not None:
        words = words.index_put((text, word), words.new_tensor(UNKNOWN))
    return replace(batch, characters=flipped, words=words)


def flip_words(
    batch: Batch,
    is_word: Tensor,
    gradient: Tensor,
    embedded: Embedded,
    table: Tensor,
    first_id: int,
    share: float,
) -> Batch:
    """Flip a share of each text's words to any words of the vocabulary.

    This is our analogue for networks that read no characters. `embedded` holds the vectors at which
    the gradient was taken; they differ from the words' own vectors where words were forgotten.
    `first_id` is the id of the first real word of the vocabulary, after padding and other marks.
    """
    words = batch.words
    assert words is not None and embedded.words is not None
    text, word = torch.nonzero(is_word, as_tuple=True)
    current = words[text, word]
    value, choice = best_flips(gradient[text, word], table[first_id:], current - first_id)
    gain = gradient.new_full(words.shape, -torch.inf)
    gain[text, word] = value - (gradient[text, word] * embedded.words[text, word]).sum(1)
    best = words.clone()
    best[text, word] = choice + first_id
    return replace(batch, words=torch.where(mark_highest(gain, share), best, words))


def best_flips(gradient: Tensor, table: Tensor, current: Tensor) -> tuple[Tensor, Tensor]:
    """Find for every gradient the row of the table with the highest product.

    `current` is the row to leave out, or any number that is not a row. Returns the products and the
    rows; the product is −∞ where no other row exists.
    """
    values, choices = [gradient.new_empty(0)], [current.new_empty(0)]
    step = max(1, MAX_PRODUCT_ENTRIES // max(1, len(table)))
    for start in range(0, len(gradient) if len(table) else 0, step):
        product = gradient[start : start + step] @ table.T
        excluded = current[start : start + step]
        row = torch.nonzero((excluded >= 0) & (excluded < len(table))).squeeze(1)
        product[row, excluded[row]] = -torch.inf
        value, choice = product.max(dim=1)
        values.append(value)
        choices.append(choice)
    return torch.cat(values), torch.cat(choices)


def mark_highest(gain: Tensor, share: float) -> Tensor:
    """Mark in every row the highest entries: a share, rounded down, of those above −∞.

    At least one entry is marked, unless all are −∞. Of equal entries the first is marked.
    """
    finite = gain > -torch.inf
    count = (share * finite.sum(dim=1).double() + 1e-9).floor().clamp(min=1)
    order = gain.argsort(dim=1, descending=True, stable=True)
    column = torch.arange(gain.shape[1], device=gain.device).expand_as(order)
    rank = torch.empty_like(order).scatter_(1, order, column)
    return finite & (rank < count[:, None])


def _index_in(allowed: Tensor, characters: Tensor, alphabet_size: int) -> Tensor:
    """Return the index of each character among the allowed ones; −1 for all others."""
    index = torch.full((alphabet_size,), -1, device=allowed.device)
    index[allowed] = torch.arange(len(allowed), device=allowed.device)
    return index[characters]


@dataclass(frozen=True)
class LabelledBatch:
    """Encoded texts and their labels; `typo_copies` returns the texts with typing errors."""

    keys: Sequence[bytes]
    label: Tensor
    typo_copies: Callable[[], Sequence[Text]]


@dataclass(frozen=True)
class NetworkInTraining:
    """A network and its tokenizer; the network reads `max_words` words of a text.

    `kept` are the layers of its biLM, if it reads one.
    """

    network: Classifier
    tokenizer: Tokenizer
    max_words: int
    device: str
    kept: KeptLayers | None = None

    def logits(self, keys: Sequence[bytes]) -> Tensor:
        """Compute the logits of encoded texts of the train split."""
        if self.kept is not None:
            return self.kept.logits(keys)
        logits: Tensor = self.network(make_batch(keys, self.tokenizer, self.device))
        return logits


def batch_loss(
    model: NetworkInTraining, labelled: LabelledBatch, method: AdversarialTraining | None
) -> Tensor:
    """Compute the loss of a batch.

    For methods that follow the gradient, the backward pass of the texts' own half has already run
    when this returns: the gradients of the weights must be zero before the call. The loss includes
    that half as a constant, so that its own backward pass adds only the half of the copies.
    """
    network, label = model.network, labelled.label
    if isinstance(method, HotFlipTraining | NoiseTraining):
        batch = make_batch(labelled.keys, model.tokenizer, model.device, apart=True)
        half, embedded, gradient = clean_half(network, batch, label)
        if isinstance(method, NoiseTraining):
            logits = network.logits(add_noise(embedded, gradient, batch, method.noise), batch)
        else:
            copies = flip_batch(model, labelled.keys, batch, embedded, gradient, method.share)
            logits = network(copies)
        return half + cross_entropy(logits, label) / 2
    clean = cross_entropy(model.logits(labelled.keys), label)
    if not isinstance(method, TypoTraining):
        return clean
    tokenizer = fresh_tokenizer(model.tokenizer)
    keys = tokenizer.encode(labelled.typo_copies(), model.max_words)
    return clean / 2 + cross_entropy(network(make_batch(keys, tokenizer, model.device)), label) / 2


def clean_half(
    network: Classifier, batch: Batch, label: Tensor
) -> tuple[Tensor, Embedded, Embedded]:
    """Run the forward and the backward pass of half the loss of the texts themselves.

    Returns that half, the embeddings with their autograd graph, and the gradient at them.
    """
    embedded = network.embed(batch)
    leaves = Embedded(_leaf(embedded.words), _leaf(embedded.characters))
    half = cross_entropy(network.logits(leaves, batch), label) / 2
    half.backward()  # type: ignore[no-untyped-call]
    pairs = ((embedded.words, leaves.words), (embedded.characters, leaves.characters))
    for vectors, leaf in pairs:
        if vectors is not None and leaf is not None and vectors.requires_grad:
            # The graph is kept: noise is added to these vectors next, and has its backward pass.
            vectors.backward(leaf.grad, retain_graph=True)  # type: ignore[no-untyped-call]
    gradient = Embedded(*(None if leaf is None else leaf.grad for _, leaf in pairs))
    return half.detach(), embedded, gradient


def flip_batch(
    model: NetworkInTraining,
    keys: Sequence[bytes],
    batch: Batch,
    embedded: Embedded,
    gradient: Embedded,
    share: float,
) -> Batch:
    """Flip characters if the network reads characters, else words."""
    network, tokenizer = model.network, model.tokenizer
    words = torch.from_numpy(word_mask(keys, tokenizer)).to(model.device)
    if network.spelling is not None and isinstance(tokenizer, CharacterTokenizer):
        assert gradient.characters is not None
        table = network.spelling.embedding.weight.detach()
        allowed = torch.tensor(letter_ids(tokenizer), dtype=torch.int64, device=model.device)
        return flip_characters(batch, words, gradient.characters, table, allowed, share)
    assert network.embedding is not None and gradient.words is not None
    table = network.embedding.weight.detach()
    return flip_words(batch, words, gradient.words, embedded, table, _first_id(tokenizer), share)


def letter_ids(tokenizer: CharacterTokenizer) -> list[int]:
    """List the ids of letters and digits; a flip to one of these leaves a word one word."""
    numbered = enumerate(tokenizer.alphabet, UNKNOWN_CHARACTER + 1)
    return [i for i, c in numbered if c.isalnum() and is_word(c)]


def word_mask(
    keys: Sequence[bytes], tokenizer: Tokenizer
) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Mark the words of a batch (texts × words), without padding and the separator of a pair.

    A text without words is encoded as one hole, which is not marked. Sides that are read apart are
    rows of their own.
    """
    ids, length = pad_keys(split_rows(keys, tokenizer))
    words: np.ndarray[tuple[int, ...], np.dtype[np.bool_]] = ids >= _first_id(tokenizer)
    words |= (ids == UNKNOWN) & (length > 1)[:, None]
    return words


def fresh_tokenizer(tokenizer: Tokenizer) -> Tokenizer:
    """Return a tokenizer for texts that are read only once: their spellings are not remembered."""
    if isinstance(tokenizer, WordTokenizer):
        return tokenizer
    return CharacterTokenizer(
        tokenizer.alphabet, tokenizer.spelling, tokenizer.vocabulary, both=tokenizer.both
    )


def _first_id(tokenizer: Tokenizer) -> int:
    """Return the first id of a real word or spelling, after padding, hole and separator."""
    return SEPARATOR + 1 if tokenizer.pairs else SEPARATOR


def _leaf(vectors: Tensor | None) -> Tensor | None:
    return None if vectors is None else vectors.detach().requires_grad_()


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
