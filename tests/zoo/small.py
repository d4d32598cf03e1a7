"""Networks of the grid with random weights, small enough for a test, and texts for them."""

from __future__ import annotations

from itertools import combinations
from random import Random
from typing import Any

import numpy as np

from brittle.text import Text
from brittle.zoo.names import grid
from brittle.zoo.names.grid import Design
from brittle.zoo.names.settings import LanguageModelSettings, NetworkSettings

LABELS = 3
KNOWN = [f"{start}{end}" for start in "abcdefgh" for end in ("", "ing", "tion", "-x", "é")]


BAG = ("a", "b", "c", "d", "e", "f", "g", "h")
"""The words that `bag_of_words` knows."""


def bag_of_words(seed: int, classes: int, spread: float = 1.0) -> Any:
    """A target that sums random weights of words; those that it does not know weigh nothing."""
    from brittle.targets.zoo.target import AdditiveZooTarget
    from brittle.zoo.model import Linear
    from brittle.zoo.tokenizers import WordTokenizer

    random = np.random.default_rng(seed)
    weight = spread * random.normal(size=(2 + len(BAG), classes)).round(1)
    words = WordTokenizer(["<pad>", "<unknown>", *BAG])
    target = AdditiveZooTarget.__new__(AdditiveZooTarget)
    target.model, target.name = Linear(words, weight, random.normal(size=classes)), "bag"
    target.fingerprint, target.parallel, target.batch = f"{seed} {classes} {spread}", 1, None
    target.labels = tuple(map(str, range(classes)))
    return target


def texts(seed: int = 0, count: int = 24) -> list[Text]:
    """Texts of many lengths: some begin alike, some lie inside others, some are given twice."""
    random = Random(seed)
    words = [*KNOWN, "strange", "ünknown", "supercalifragilisticexpialidocious"]
    fresh = [random.choices(words, k=random.randint(1, 14)) for _ in range(count)]
    alike = [[*row[:k], random.choice(words), *row[k + 1 :]] for row in fresh for k in (0, 3)]
    inside = [row[: len(row) // 2 + 1] for row in fresh]
    rows = [*fresh, *alike, *inside, *fresh[:5], []]
    return [Text.of(" ".join(row)) for row in rows]


def model(design: Design | str, size: str = "tiny", seed: int = 7, **changed: Any) -> Any:
    """A network of the grid with random weights, ready to score on the CPU."""
    import torch

    from brittle.zoo.networks import build
    from brittle.zoo.scoring import NetworkModel, build_tokenizer
    from brittle.zoo.spellings import UNKNOWN_CHARACTER, CharacterTokenizer
    from brittle.zoo.tokenizers import WordTokenizer

    design = grid.design(design) if isinstance(design, str) else design
    chosen = grid.settings(design, size, **changed)
    assert isinstance(chosen, NetworkSettings)
    known = [Text.of(word) for word in KNOWN]
    vocabulary, alphabet = WordTokenizer.of(known), CharacterTokenizer.alphabet_of(known)
    torch.manual_seed(seed)
    letters = len(alphabet) + UNKNOWN_CHARACTER + 1
    bilm = random_bilm(letters) if design.parts["embedding"] == "ELMo" else None
    network = build(design.parts, chosen, len(vocabulary), letters, LABELS, bilm)
    with torch.no_grad():
        if network.embedding is not None:
            network.embedding.weight.mul_(10)  # so that differences between words are seen
    tokenizer = build_tokenizer(design.parts, chosen, vocabulary, alphabet)
    return NetworkModel(network, tokenizer, chosen.max_length, "cpu")


def random_bilm(letters: int, **changed: Any) -> Any:
    """A frozen biLM with random weights; its states differ much between words."""
    import torch

    from brittle.zoo.layers import BiLM

    chosen = grid.settings(grid.design("biLM"), "tiny", **changed)
    assert isinstance(chosen, LanguageModelSettings)
    bilm = BiLM(chosen, letters)
    with torch.no_grad():
        for weight in bilm.parameters():
            weight.add_(0.2 * torch.randn_like(weight))
        bilm.spelling.embedding.weight[0] = 0.0
    return bilm.requires_grad_(False).eval()


def structures() -> list[Design]:
    """Every network of the grid, but those that differ from another in their word vectors only.

    Networks that read the sides of a pair apart have tests of their own.
    """
    designs: dict[tuple[Any, ...], Design] = {}
    for design in grid.designs():
        if design.kind == "network" and "pair" not in design.parts:
            parts = tuple(value for name, value in design.parts.items() if name != "embedding")
            designs.setdefault(parts, design)
    return list(designs.values())


def covering(designs: list[Design]) -> list[Design]:
    """Choose designs in which every pair of parts that occurs together occurs at least once."""
    pairs = {
        design.name: {
            frozenset(pair)
            for pair in combinations(
                [part for part in design.parts.items() if part[0] != "embedding"], 2
            )
        }
        for design in designs
    }
    missing, chosen = set().union(*pairs.values()), []
    while missing:
        best = max(designs, key=lambda design: len(pairs[design.name] & missing))
        missing -= pairs[best.name]
        chosen.append(best)
    return chosen
