"""The models that can be trained, by name, put together from declared parts.

Networks are named ENCODER-INPUT-EMBEDDING-LAYERS, such as `LSTM-W-GloVe-2`, and, where their head
is not the encoder's own, with that as a fifth part, such as `BiLSTM-W-Random-1-attention`.
A new part enters one of the tables below and brings all its combinations. A contextual one, such as
the states of a bidirectional language model, would be a line of `EMBEDDINGS`, made by the network's
`vectors` from whole texts; all that is kept a word at a time (vectors.py) would then not apply.

Any encoder that transformers can load is a model as well: `hf:NAME`, or a folder with config.json.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, Literal

from brittle.errors import UsageError, unknown
from brittle.zoo.names import changes
from brittle.zoo.names.settings import (
    DEFAULT,
    PAPER,
    FineTuningSettings,
    ModelSettings,
    NetworkSettings,
)

ModelKind = Literal["linear", "network", "transformer"]

ENCODER_NAMES = {
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
HEAD_NAMES = {
    "last": "read at the last word",
    "max": "each feature at its maximum",
    "mean": "the mean over the words",
    "attention": "a weighted mean over the words",
}
LAYERS = {"LSTM": (1, 2, 4), "BiLSTM": (1, 2, 4), "CNN": (1, 2, 4, 6), "Transformer": (1, 2, 3, 6)}
DEFAULT_HEAD = {"LSTM": "last", "BiLSTM": "last", "CNN": "max", "Transformer": "mean"}
SIZES = ("default", "tiny", "paper")
HUB_PREFIX = "hf:"
GLOVE_SIZE = 50


@dataclass(frozen=True)
class Design:
    """One model of the grid: its name, its kind, and the parts it is made of.

    `encoder` is where a pretrained one that the grid does not name comes from.
    """

    name: str
    kind: ModelKind
    about: str
    parts: Mapping[str, str | int] = field(default_factory=dict)
    encoder: str = ""


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
        for encoder, read, vectors in product(ENCODER_NAMES, INPUTS, EMBEDDINGS)
        if read != "C" or vectors == "Random"  # a model of characters has no word vectors
        for layers, head in product(LAYERS[encoder], HEAD_NAMES)
    ]


def _network(encoder: str, read: str, vectors: str, layers: int, head: str) -> Design:
    name = f"{encoder}-{read}-{vectors}-{layers}"
    name = name if head == DEFAULT_HEAD[encoder] else f"{name}-{head}"
    parts = _parts(encoder, read, vectors, layers, head)
    return Design(name, "network", _told(parts), parts)


def _parts(encoder: str, read: str, vectors: str, layers: int, head: str) -> dict[str, str | int]:
    told = {"encoder": encoder, "input": read, "embedding": vectors}
    return {**told, "layers": layers, "head": head}


def _told(parts: Mapping[str, Any]) -> str:
    layers = "1 layer" if parts["layers"] == 1 else f"{parts['layers']} layers"
    read = INPUTS[parts["input"]]
    vectors = "" if parts["input"] == "C" else f", {EMBEDDINGS[parts['embedding']]}"
    return (
        f"{ENCODER_NAMES[parts['encoder']]}, {layers}, {HEAD_NAMES[parts['head']]}; {read}{vectors}"
    )


NAMED: Mapping[str, tuple[str, Mapping[str, str | int]]] = {
    "CharCNN-LSTM": ("Kim et al. (2016)", _parts("LSTM", "C", "Random", 2, "last")),
    "Kim-CNN": ("Kim (2014)", _parts("CNN", "W", "GloVe", 1, "max")),
    "BiLSTM-attention": ("Yang et al. (2016)", _parts("BiLSTM", "W", "GloVe", 1, "attention")),
    "Transformer": ("as small as it can be", _parts("Transformer", "W", "Random", 3, "mean")),
}
"""Models with a name of their own: whose they are, and the parts they are made of."""


def design(name: str) -> Design:
    """Find a model by its name, whatever its case; `hf:NAME` and folders are encoders to tune."""
    name = name.strip()
    known = {design.name.lower(): design for design in designs()}
    found = known.get(name.lower())
    if found is not None:
        return found
    if name.startswith(HUB_PREFIX) and name != HUB_PREFIX:
        return _encoder(name, name.removeprefix(HUB_PREFIX))
    folder = Path(name)
    if name and (folder / "config.json").is_file():
        # A model is listed under its folder's name, as a data file under its stem.
        if folder.resolve().name.lower() in known:
            raise UsageError(
                f"The folder {name!r} has the name of a model of the zoo. Rename the folder: its "
                "name becomes the model's."
            )
        return _encoder(folder.resolve().name, name)
    if name and folder.is_dir():
        raise UsageError(
            f"The folder {name!r} holds no config.json, so it is no transformers encoder to tune."
        )
    near = [n for n in (d.name for d in known.values()) if len(n) < len(name) + 12]
    raise unknown("model", name, near, "brittle list models shows how names are made.")


def _encoder(name: str, source: str) -> Design:
    return Design(name, "transformer", f"the encoder {name}, tuned", encoder=source)


def settings(design: Design, size: str = "default", **changed_settings: Any) -> ModelSettings:
    """Give the settings a model is built and trained with at this size, some of them changed.

    `tiny` is for trying things out: it trains in a moment and is not accurate. `paper` is the size
    of the paper a model comes from, where one says it.
    """
    chosen = changes.with_changes(design.name, _sized(design, size), changed_settings)
    if isinstance(chosen, NetworkSettings):
        if design.parts["embedding"] == "GloVe" and chosen.embedding != GLOVE_SIZE:
            raise UsageError(
                f"{design.name} begins with GloVe vectors of {GLOVE_SIZE} numbers, but the setting "
                f"embedding is {chosen.embedding}. Leave it as it is, or take word2vec or Random."
            )
        if design.parts["encoder"] == "Transformer" and chosen.hidden % chosen.heads:
            raise UsageError(
                f"{design.name} parts its hidden size among its heads, but {chosen.hidden} is no "
                f"multiple of {chosen.heads}. Change the setting hidden, or heads."
            )
    return chosen


def parse_settings(
    design: Design, size: str = "default", given: Iterable[str] = ()
) -> ModelSettings:
    """Give the settings of a model with some of them changed by texts such as `hidden=64`."""
    read = changes.parse_settings(design.name, _sized(design, size), given)
    return settings(design, size, **read)


def changed_settings(design: Design, size: str, settings: ModelSettings) -> dict[str, Any]:
    """Give the settings that are not those of the model at this size, as plain values."""
    return changes.changed_settings(settings, _sized(design, size))


def as_json(settings: ModelSettings) -> dict[str, Any]:
    """Give the settings as plain values, as they stand in JSON."""
    return changes.as_json(settings)


def _sized(design: Design, size: str) -> ModelSettings:
    if size not in SIZES:
        raise unknown("size", size, SIZES)
    if design.encoder:
        chosen: ModelSettings = FineTuningSettings(encoder=design.encoder)
    else:
        encoder = str(design.parts.get("encoder"))
        names = (design.name, f"{encoder}-{design.parts.get('layers')}", encoder)
        chosen = next(DEFAULT[name] for name in names if name in DEFAULT)
    if isinstance(chosen, NetworkSettings) and design.parts["embedding"] == "GloVe":
        chosen = replace(chosen, embedding=GLOVE_SIZE)
    if size == "paper":
        chosen = PAPER.get(design.name, chosen)
    elif size == "tiny" and isinstance(chosen, NetworkSettings):
        chosen = replace(
            chosen,
            embedding=GLOVE_SIZE if design.parts["embedding"] == "GloVe" else 12,
            character_embedding=8,
            kernels=16,
            hidden=16,
            heads=2,
            filters=8,
            rate=1e-2,
            batch=8,
            epochs=4,
        )
    elif size == "tiny" and isinstance(chosen, FineTuningSettings):
        chosen = replace(chosen, reads=32, batch=8, epochs=1, frozen=5)
    return chosen
