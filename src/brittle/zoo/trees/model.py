"""A trained TreeLSTM on pairs, ready to score. This file needs torch."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from brittle.errors import UsageError
from brittle.ranking.whole_rows import WholeRows
from brittle.text import HOLE, Text, Word, words_of
from brittle.zoo import folder as folders
from brittle.zoo.device import cores, torch_device
from brittle.zoo.families import restore_settings
from brittle.zoo.folder import Card
from brittle.zoo.restoring import load_network
from brittle.zoo.threads import ThreadUse
from brittle.zoo.tokenizers.words import WordTokenizer
from brittle.zoo.trees.network import TreeBatch, TreeClassifier, make_forest
from brittle.zoo.trees.parsing import open_parser

PAIRS_PER_CALL = 128
HOLE_WORD = "something"  # what a parser reads for a masked word, and for a side without words
Tree = tuple[tuple[int, ...], tuple[int, ...]]
"""The ids of the words of a sentence, and their heads."""


class TreeEncoder:
    """From pairs to keys: the trees of both sides, as int32.

    A key is the number of words of the first side, their ids and heads, and those of the second.
    """

    def __init__(self, vocabulary: WordTokenizer, reads: int, parser: Any = None) -> None:
        self.vocabulary, self.reads = vocabulary, reads
        self.parser = parser or open_parser()

    def encode(self, items: Sequence[Text]) -> list[bytes]:
        sides = [side[: self.reads] for text in items for side in sides_of(text)]
        parsed = self.parser.heads(
            [tuple(HOLE_WORD if word is HOLE else str(word) for word in side) for side in sides]
        )
        token_id = self.vocabulary.token_id
        rows = [[*map(token_id, side), *heads] for side, heads in zip(sides, parsed)]
        return [
            array("i", (len(first) // 2, *first, *second)).tobytes()
            for first, second in zip(rows[::2], rows[1::2])
        ]


def sides_of(text: Text) -> list[Sequence[Word]]:
    """Return the words of both sides of a pair; a side of no words is one hole."""
    fields = text.frame.fields
    if len(fields) != 2:
        raise UsageError(
            f"Got a text of {len(fields)} fields ({', '.join(field.name for field in fields)}) for "
            "a model that reads the two sides of a pair. Name two columns with --text FIRST,SECOND."
        )
    return [
        (words_of(field.raw) if field.raw is not None else text.words[start:stop]) or [HOLE]
        for field, (start, stop) in zip(fields, text.frame.spans)
    ]


def trees_of(keys: Sequence[bytes]) -> list[Tree]:
    """Return the trees of both sides of every key, one after the other."""
    trees: list[Tree] = []
    for key in keys:
        first, *numbers = array("i", key)
        second = len(numbers) // 2 - first
        middle = 2 * first
        trees.append((tuple(numbers[:first]), tuple(numbers[first:middle])))
        trees.append((tuple(numbers[middle : middle + second]), tuple(numbers[middle + second :])))
    return trees


def forest_of(trees: Sequence[Tree], device: str) -> TreeBatch:
    """Build the forest of some trees."""
    return make_forest([words for words, _ in trees], [heads for _, heads in trees], device)


class TreeModel:
    """A TreeLSTM in evaluation mode, with its vocabulary and a parser."""

    def __init__(self, network: TreeClassifier, encoder: TreeEncoder, device: str = "auto") -> None:
        self.device = torch_device(device)
        self.network = network.to(self.device).eval()
        self.encoder, self.vocabulary = encoder, encoder.vocabulary
        on_cpu = self.device == "cpu"
        self.parallel = cores() if on_cpu else 1
        self.batch = PAIRS_PER_CALL
        self._threads = ThreadUse(1) if on_cpu else None

    def encode(self, items: Sequence[Text]) -> list[bytes]:
        return self.encoder.encode(items)

    def logits(self, keys: Sequence[bytes]) -> NDArray[np.float32]:
        """Compute logits; a side that many pairs have, such as a premise, is read once."""
        number: dict[Tree, int] = {}
        sides = [number.setdefault(tree, len(number)) for tree in trees_of(keys)]
        with torch.inference_mode(), WholeRows():
            vectors = self.network.sentence_vectors(forest_of(list(number), self.device))
            u, v = vectors[sides[::2]], vectors[sides[1::2]]
            rows: NDArray[np.float32] = self.network.pair_logits(u, v).cpu().numpy()
        return rows

    def close(self) -> None:
        """Let torch use as many threads as without this model."""
        if self._threads is not None:
            self._threads.close()


def open_tree_model(folder: Path, card: Card, device: str, hole_id: int) -> TreeModel:
    """Load a TreeLSTM as its card says."""
    settings = restore_settings(card)
    vocabulary = WordTokenizer(folders.load_words(folder / folders.VOCABULARY_FILE), hole_id)
    network = load_network(
        folder, lambda: TreeClassifier(card.parts, settings, len(vocabulary), len(card.labels))
    )
    return TreeModel(network, TreeEncoder(vocabulary, settings.max_length), device)
