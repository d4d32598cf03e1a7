"""The families of models: one record for everything in which kinds of models differ.

Nothing else asks of which kind a model is. Functions are named, and imported when they are called:
a list of models needs no torch. A new family is a record here, its network and its model beside
each other in a folder of the zoo, its fit in training/, and its names in names/grid.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from brittle.errors import UsageError, require
from brittle.zoo.folder import Card, fitting_weights
from brittle.zoo.names import changes
from brittle.zoo.names.settings import (
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
    check_network,
    check_translator,
)
from brittle.zoo.tokenizers import UNKNOWN as UNKNOWN_WORD_ID

if TYPE_CHECKING:
    from brittle.zoo.names.grid import Design

Answers = Literal["scores", "texts", "points", "states", "nothing"]
"""What a model returns: a classifier scores, a translator texts, a generator latent points, a
language model the states that other networks read."""
Labels = Literal["classes", "translations", "none"]
"""The kind of labels in a model's data."""
TORCH, SAFETENSORS = "torch", "safetensors"
NO_CLASSIFIER = (
    "hardens classifiers, but {model} is a {kind}. Train it without adversarial training."
)
ANY_METHOD = "*"


@dataclass(frozen=True)
class Later:
    """A function by its name, `module:function`; its module is imported when it is called."""

    name: str

    @property
    def function(self) -> Callable[..., Any]:
        """Import the function."""
        module, _, function = self.name.partition(":")
        found: Callable[..., Any] = getattr(import_module(module), function)
        return found

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.function(*arguments, **named)


def check_nothing(name: str, parts: Mapping[str, Any], settings: Any) -> None:
    """Allow all settings that are within the limits of their fields."""


def format_accuracy(card: Card) -> str:
    """Format the accuracy on the dev split, for a list of models."""
    return "-" if card.dev_accuracy is None else f"{card.dev_accuracy:.3f}"


def format_bleu(card: Card) -> str:
    """Format the BLEU on the dev split, for a list of models."""
    return "-" if card.dev_bleu is None else f"BLEU {card.dev_bleu:.1f}"


def format_perplexity(card: Card) -> str:
    """Format the perplexity on the dev split, for a list of models."""
    perplexity = card.perplexity.get("dev")
    return "-" if perplexity is None else f"perplexity {perplexity:.1f}"


def format_nothing(card: Card) -> str:
    """A generator has many figures, and none of them says most."""
    return "-"


def place_by_name(design: Design) -> dict[str, str | int]:
    """Place a model of words in the tables of studies: it is its own architecture."""
    return {"architecture": design.name, "reads": "word"}


def place_by_parts(design: Design) -> dict[str, str | int]:
    """Place a network in the tables of studies, by its parts."""
    embedding, reads = str(design.parts["embedding"]), str(design.parts["input"])
    return {
        "architecture": design.parts["encoder"],
        "input": reads,
        "embedding": embedding,
        "layers": design.parts["layers"],
        "reads": "Character" if reads == "C" else embedding,
    }


def place_with_encoders(design: Design) -> dict[str, str | int]:
    """Place a tuned encoder in the tables of studies: all of them are called BERT."""
    return {"architecture": "BERT", "reads": "BERT"}


@dataclass(frozen=True, kw_only=True)
class Family:
    """A kind of model: its settings, its data, and who fits, opens and describes it.

    `kind` is what stands on cards. `fit` takes a job of training; `open` takes folder, card, device
    and the id of a hole, and returns a model; `target` takes folder, device and mask.
    """

    kind: str
    settings: type[ModelSettings]
    check: Callable[[str, Mapping[str, Any], Any], None] = check_nothing
    fit: Later
    open: Later | None = None
    target: Later | None = None

    # The data.
    item_kind: Literal["text", "picture"] = "text"
    labels: Labels = "classes"
    cuts_sentences: bool = False  # it learns from short sentences instead of texts
    separates_pairs: bool = True  # two fields are read as one sequence with a separator

    # What it answers; what to say where a target, or a member of a pool, is expected.
    answers: Answers = "scores"
    no_target: str = ""
    no_member: str = ""
    decoding: tuple[str, ...] = ()  # settings in a name that do not belong to the training

    # What it needs, each as module and extra: to be opened, and to be fitted.
    opens_with: tuple[tuple[str, str], ...] = ((TORCH, TORCH),)
    needs: tuple[tuple[str, str], ...] = ((TORCH, TORCH),)

    # The training: the packages that influence the weights, and how it is hardened.
    packages: tuple[str, ...] = (TORCH, SAFETENSORS)
    refuses: Mapping[str, str] = field(default_factory=dict)  # methods of hardening, and why
    is_refitted: bool = False  # it is fitted, attacked once, and fitted again
    first_kept: str = "epoch was whole"

    # What it is called, and what it reports.
    noun: str = "model"
    has_parts: bool = False  # its name is made of its parts
    tunes_encoder: bool = False  # it may be any encoder, named by its folder or on the hub
    figure: Callable[[Card], str] = format_accuracy
    describe: Later = Later("brittle.training.readme:describe_classifier")
    example: str = "pwws"  # an attack for its README
    place: Callable[[Design], dict[str, str | int]] = place_by_name


