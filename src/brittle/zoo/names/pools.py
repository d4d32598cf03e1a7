"""Pools of models that are declared by name: the 63 of the transfer study, and smaller ones.

A factor of a study needs models that differ in it alone, so a pool is a product of parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from brittle.errors import unknown
from brittle.zoo.names.grid import LAYERS

ARCHITECTURES = ("LSTM", "BiLSTM", "CNN")
WORD_INPUTS = ("W-Random", "W-GloVe", "W-word2vec", "W-fastText")
INPUTS = (*WORD_INPUTS, "C-Random", "WC-ELMo")
HUB_ENCODERS = ("hf:bert-base-uncased", "hf:roberta-base", "hf:albert-base-v2")
PACKAGE_ENCODERS = ("MiniLM", "MiniLM-3", "BERT-NOPT")
"""The encoders that install as packages; the first two are cut and tuned from one pretrained."""


def _grid(inputs: Sequence[str], layers: Mapping[str, Sequence[int]]) -> tuple[str, ...]:
    return tuple(
        f"{architecture}-{reads}-{depth}"
        for architecture, reads in product(ARCHITECTURES, inputs)
        for depth in layers[architecture]
    )


POOLS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "paper": (
        "the 63 models of the transfer study; its BERT, RoBERTa and ALBERT come from the hub",
        (*_grid(INPUTS, LAYERS), *HUB_ENCODERS),
    ),
    "offline": (
        "the same 60 networks, and three encoders that install as packages",
        (*_grid(INPUTS, LAYERS), *PACKAGE_ENCODERS),
    ),
    "small": (
        "one and two layers, four kinds of input, and the three encoders",
        (
            *_grid(
                ("W-Random", "W-GloVe", "C-Random", "WC-ELMo"),
                dict.fromkeys(ARCHITECTURES, (1, 2)),
            ),
            *PACKAGE_ENCODERS,
        ),
    ),
}
"""By name: what a pool is, and its models."""


def pool_models(name: str) -> tuple[str, ...]:
    """Return the names of the models of a declared pool.

    >>> len(pool_models("paper")), len(pool_models("small"))
    (63, 27)
    """
    if name not in POOLS:
        raise unknown("pool", name, POOLS, "Or name a file with a target a line: pool:FILE.")
    return POOLS[name][1]
