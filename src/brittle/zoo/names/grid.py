"""The models that can be trained, by name, and the pools of them.

The models that can be trained, by name; most are combinations of declared parts.

Networks are named ENCODER-INPUT-EMBEDDING-LAYERS, such as `LSTM-W-GloVe-2`. A head that is not the
encoder's default is a fifth part: `BiLSTM-W-Random-1-attention`. A network that reads the two sides
of a pair apart says so at the end: `BiLSTM-W-GloVe-1-pair`; all others read a pair as one sequence.
A new entry in one of the tables below adds all its combinations.

Any encoder that transformers can load is a model as well: `hf:NAME`, or a folder with config.json.
Pools of models that are declared by name: the 63 of the transfer study, and smaller ones. A factor
of a study needs models that differ in it alone, so a pool is a product of parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from brittle.errors import UsageError, unknown
from brittle.formatting import plural
from brittle.zoo import families
from brittle.zoo.families import Family
from brittle.zoo.names import changes
from brittle.zoo.names.settings import ModelSettings
from brittle.zoo.names.sizes import sized_settings

as_json = changes.as_json

ENCODER_NAMES = {
    "Average": "the mean of the word vectors",
    "LSTM": "an LSTM",
    "BiLSTM": "LSTMs in both directions",
    "CNN": "convolutions of 3, 4 and 5 words",
    "Transformer": "self-attention without pretraining",
}
INPUTS = {"W": "words", "C": "the characters of each word", "WC": "words and their characters"}
EMBEDDINGS = {
    "Random": "vectors trained from scratch",
    "GloVe": "GloVe vectors",
    "word2vec": "word2vec vectors of the train split",
    "fastText": "fastText vectors of the train split",
    "ELMo": "the mixed layers of a frozen biLM",
}
HEAD_NAMES = {
    "last": "read at the last word",
    "max": "each feature at its maximum",
    "mean": "the mean over the words",
    "attention": "a weighted mean over the words",
}
PAIRS = {
    "pair": "each side of a pair encoded separately, joined as [u; v; |u − v|; u·v]",
    "pair-plain": "each side of a pair encoded separately, joined as [u; v]",
}
LAYERS = {
    "Average": (0,),
    "LSTM": (1, 2, 4),
    "BiLSTM": (1, 2, 4),
    "CNN": (1, 2, 4, 6),
    "Transformer": (1, 2, 3, 6),
}
DEFAULT_HEAD = {
    "Average": "mean",
    "LSTM": "last",
    "BiLSTM": "last",
    "CNN": "max",
    "Transformer": "mean",
}
TREE = "TreeLSTM"
HUB_PREFIX = "hf:"


@dataclass(frozen=True)
class Design:
    """One model of the grid: its name, its family, and its parts.

    `encoder` is the folder or hub name of a pretrained encoder that is not in the grid.
    """

    name: str
    family: Family
    about: str
    parts: Mapping[str, Any] = field(default_factory=dict)
    encoder: str = ""

    @property
    def kind(self) -> str:
        """Return the kind of the model, as it stands on cards."""
        return self.family.kind

    @property
    def has_own_name(self) -> bool:
        """Tell whether the name is not made of the parts alone."""
        return not self.family.has_parts or self.name in NAMED


@cache
def designs() -> tuple[Design, ...]:
    """List every model that can be trained."""
    return (
        Design(
            "naive-bayes",
            families.NAIVE_BAYES,
            "multinomial naive Bayes on words, without class prior",
        ),
        Design(
            "linear-svm",
            families.LINEAR_SVM,
            "linear SVM on words, hinge loss by SGD, Platt-calibrated",
        ),
        *(
            Design(name, families.NETWORK, f"{about}; {_describe(parts)}", parts)
            for name, (about, parts) in NAMED.items()
        ),
        *(Design(name, families.TRANSFORMER, about) for name, about in ENCODER_MODELS.items()),
        Design("biLM", families.LANGUAGE_MODEL, "a bidirectional language model, read by ELMo"),
        *(
            Design(f"seq2seq-{encoder}", families.TRANSLATOR, about, {"encoder": encoder})
            for encoder, about in TRANSLATORS.items()
        ),
        *(
            Design(name, family, f"{about}; pictures")
            for name, (family, about) in PICTURE_MODELS.items()
        ),
        *(
            Design(
                name,
                family,
                f"{about}; a generator of {family.item_kind}s",
                {"item_kind": family.item_kind},
            )
            for name, (family, about) in GENERATORS.items()
        ),
        *(_tree(embedding, pair) for embedding, pair in product(("Random", "GloVe"), PAIRS)),
        *(
            _network(encoder, inputs, embedding, layers, head, pair)
            for encoder, inputs, embedding in product(ENCODER_NAMES, INPUTS, EMBEDDINGS)
            if _fits(inputs, embedding)
            for layers, head, pair in product(LAYERS[encoder], _heads(encoder), ("", *PAIRS))
        ),
    )


def _fits(inputs: str, embedding: str) -> bool:
    """Tell whether an input has this embedding; a model of characters has no word vectors."""
    return inputs == "WC" if embedding == "ELMo" else inputs != "C" or embedding == "Random"


def _heads(encoder: str) -> Iterable[str]:
    return ("mean",) if encoder == "Average" else HEAD_NAMES


def _network(
    encoder: str, inputs: str, embedding: str, layers: int, head: str, pair: str
) -> Design:
    numbers = [str(layers)] if layers else []
    heads = [] if head == DEFAULT_HEAD[encoder] else [head]
    name = "-".join([encoder, inputs, embedding, *numbers, *heads, *([pair] if pair else [])])
    parts = _parts(encoder, inputs, embedding, layers, head) | ({"pair": pair} if pair else {})
    return Design(name, families.NETWORK, _describe(parts), parts)


def _tree(embedding: str, pair: str) -> Design:
    parts = _parts(TREE, "W", embedding, 1, "root") | {"pair": pair}
    about = f"a Child-Sum TreeLSTM on dependency parses; words, {EMBEDDINGS[embedding]}"
    return Design(f"{TREE}-W-{embedding}-{pair}", families.TREE, f"{about}; {PAIRS[pair]}", parts)


def _parts(
    encoder: str, inputs: str, embedding: str, layers: int, head: str
) -> dict[str, str | int]:
    names: dict[str, str | int] = {"encoder": encoder, "input": inputs, "embedding": embedding}
    return names | {"layers": layers, "head": head}


def _describe(parts: Mapping[str, Any]) -> str:
    encoder, head = ENCODER_NAMES[parts["encoder"]], HEAD_NAMES[parts["head"]]
    layers = plural(parts["layers"], "layers")
    embedding = "" if parts["input"] == "C" else f", {EMBEDDINGS[parts['embedding']]}"
    pair = f"; {PAIRS[parts['pair']]}" if "pair" in parts else ""
    return f"{encoder}, {layers}, {head}; {INPUTS[parts['input']]}{embedding}{pair}"


NAMED: Mapping[str, tuple[str, Mapping[str, str | int]]] = {
    "CharCNN-LSTM": ("after Kim et al. (2016)", _parts("LSTM", "C", "Random", 2, "last")),
    "Kim-CNN": ("Kim (2014)", _parts("CNN", "W", "GloVe", 1, "max")),
    "BiLSTM-attention": ("Yang et al. (2016)", _parts("BiLSTM", "W", "GloVe", 1, "attention")),
    "Transformer": ("the smallest possible", _parts("Transformer", "W", "Random", 3, "mean")),
}
"""Models with their own name: their source and their parts."""


ENCODER_MODELS = {
    "MiniLM": "a pretrained 6-layer encoder, fine-tuned",
    "MiniLM-3": "the first 3 layers of MiniLM, fine-tuned",
    "BERT-NOPT": "a 3-layer BERT without pretraining, with the tokens of MiniLM",
}
"""Encoders with their own name; all others have the name of their folder or of the hub."""


TRANSLATORS = {
    "LSTM": "a translator: bidirectional LSTMs and a decoder with attention",
    "Transformer": "a translator with self- and cross-attention, Vaswani et al. (2017)",
}
"""Translators, by their encoder."""


PICTURE_MODELS = {
    "LeNet": (families.PICTURE_NETWORK, "two convolutions, LeCun et al. (1998)"),
    "MLP": (families.PICTURE_NETWORK, "one hidden layer"),
    "forest": (families.FOREST, "a random forest, by scikit-learn"),
}
"""Classifiers of pictures: their family and a description."""


GENERATORS = {
    "WGAN": (
        families.PICTURE_GENERATOR,
        "three convolutions each way and an inverter, Zhao et al. (2018)",
    ),
    "WGAN-residual": (
        families.PICTURE_GENERATOR,
        "four residual blocks each way and an inverter, Zhao et al. (2018)",
    ),
    "VAE": (
        families.SENTENCE_VAE,
        "a variational autoencoder of short sentences",
    ),
    "ARAE": (
        families.SENTENCE_GENERATOR,
        "an autoencoder of short sentences, a GAN of its codes and an inverter",
    ),
}
"""Models that encode and decode items: their family and a description."""


@cache
def _designs_by_name() -> dict[str, Design]:
    return {design.name.lower(): design for design in designs()}


def design(name: str) -> Design:
    """Find a model by its name in any case; `hf:NAME` and folders are encoders to fine-tune."""
    name = name.strip()
    known = _designs_by_name()
    if name.lower() in known:
        return known[name.lower()]
    if name.startswith(HUB_PREFIX) and name != HUB_PREFIX:
        return _encoder(name, name.removeprefix(HUB_PREFIX))
    folder = Path(name)
    if name and (folder / "config.json").is_file():
        # A model is listed under the name of its encoder's folder.
        if folder.resolve().name.lower() in known:
            raise UsageError(
                f"The folder {name!r} has the name of a model of the zoo. Rename the folder: its "
                "name becomes the model's."
            )
        return _encoder(folder.resolve().name, name)
    if name and folder.is_dir():
        raise UsageError(
            f"The folder {name!r} has no config.json, so it is not a transformers encoder "
            "that can be fine-tuned."
        )
    near = [n for n in (d.name for d in known.values()) if len(n) < len(name) + 10]
    raise unknown("model", name, near, "See `brittle list models` for the names.")


def _encoder(name: str, source: str) -> Design:
    return Design(name, families.TRANSFORMER, f"the encoder {name}, fine-tuned", encoder=source)


def settings(design: Design, size: str = "default", **changed: Any) -> ModelSettings:
    """Return the settings of a model at this size, with some of them changed.

    `tiny` trains in a moment and is not accurate. `paper` is the size in the model's paper, as far
    as the paper states it.
    """
    result = changes.with_changes(design.name, _sized(design, size), changed)
    design.family.check(design.name, design.parts, result)
    return result


def parse_settings(
    design: Design, size: str = "default", texts: Iterable[str] = ()
) -> ModelSettings:
    """Return the settings of a model, with some of them changed by texts such as `hidden=64`."""
    changed = changes.parse_settings(design.name, _sized(design, size), texts)
    return settings(design, size, **changed)


def changed_settings(design: Design, size: str, settings: ModelSettings) -> dict[str, Any]:
    """Return the settings that differ from those of the model at this size, as plain values."""
    return changes.changed_settings(settings, _sized(design, size))


def _sized(design: Design, size: str) -> ModelSettings:
    return sized_settings(design.name, design.parts, design.encoder, size)


ARCHITECTURES = ("LSTM", "BiLSTM", "CNN")
WORD_INPUTS = ("W-Random", "W-GloVe", "W-word2vec", "W-fastText")
POOL_INPUTS = (*WORD_INPUTS, "C-Random", "WC-ELMo")
HUB_ENCODERS = ("hf:bert-base-uncased", "hf:roberta-base", "hf:albert-base-v2")
PACKAGE_ENCODERS = ("MiniLM", "MiniLM-3", "BERT-NOPT")
"""The encoders that install as packages; the first two come from one pretrained encoder."""


def _grid(inputs: Sequence[str], layers: Mapping[str, Sequence[int]]) -> tuple[str, ...]:
    return tuple(
        f"{architecture}-{reads}-{depth}"
        for architecture, reads in product(ARCHITECTURES, inputs)
        for depth in layers[architecture]
    )


POOLS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "paper": (
        "the 63 models of the transfer study; BERT, RoBERTa and ALBERT come from the hub",
        (*_grid(POOL_INPUTS, LAYERS), *HUB_ENCODERS),
    ),
    "offline": (
        "the same 60 networks and three encoders that install as packages",
        (*_grid(POOL_INPUTS, LAYERS), *PACKAGE_ENCODERS),
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
"""By name: the description of a pool and its models."""


def pool_models(name: str) -> tuple[str, ...]:
    """Return the names of the models of a declared pool.

    >>> len(pool_models("paper")), len(pool_models("small"))
    (63, 27)
    """
    if name not in POOLS:
        raise unknown("pool", name, POOLS, "Or use a file with one target per line: pool:FILE.")
    return POOLS[name][1]