NAIVE_BAYES = Family(
    kind="linear",
    settings=NaiveBayesSettings,
    fit=Later("brittle.training.linear:fit_naive_bayes"),
    open=Later("brittle.zoo.model:open_linear"),
    target=Later("brittle.targets.zoo.target:open_additive"),
    separates_pairs=False,
    opens_with=(),
    needs=(),
    packages=(),
    refuses=dict.fromkeys(
        ("hotflip", "miyato"),
        "follows the gradients of a network, but {model} is a linear model. Use key, a level such "
        "as rewrite, or an attack such as pwws.",
    ),
    is_refitted=True,
)

LINEAR_SVM = replace(
    NAIVE_BAYES,
    settings=LinearSvmSettings,
    fit=Later("brittle.training.linear:fit_linear_svm"),
)

NETWORK = Family(
    kind="network",
    settings=NetworkSettings,
    check=check_network,
    fit=Later("brittle.training.networks:fit_network"),
    open=Later("brittle.zoo.scoring:open_network"),
    target=Later("brittle.targets.zoo.target:open_network_target"),
    has_parts=True,
    place=place_by_parts,
)

TREE = Family(
    kind="tree",
    settings=NetworkSettings,
    check=check_network,
    fit=Later("brittle.training.networks:fit_tree_network"),
    open=Later("brittle.zoo.trees:open_tree_model"),
    target=Later("brittle.targets.zoo.target:open_plain"),
    packages=(TORCH, SAFETENSORS, "spacy"),
    refuses=dict.fromkeys(
        ("hotflip", "miyato", "key"),
        "changes what a network reads word by word, but {model} reads trees. Use a level such as "
        "rewrite, or an attack such as pwws.",
    ),
)

TRANSFORMER = Family(
    kind="transformer",
    settings=FineTuningSettings,
    fit=Later("brittle.training.transformer:fit_transformer"),
    target=Later("brittle.targets.zoo.target:open_tuned_encoder"),
    packages=(TORCH, SAFETENSORS, "transformers"),
    refuses={
        "hotflip": "flips the characters or the words that a network reads, but {model} reads "
        "subword tokens. Use miyato, key, or an attack such as hotflip-words."
    },
    tunes_encoder=True,
    place=place_with_encoders,
)

LANGUAGE_MODEL = Family(
    kind="language model",
    settings=LanguageModelSettings,
    fit=Later("brittle.training.bilm:fit_bilm"),
    open=Later("brittle.zoo.bilm:open_language_model"),
    labels="none",
    noun="biLM",
    answers="states",
    no_target="{name} is a language model: it has no labels, so it is not a target. Use a network "
    "that reads it, such as zoo:LSTM-WC-ELMo-1@mr.",
    no_member="Use networks that read it, such as LSTM-WC-ELMo-1.",
    refuses={ANY_METHOD: NO_CLASSIFIER},
    figure=format_perplexity,
    describe=Later("brittle.training.readme:describe_language_model"),
)

TRANSLATOR = Family(
    kind="translator",
    settings=TranslatorSettings,
    check=check_translator,
    fit=Later("brittle.training.seq2seq:fit_translator"),
    open=Later("brittle.zoo.seq2seq.model:open_translation_model"),
    target=Later("brittle.targets.zoo.translator:load_translator"),
    labels="translations",
    answers="texts",
    decoding=("beam",),
    needs=((TORCH, TORCH), ("sacrebleu", "translation")),
    packages=(TORCH, SAFETENSORS, "tokenizers", "sacrebleu"),
    refuses={ANY_METHOD: NO_CLASSIFIER},
    figure=format_bleu,
    describe=Later("brittle.training.readme:describe_translator"),
)

