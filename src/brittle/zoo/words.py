"""A trained network over words, ready to score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from brittle.errors import UsageError
from brittle.text import Text
from brittle.zoo.cnn import FastCnn
from brittle.zoo.device import cores, torch_device
from brittle.zoo.grid import WordNetwork
from brittle.zoo.lstm import FastLstm
from brittle.zoo.networks import Convolutions, LastState, WordClassifier, build, padded
from brittle.zoo.vocabulary import Vocabulary

WORDS = 1 << 15  # of one forward pass, with padding: more needs memory and is no faster

BATCH = 512  # rows of one call: the more texts begin alike, the fewer steps there are to take
FEW = 8  # rows: below, torch's own pass is quicker than ours, which pays for every step in Python


class WordModel:
    """A network in evaluation mode with its vocabulary.

    On the CPU every core takes a call of its own, on one thread of torch's: two calls side by side
    are faster than one call on two threads, which wait for each other at every step.
    """

    def __init__(
        self, network: WordClassifier, vocabulary: Vocabulary, reads: int, device: str = "auto"
    ) -> None:
        self.device = torch_device(device)
        self.network = network.to(self.device).eval()
        self.vocabulary = vocabulary
        self.reads = reads
        on_cpu = self.device == "cpu"
        self.parallel = cores() if on_cpu else 1
        self.batch = BATCH
        self._threads = torch.get_num_threads()
        if on_cpu:
            torch.set_num_threads(1)
        self._fast = _fast(network) if on_cpu else None

    def encode(self, items: Sequence[Text]) -> list[bytes]:
        return self.vocabulary.sequences(items, self.reads)

    def logits(self, keys: Sequence[bytes]) -> NDArray[np.float32]:
        """Score in passes of a bounded number of words, the texts sorted by length."""
        passes = list(_passes(keys))
        if len(passes) == 1:
            return self._pass(keys)
        first = self._pass([keys[i] for i in passes[0]])
        logits = np.empty((len(keys), first.shape[1]), dtype=np.float32)
        logits[passes[0]] = first
        for rows in passes[1:]:
            logits[rows] = self._pass([keys[i] for i in rows])
        return logits

    def close(self) -> None:
        """Give torch back the threads it had."""
        torch.set_num_threads(self._threads)

    def _pass(self, keys: Sequence[bytes]) -> NDArray[np.float32]:
        if self._fast is not None and len(keys) >= FEW:
            return self._fast.logits(keys)
        with torch.inference_mode():
            rows = [np.frombuffer(key, dtype=np.int32).astype(np.int64) for key in keys]
            logits: NDArray[np.float32] = self.network(*padded(rows, self.device)).cpu().numpy()
        return logits


def _fast(network: WordClassifier) -> FastLstm | FastCnn | None:
    """Give the quick way to score this network, if there is one."""
    if isinstance(network.encoder, Convolutions):
        return FastCnn(network)
    if isinstance(network.encoder, LastState) and network.encoder.lstm.num_layers == 1:
        return FastLstm(network)
    return None


def _passes(keys: Sequence[bytes]) -> Iterator[list[int]]:
    length = [len(key) >> 2 for key in keys]
    rows: list[int] = []
    for row in sorted(range(len(keys)), key=length.__getitem__):
        if rows and length[row] * (len(rows) + 1) > WORDS:
            yield rows
            rows = []
        rows.append(row)
    yield rows


def restored(
    parts: Mapping[str, Any],
    settings: Mapping[str, Any],
    labels: int,
    vocabulary: Vocabulary,
    tensors: Mapping[str, NDArray[Any]],
    device: str,
) -> WordModel:
    """Build a network as its card says, with the weights of its file."""
    chosen = WordNetwork(**{**settings, "widths": tuple(settings["widths"])})
    network = build(parts, chosen, len(vocabulary), labels)
    weights = {name: torch.from_numpy(np.array(tensor)) for name, tensor in tensors.items()}
    try:
        network.load_state_dict(weights)
    except RuntimeError as error:
        raise UsageError(" ".join(str(error).split())) from error
    return WordModel(network, vocabulary, chosen.reads, device)
