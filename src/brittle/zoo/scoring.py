"""A trained network, ready to score."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from brittle.ranking.top_k import ROWS, whole_rows
from brittle.text import Text
from brittle.zoo import folder as folders
from brittle.zoo.bilm import PART, find_bilm, load_settings, open_bilm
from brittle.zoo.device import cores, torch_device
from brittle.zoo.families import restore_settings
from brittle.zoo.fast.bilm import FastBiLM
from brittle.zoo.fast.cnn import FastCnn, WordVectorCache, word_vector_cache
from brittle.zoo.fast.lstm import FastLstm
from brittle.zoo.folder import Card
from brittle.zoo.layers import CNNEncoder, Last, LSTMEncoder, Maximum
from brittle.zoo.names.settings import NetworkSettings
from brittle.zoo.networks import (
    Classifier,
    Tokenizer,
    build,
    make_row_batch,
    pad_keys,
    split_by_words,
)
from brittle.zoo.restoring import ThreadUse, check_row_length, load_network
from brittle.zoo.spellings import MAX_SPELLINGS, UNKNOWN_CHARACTER, CharacterTokenizer
from brittle.zoo.tokenizers import (
    WordColumns,
    WordTokenizer,
    encode_swaps,
    positions_and_columns,
    side_columns,
    split_sides,
)

MAX_WORDS_PER_PASS = 1 << 15  # with padding: more needs memory and is no faster
TEXTS_PER_CALL = 512  # the more texts begin alike, the more states they share

Read = Callable[[Tensor, Tensor], Tensor]
FastRead = Callable[[Sequence[bytes]], NDArray[np.float32]]


class NetworkModel:
    """A network in evaluation mode, with its tokenizer.

    On the CPU every core runs one call, on one thread of torch's: two calls side by side are faster
    than one call on two threads, which wait for each other at every word.
    """

    def __init__(
        self, network: Classifier, tokenizer: Tokenizer, reads: int, device: str = "auto"
    ) -> None:
        self.device = torch_device(device)
        self.network = network.to(self.device).eval()
        self.tokenizer = tokenizer
        self.reads = reads
        self.on_cpu = self.device == "cpu"
        self.parallel = cores() if self.on_cpu else 1
        self.batch = TEXTS_PER_CALL
        self._fast = _build_fast(network, tokenizer) if self.on_cpu else None
        self._bilm = FastBiLM(network, tokenizer) if self.on_cpu and network.bilm else None
        self._vectors: WordVectorCache | None = None
        if self.on_cpu and self._bilm is None and isinstance(tokenizer, CharacterTokenizer):
            self._vectors = word_vector_cache(network, tokenizer)
        # At the end: a model that cannot be built uses no threads.
        self._threads = ThreadUse(1) if self.on_cpu else None

    @property
    def vocabulary(self) -> WordTokenizer:
        tokenizer = self.tokenizer
        return tokenizer if isinstance(tokenizer, WordTokenizer) else tokenizer.vocabulary

    def encode(self, items: Sequence[Text]) -> list[bytes]:
        return self.tokenizer.encode(items, self.reads)

    def encode_swaps(self, text: Text, key: bytes, swaps: Sequence[tuple[int, str]]) -> list[bytes]:
        """Encode a text with one word swapped, for every pair, from the key of the text."""
        if self.tokenizer.sides:
            return self.encode([text.swap(i, word) for i, word in swaps])
        [(positions, columns)] = self.columns(text)
        return encode_swaps(key, dict(zip(positions, columns)), swaps, self.tokenizer.token_id)

    def words_read(self, items: Sequence[Text]) -> list[Sequence[int]]:
        sides = ([positions for positions, _ in self.columns(text)] for text in items)
        return [by_side[0] if len(by_side) == 1 else [*chain(*by_side)] for by_side in sides]

    def columns(self, text: Text) -> list[WordColumns]:
        """Return the words of a text that are read: of each side, where sides are read apart."""
        if self.tokenizer.sides:
            return side_columns(text, self.reads)
        return [positions_and_columns(text, self.reads, self.vocabulary.pairs)]

    def logits(self, keys: Sequence[bytes]) -> NDArray[np.float32]:
        """Compute logits in passes of a bounded number of words, the texts sorted by length.

        On the CPU the logits of a text do not depend on the other texts: a network whose last
        digits padding would change is given texts of one length.
        """
        if self.tokenizer.sides:
            return self._read_pairs(keys, self.network.head)
        fast = None if self._fast is None else self._fast.logits
        return self._in_passes(keys, self.network.classify, fast)

    def vectors_and_logits(
        self, keys: Sequence[bytes]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Compute the vectors of texts that the last layer reads, and the logits, as `logits` does.

        One pass computes both.
        """
        head = self.network.head

        def with_logits(vectors: Tensor) -> Tensor:
            return torch.cat([vectors, head(vectors)], dim=1)

        def read(vectors: Tensor, length: Tensor) -> Tensor:
            return with_logits(self.network.sentence_vectors(vectors, length))

        if self.tokenizer.sides:
            rows = self._read_pairs(keys, with_logits)
        else:
            fast = None if self._fast is None else self._fast.vectors_and_logits
            rows = self._in_passes(keys, read, fast)
        return rows[:, : head.in_features], rows[:, head.in_features :]

    def _read_pairs(
        self, keys: Sequence[bytes], read: Callable[[Tensor], Tensor]
    ) -> NDArray[np.float32]:
        """Read the joined vectors of pairs; a side that many have, such as a premise, once."""
        number: dict[bytes, int] = {}
        sides = [number.setdefault(side, len(number)) for side in split_sides(keys)]
        pooled = torch.from_numpy(self._in_passes(list(number), self.network.pooled))
        joined = self.network.joined
        assert joined is not None
        with torch.inference_mode():
            u, v = (whole_rows(pooled[sides[n::2]].to(self.device)) for n in (0, 1))
            rows: NDArray[np.float32] = read(joined(u, v))[: len(keys)].cpu().numpy()
        return rows

    def _in_passes(
        self, keys: Sequence[bytes], read: Read, fast: FastRead | None = None
    ) -> NDArray[np.float32]:
        """Compute what `read` makes of vectors of words and lengths, or `fast` of keys."""
        if self._bilm is not None:
            return self._bilm.read(keys, read)
        one_length = self.on_cpu and fast is None and not self.network.ignores_padding
        parts = list(split_by_words(keys, MAX_WORDS_PER_PASS, one_length))
        if len(parts) == 1:
            return self._pass(keys, read, fast)
        sorted_rows = np.concatenate(
            [self._pass([keys[i] for i in rows], read, fast) for rows in parts]
        )
        in_order = np.empty_like(sorted_rows)
        in_order[np.concatenate(parts)] = sorted_rows
        return in_order

    def close(self) -> None:
        """Let torch use as many threads as without this model."""
        if self._threads is not None:
            self._threads.close()

    def _pass(
        self, keys: Sequence[bytes], read: Read, fast: FastRead | None
    ) -> NDArray[np.float32]:
        if fast is not None:
            return fast(keys)
        count = len(keys)
        if self.on_cpu:
            keys = [*keys, *[keys[-1]] * (-count % ROWS)]
        with torch.inference_mode():
            if self._vectors is not None:
                ids, length = pad_keys(keys)
                vectors, rows = self._vectors.look_up(ids)
                out = read(vectors[rows], torch.from_numpy(length))
            else:
                batch = make_row_batch(keys, self.tokenizer, self.device)
                vectors = self.network.vectors(self.network.embed(batch), batch)
                out = read(self.network.encoder_input(vectors, batch.length), batch.length)
            computed: NDArray[np.float32] = out[:count].cpu().numpy()
        return computed


