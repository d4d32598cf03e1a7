"""The sizes of models: their settings by default, tiny, and in their papers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from brittle.errors import unknown
from brittle.zoo.names.settings import (
    GLOVE_SIZE,
    FineTuningSettings,
    ForestSettings,
    LanguageModelSettings,
    LinearSvmSettings,
    ModelSettings,
    NaiveBayesSettings,
    NetworkSettings,
    PictureGeneratorSettings,
    PictureNetworkSettings,
    SentenceGeneratorSettings,
    SentenceVaeSettings,
    TranslatorSettings,
)

SIZES = ("default", "tiny", "paper")

DEFAULT: Mapping[str, ModelSettings] = {
    "naive-bayes": NaiveBayesSettings(),
    "linear-svm": LinearSvmSettings(),
    # With the settings of one sequence, the BiLSTM of pairs is right in 62 % of SNLI, not in 67 %
    # (benchmarks/pairs.json). A guess at the reason: what entails what hangs on single words.
    "Average-pair": NetworkSettings(dropout=0.3, word_dropout=0.1, learning_rate=2e-3),
    "LSTM-pair": NetworkSettings(dropout=0.3, word_dropout=0.1, learning_rate=2e-3),
    "BiLSTM-pair": NetworkSettings(dropout=0.3, word_dropout=0.1, learning_rate=2e-3),
    "TreeLSTM": NetworkSettings(
        max_length=80, dropout=0.3, word_dropout=0.1, learning_rate=2e-3, max_grad_norm=1.0
    ),
    # At a higher rate or dropout, four layers stay at chance for several epochs.
    "LSTM-4": NetworkSettings(dropout=0.3, learning_rate=2e-3, max_grad_norm=1.0),
    "BiLSTM-4": NetworkSettings(dropout=0.3, learning_rate=2e-3, max_grad_norm=1.0),
    "CNN": NetworkSettings(dropout=0.5, word_dropout=0.1, learning_rate=2e-3),
    "Transformer": NetworkSettings(
        dropout=0.2, word_dropout=0.1, learning_rate=1e-3, warmup=0.1, epochs=8
    ),
    "CharCNN-LSTM": NetworkSettings(
        char_filters=150,
        hidden=100,
        dropout=0.3,
        word_dropout=0.0,
        learning_rate=3e-3,
        max_grad_norm=1.0,
        epochs=8,
    ),
    "biLM": LanguageModelSettings(),
    "MiniLM": FineTuningSettings(),
    "MiniLM-3": FineTuningSettings(layers=3),
    # Planned for 8 epochs, it was best after the second on MR (dev 0.744); with 4 it has 0.760.
    "BERT-NOPT": FineTuningSettings(
        layers=3, pretrained=False, width=128, learning_rate=5e-4, epochs=4
    ),
    # For the 29,000 pairs of Multi30k and an hour of one core.
    "seq2seq-LSTM": TranslatorSettings(layers=2, dropout=0.2, learning_rate=1.5e-3, epochs=10),
    "seq2seq-Transformer": TranslatorSettings(epochs=9),
    "LeNet": PictureNetworkSettings(),
    "MLP": PictureNetworkSettings(hidden=64, epochs=10),
    "forest": ForestSettings(),
    # A quarter of the paper's width.
    "WGAN": PictureGeneratorSettings(),
    "WGAN-residual": PictureGeneratorSettings(
        latent=128, channels=8, batch_size=16, learning_rate=2e-4, steps=2000, inverter_steps=1000
    ),
    # Half an hour of one core on imdb; the figures are on the card of the one that is shipped.
    "ARAE": SentenceGeneratorSettings(),
    "VAE": SentenceVaeSettings(),
}
"""By the name of a model, else by encoder and layers, else by encoder and pair if the sides of a
pair are encoded separately, else by encoder. A network without an entry has the defaults."""

PAPER: Mapping[str, ModelSettings] = {
    # Rate, batch, critic steps and the number of steps of WGAN are those of the authors' code; the
    # betas and the residual one's numbers of steps are our choice.
    "WGAN": PictureGeneratorSettings(
        channels=64,
        critic_steps=5,
        learning_rate=1e-4,
        inverter_rate=1e-4,
        batch_size=80,
        steps=48_000,
        inverter_steps=48_000,
        first_beta=0.9,
        second_beta=0.999,
    ),
    "WGAN-residual": PictureGeneratorSettings(
        latent=128,
        channels=64,
        critic_steps=5,
        learning_rate=1e-4,
        inverter_rate=1e-4,
        batch_size=64,
        steps=48_000,
        inverter_steps=48_000,
    ),
    "CharCNN-LSTM": NetworkSettings(
        char_filters=1000,
        hidden=500,
        dropout=0.5,
        word_dropout=0.0,
        optimizer="sgd",
        learning_rate=1.0,
        max_grad_norm=5.0,
        epochs=25,
        patience=25,
    ),
    # Layers of 1,024 features, two highways and ten epochs are those of Peters et al. (2018). Their
    # LSTMs have 4,096 units, projected to 512, and learn from a billion words.
    "biLM": LanguageModelSettings(
        words=1_000_000_000, vocabulary=100_000, highways=2, hidden=512, epochs=10, patience=10
    ),
    # Hsieh et al. (2019) name 2 layers of 512 for the LSTM and 6 layers for the Transformer.
    "seq2seq-LSTM": TranslatorSettings(
        subwords=32_000, hidden=512, layers=2, dropout=0.3, batch_subwords=8000, epochs=20
    ),
    "seq2seq-Transformer": TranslatorSettings(
        subwords=32_000,
        hidden=512,
        layers=6,
        heads=8,
        feed_forward=2048,
        learning_rate=7e-4,
        batch_subwords=8000,
        epochs=20,
    ),
    # As in the authors' code; the number of steps is ours (15 epochs of theirs are many more).
    "ARAE": SentenceGeneratorSettings(
        vocabulary=11_000,
        min_count=1,
        encoder="cnn",
        embedding=300,
        filters=(500, 700, 1000),
        hidden=300,
        latent=100,
        layers=(300, 300),
        sampled=0,
        noise=0.2,
        more_rounds=(2, 4, 6),
        optimizer="sgd",
        learning_rate=1.0,
        generator_rate=5e-5,
        critic_rate=1e-5,
        critic="clamp",
        clamp=0.01,
        critic_steps=5,
        batch_size=32,
        steps=100_000,
        check_every=1_000,
        patience=10,
        generator_steps=0,
        inverter_rate=1e-5,
        inverter_steps=50_000,
    ),
    "Kim-CNN": NetworkSettings(
        dropout=0.5, word_dropout=0.0, embedding=50, batch_size=50, epochs=25, learning_rate=1e-3
    ),
    "LSTM-W-GloVe-1": NetworkSettings(
        max_length=250,
        embedding=50,
        hidden=64,
        dropout=0.25,
        word_dropout=0.0,
        learning_rate=3e-3,
        max_grad_norm=1.0,
        batch_size=24,
        epochs=3,
    ),
}
"""By the name of a model; values that its paper does not give, such as a rate, are our choice."""

TINY: Mapping[type[ModelSettings], Mapping[str, Any]] = {
    NaiveBayesSettings: {},
    LinearSvmSettings: {},
    ForestSettings: {},
    NetworkSettings: {
        "embedding": 12,
        "character_embedding": 8,
        "char_filters": 16,
        "hidden": 16,
        "heads": 2,
        "filters": 8,
        "learning_rate": 1e-2,
        "batch_size": 8,
        "epochs": 4,
    },
    TranslatorSettings: {
        "subwords": 300,
        "min_count": 1,
        "hidden": 32,
        "layers": 2,
        "heads": 2,
        "feed_forward": 64,
        "dropout": 0.0,
        "learning_rate": 1e-2,
        "batch_subwords": 400,
        "epochs": 4,
    },
    LanguageModelSettings: {
        "words": 20_000,
        "vocabulary": 500,
        "character_embedding": 8,
        "hidden": 8,
        "learning_rate": 1e-2,
        "batch_size": 8,
        "epochs": 2,
    },
    PictureNetworkSettings: {"hidden": 16, "learning_rate": 1e-2, "batch_size": 8, "epochs": 3},
    PictureGeneratorSettings: {
        "latent": 8,
        "channels": 4,
        "learning_rate": 1e-3,
        "batch_size": 8,
        "steps": 12,
        "inverter_steps": 12,
    },
    SentenceGeneratorSettings: {
        "vocabulary": 500,
        "min_count": 1,
        "embedding": 12,
        "filters": (12, 16, 20),
        "hidden": 16,
        "latent": 8,
        "layers": (16, 16),
        "batch_size": 8,
        "steps": 24,
        "check_every": 8,
        "generator_steps": 20,
        "inverter_steps": 20,
    },
    SentenceVaeSettings: {
        "learnt_length": 10,
        "vocabulary": 500,
        "min_count": 1,
        "encoder": "words",
        "vectors": "random",
        "embedding": 12,
        "encoder_hidden": 12,
        "hidden": 16,
        "latent": 8,
        "batch_size": 8,
        "steps": 24,
        "check_every": 8,
    },
    FineTuningSettings: {"max_length": 32, "frozen": 5, "batch_size": 8, "epochs": 1},
}
"""By the class of settings: the changes of the size `tiny`, which trains fast but badly."""

TINY_OF: Mapping[str, Mapping[str, Any]] = {
    "MiniLM-3": {"frozen": 2},
    "BERT-NOPT": {"frozen": 0, "width": 32},
}
"""By the name of a model: further changes of the size `tiny`; else its last layer is tuned."""

OF_EMBEDDING: Mapping[str, Mapping[str, Any]] = {
    "GloVe": {"embedding": GLOVE_SIZE},
    # Frozen vectors: with a dropout of 0.6, the loss on MR is still 0.61 after six epochs, with
    # 0.2 it is 0.41 (one seed, a biLM of 300,000 words).
    "ELMo": {"dropout": 0.2},
}
"""By the embedding of a network: the differences from the defaults of its encoder."""
MAX_ELMO_RATE = 2e-3


def sized_settings(
    name: str, parts: Mapping[str, Any], encoder: str = "", size: str = "default"
) -> ModelSettings:
    """Return the settings of a model by its name and its parts, at a size.

    `encoder` is a pretrained one that is not in the tables.
    """
    if size not in SIZES:
        raise unknown("size", size, SIZES)
    embedding = str(parts.get("embedding"))
    settings: Any = FineTuningSettings(encoder=encoder) if encoder else _default(name, parts)
    settings = replace(settings, **OF_EMBEDDING.get(embedding, {}))
    if embedding == "ELMo":
        settings = replace(settings, learning_rate=min(settings.learning_rate, MAX_ELMO_RATE))
    if size == "paper":
        settings = PAPER.get(name, settings)
    if size == "tiny":
        kept = {"embedding": GLOVE_SIZE} if embedding == "GloVe" else {}
        tiny = {**TINY[type(settings)], **TINY_OF.get(name, {}), **kept}
        settings = replace(settings, **tiny)
    chosen: ModelSettings = settings
    return chosen


def _default(name: str, parts: Mapping[str, Any]) -> ModelSettings:
    encoder = str(parts.get("encoder"))
    pair = [f"{encoder}-pair"] if "pair" in parts else []
    names = (name, f"{encoder}-{parts.get('layers')}", *pair, encoder)
    return next((DEFAULT[name] for name in names if name in DEFAULT), NetworkSettings())