PICTURE_NETWORK = Family(
    kind="picture",
    settings=PictureNetworkSettings,
    fit=Later("brittle.training.picture_networks:fit_picture_network"),
    open=Later("brittle.zoo.pictures:open_pixel_network"),
    target=Later("brittle.targets.zoo.target:open_picture_network"),
    item_kind="picture",
    refuses={
        ANY_METHOD: "hardens models of texts, but {model} reads pictures. Train it without "
        "adversarial training.",
    },
    example="noise",
)

FOREST = replace(
    PICTURE_NETWORK,
    settings=ForestSettings,
    fit=Later("brittle.training.pictures:fit_forest"),
    open=Later("brittle.zoo.forest:open_forest"),
    target=Later("brittle.targets.zoo.target:open_picture_model"),
    opens_with=(),
    needs=(("sklearn", "sklearn"),),
    packages=("scikit-learn",),
)

PICTURE_GENERATOR = Family(
    kind="generator",
    settings=PictureGeneratorSettings,
    fit=Later("brittle.training.picture_generators:fit_picture_generator"),
    open=Later("brittle.zoo.generators.pictures:open_picture_generator"),
    item_kind="picture",
    labels="none",
    noun="generator",
    answers="points",
    no_target="{name} is a generator: it has no labels, so it is not a target. Attack a classifier "
    "with it: brittle attack TARGET natural --generator {name}.",
    no_member="Use classifiers, such as LeNet@mnist.",
    refuses={ANY_METHOD: NO_CLASSIFIER},
    first_kept="checkpoint was written",
    figure=format_nothing,
    describe=Later("brittle.training.readme:describe_generator"),
)

SENTENCE_GENERATOR = replace(
    PICTURE_GENERATOR,
    settings=SentenceGeneratorSettings,
    fit=Later("brittle.training.arae:fit_sentence_generator"),
    open=Later("brittle.zoo.generators.texts:open_arae"),
    item_kind="text",
    cuts_sentences=True,
)

SENTENCE_VAE = replace(
    SENTENCE_GENERATOR,
    settings=SentenceVaeSettings,
    fit=Later("brittle.training.vae:fit_sentence_vae"),
    open=Later("brittle.zoo.generators.texts:open_vae"),
)

FAMILIES = (
    NAIVE_BAYES,
    LINEAR_SVM,
    NETWORK,
    TREE,
    TRANSFORMER,
    LANGUAGE_MODEL,
    TRANSLATOR,
    PICTURE_NETWORK,
    FOREST,
    PICTURE_GENERATOR,
    SENTENCE_GENERATOR,
    SENTENCE_VAE,
)

UNKNOWN = replace(
    NAIVE_BAYES,
    open=None,
    target=None,
    answers="nothing",
    no_target="{name} is of the kind {kind!r}, which this version of brittle does not know. Update "
    "brittle, or train the model again.",
)


def family_of(card: Card) -> Family:
    """Return the family of a trained model; of a later version's kind it is one without answers.

    Families of one kind are told apart by their settings.
    """
    known = [family for family in FAMILIES if family.kind == card.kind]
    if not known:
        return replace(UNKNOWN, kind=card.kind)
    return max(known, key=lambda family: len(_names(family) & set(card.settings)))


def restore_settings(card: Card) -> Any:
    """Return the settings of a trained model; those that are younger than it have their default."""
    return changes.with_changes(card.name, family_of(card).settings(), card.settings)


def open_checked(folder: Path, card: Card, device: str, hole_id: int = UNKNOWN_WORD_ID) -> Any:
    """Open the model of a folder, whose card was checked; weights that do not fit are an error."""
    family = family_of(card)
    if family.open is None:
        raise UsageError(
            f"{folder} holds {card.full_name}, a {card.kind}, which this function does not open."
        )
    who = f"{family.noun} {card.name!r}"
    for module, extra in family.opens_with:
        require(module, extra, f"The {who}")
    with fitting_weights(folder, f"the {who}"):
        return family.open(folder, card, device, hole_id)


def no_target(family: Family, name: str) -> UsageError:
    """Build the error for a model that is no target, such as a generator."""
    return UsageError(family.no_target.format(name=name, kind=family.kind))


def _names(family: Family) -> set[str]:
    return {one.name for one in fields(family.settings)}