def _build_fast(network: Classifier, tokenizer: Tokenizer) -> FastLstm | FastCnn | None:
    """Build the fast forward pass of this network, if there is one."""
    encoder, head = network.encoder, network.pool
    if network.joined is not None or network.bilm is not None:
        return None
    if isinstance(encoder, CNNEncoder) and isinstance(head, Maximum) and not encoder.below:
        return FastCnn(network, tokenizer)
    if isinstance(encoder, LSTMEncoder) and isinstance(head, Last):
        return FastLstm(network, tokenizer)
    return None


def build_tokenizer(
    parts: Mapping[str, Any],
    settings: NetworkSettings,
    vocabulary: WordTokenizer,
    alphabet: Sequence[str],
    spelling: int | None = None,
) -> Tokenizer:
    """Build the tokenizer of a network; one with ELMo reads words as spelt by its biLM."""
    if "pair" in parts:
        vocabulary = WordTokenizer(vocabulary.words, vocabulary.hole_id, sides=True)
    if parts["input"] == "W":
        return vocabulary
    both = parts["input"] == "WC" and parts["embedding"] != "ELMo"
    return CharacterTokenizer(alphabet, spelling or settings.max_word_length, vocabulary, both=both)


def open_network(folder: Path, card: Card, device: str, hole_id: int) -> NetworkModel:
    """Load a network as its card says; one with ELMo reads the biLM that its card names."""
    parts, settings = card.parts, restore_settings(card)
    vocabulary = WordTokenizer(folders.load_words(folder / folders.VOCABULARY_FILE), hole_id)
    reads_characters = "C" in parts["input"]
    alphabet = folders.load_words(folder / folders.ALPHABET_FILE) if reads_characters else []
    characters = len(alphabet) + UNKNOWN_CHARACTER + 1
    bilm, spelling = None, None
    if PART in parts:
        bilm_folder = find_bilm(parts, folder.parent)
        bilm = open_bilm(bilm_folder, torch_device(device))
        spelling = load_settings(bilm_folder).max_word_length
    check_row_length("max_word_length", spelling or settings.max_word_length)
    network = load_network(
        folder,
        lambda: build(parts, settings, len(vocabulary), characters, len(card.labels), bilm),
        layers=max(int(parts["layers"]), settings.highways, len(settings.widths)),
    )
    tokenizer = build_tokenizer(parts, settings, vocabulary, alphabet, spelling)
    if isinstance(tokenizer, CharacterTokenizer):
        tokenizer.max_spellings = MAX_SPELLINGS
    return NetworkModel(network, tokenizer, settings.max_length, device)
