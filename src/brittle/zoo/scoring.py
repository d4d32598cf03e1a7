"""A trained network, ready to score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from brittle.errors import UsageError
from brittle.text import Text
from brittle.zoo.batches import Tokenizer, make_batch, pad_keys, split_by_words
from brittle.zoo.device import cores, torch_device
from brittle.zoo.fast.cnn import FastCnn
from brittle.zoo.fast.lstm import FastLstm
from brittle.zoo.fast.word_vectors import WordVectorCache, word_vector_cache
from brittle.zoo.layers.encoders import CNNEncoder, LSTMEncoder
from brittle.zoo.layers.heads import Last, Maximum
from brittle.zoo.names.settings import NetworkSettings
from brittle.zoo.networks import Classifier, build
from brittle.zoo.tokenizers.characters import UNKNOWN_CHARACTER, CharacterTokenizer
from brittle.zoo.tokenizers.words import WordTokenizer

MAX_WORDS_PER_PASS = (
    1 << 15
)  # of one forward pass, with padding: more needs memory and is no faster
TEXTS_PER_CALL = (
    512  # rows of one call: the more texts begin alike, the fewer steps there are to take
)
MIN_TEXTS_FOR_FAST_PASS = (
    8  # rows: below, torch's own pass is quicker than ours, which pays for every step in Python
)


class NetworkModel:
    """A network in evaluation mode with what reads texts for it.

    On the CPU every core takes a call of its own, on one thread of torch's: two calls side by side
    are faster than one call on two threads, which wait for each other at every step.
    """

    def __init__(
        self, network: Classifier, reader: Tokenizer, reads: int, device: str = "auto"
    ) -> None:
        self.device = torch_device(device)
        self.network = network.to(self.device).eval()
        self.reader = reader
        self.reads = reads
        on_cpu = self.device == "cpu"
        self.parallel = cores() if on_cpu else 1
        self.batch = TEXTS_PER_CALL
        self._threads = torch.get_num_threads()
        if on_cpu:
            torch.set_num_threads(1)
        self._fast = _fast(network, reader) if on_cpu else None
        self._spelt = _spelt(network, reader) if on_cpu else None

    @property
    def vocabulary(self) -> WordTokenizer:
        return self.reader if isinstance(self.reader, WordTokenizer) else self.reader.vocabulary

    def encode(self, items: Sequence[Text]) -> list[bytes]:
        return self.reader.encode(items, self.reads)

    def logits(self, keys: Sequence[bytes]) -> NDArray[np.float32]:
        """Score in passes of a bounded number of words, the texts sorted by length."""
        parts = list(split_by_words(keys, MAX_WORDS_PER_PASS))
        if len(parts) == 1:
            return self._pass(keys)
        first = self._pass([keys[i] for i in parts[0]])
        logits = np.empty((len(keys), first.shape[1]), dtype=np.float32)
        logits[parts[0]] = first
        for rows in parts[1:]:
            logits[rows] = self._pass([keys[i] for i in rows])
        return logits

    def close(self) -> None:
        """Give torch back the threads it had."""
        torch.set_num_threads(self._threads)

    def _pass(self, keys: Sequence[bytes]) -> NDArray[np.float32]:
        if self._fast is not None and len(keys) >= MIN_TEXTS_FOR_FAST_PASS:
            return self._fast.logits(keys)
        with torch.inference_mode():
            if self._spelt is not None:
                rows, length = pad_keys(keys)
                vectors, position = self._spelt.of(rows)
                out = self.network.judged(vectors[position], torch.from_numpy(length))
            else:
                out = self.network(make_batch(keys, self.reader, self.device))
            logits: NDArray[np.float32] = out.cpu().numpy()
        return logits


def _fast(network: Classifier, reader: Tokenizer) -> FastLstm | FastCnn | None:
    """Give the quick way to score this network, if there is one."""
    encoder, head = network.encoder, network.pool
    if isinstance(encoder, CNNEncoder) and isinstance(head, Maximum) and not encoder.below:
        return FastCnn(network, reader)
    if isinstance(encoder, LSTMEncoder) and isinstance(head, Last):
        return FastLstm(network, reader)
    return None


def _spelt(network: Classifier, reader: Tokenizer) -> WordVectorCache | None:
    """Keep the vectors of spellings; to look words up in a vocabulary is as quick as it can be."""
    return None if isinstance(reader, WordTokenizer) else word_vector_cache(network, reader)


def build_tokenizer(
    parts: Mapping[str, Any],
    settings: NetworkSettings,
    vocabulary: WordTokenizer,
    alphabet: Sequence[str],
) -> Tokenizer:
    """Give what reads texts for a network of these parts."""
    if parts["input"] == "W":
        return vocabulary
    return CharacterTokenizer(alphabet, settings.spelling, vocabulary, both=parts["input"] == "WC")


def restore_network(
    parts: Mapping[str, Any],
    settings: Mapping[str, Any],
    labels: int,
    vocabulary: WordTokenizer,
    alphabet: Sequence[str],
    tensors: Mapping[str, NDArray[Any]],
    device: str,
) -> NetworkModel:
    """Build a network as its card says, with the weights of its file."""
    chosen = NetworkSettings(**{**settings, "widths": tuple(settings["widths"])})
    network = build(parts, chosen, len(vocabulary), len(alphabet) + UNKNOWN_CHARACTER + 1, labels)
    own = {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}
    given = {name: tensor.shape for name, tensor in tensors.items()}
    wrong = [name for name in own | given if own.get(name) != given.get(name)]
    if wrong:
        raise UsageError(
            f"{len(wrong)} tensors are missing, strange or of another shape, such as {wrong[0]!r}"
        )
    network.load_state_dict({n: torch.from_numpy(np.array(t)) for n, t in tensors.items()})
    return NetworkModel(
        network, build_tokenizer(parts, chosen, vocabulary, alphabet), chosen.reads, device
    )
