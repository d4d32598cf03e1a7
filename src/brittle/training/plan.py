"""What is to be trained, the name of the result, and its folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from brittle.errors import UsageError
from brittle.safety import files
from brittle.training.adversarial import methods
from brittle.training.adversarial.methods import AdversarialTraining
from brittle.training.splits import TrainingSplits
from brittle.training.word_vectors import RECIPES
from brittle.zoo import folder as folders
from brittle.zoo.folder import full_name
from brittle.zoo.names import changes, grid
from brittle.zoo.names.changes import neutral_values
from brittle.zoo.names.grid import Design
from brittle.zoo.names.settings import ModelSettings

SPELLING_SETTINGS = (
    *("character_embedding", "character_scale", "character_window", "char_filters", "highways"),
    "max_word_length",
)
WORD_VECTOR_SETTINGS = ("embedding", "tuned", "word_dropout")
Changed = Sequence[str] | Mapping[str, Any]
"""Settings that are changed: texts such as `hidden=64`, or values by name."""


@dataclass(frozen=True)
class TrainingPlan:
    """Everything that decides the weights of a model; its name and its folder follow from it.

    `bilm` is the key of the biLM that a network with ELMo reads.
    """

    design: Design
    settings: ModelSettings
    size: str
    seed: int
    splits: TrainingSplits
    method: AdversarialTraining | None = None
    bilm: str = ""

    @cached_property
    def key(self) -> str:
        return model_key(
            self.design,
            self.settings,
            self.size,
            self.seed,
            self.splits.fingerprint,
            self.method,
            self.bilm,
        )

    @property
    def changed(self) -> dict[str, Any]:
        return grid.changed_settings(self.design, self.size, self.settings)

    @property
    def model(self) -> str:
        return model_name(self.design, self.method)

    @property
    def name(self) -> str:
        return full_name(self.model, self.splits.name, self.seed, self.size, self.changed)

    @property
    def folder(self) -> Path:
        return folders.model_folder(self.model, self.splits.name, self.seed, self.key)


def model_name(design: Design, method: AdversarialTraining | None) -> str:
    """Return the name of a model, which says how it is hardened."""
    suffix = "" if method is None else f"+{methods.format_method(method)}"
    return f"{design.name}{suffix}"


def model_key(
    design: Design,
    settings: ModelSettings,
    size: str,
    seed: int,
    data_fingerprint: str,
    method: AdversarialTraining | None = None,
    bilm: str = "",
) -> str:
    """Hash everything that decides the weights of a model; settings have their former names."""
    chosen = settings_that_matter(design, grid.as_json(settings))
    encoder = chosen.get("encoder") if design.family.tunes_encoder else None
    if encoder is not None and Path(encoder).is_dir():
        # The files of a pretrained encoder count; the path of its folder does not.
        paths = sorted(Path(encoder).iterdir())
        chosen["encoder"] = files.digest_of(path for path in paths if path.is_file())
    more: dict[str, Any] = {}
    if method is not None:
        more["hardening"] = methods.as_json(method)
    if bilm:
        more["bilm"] = bilm
    vectors = str(design.parts.get("embedding"))
    if vectors in RECIPES:
        # They are not settings, but they decide the weights as well.
        more["vectors"] = RECIPES[vectors]
    return folders.content_key(
        name=design.name,
        size=size,
        settings=changes.with_former_names(chosen),
        seed=seed,
        data=data_fingerprint,
        **more,
    )


def settings_that_matter(design: Design, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that decide the weights of a design.

    A network that reads a biLM has the content of it in its key, too, beside its name.
    A network without characters has no character vectors, and one that does not read the sides of
    a pair apart has no layer of their join. It is the same network as before there were settings of
    these, and is found in the cache under the same key. So is an encoder that is used as it is, and
    a network of pictures that learns from all of them.
    """
    unused = _unused_settings(design)
    neutral = neutral_values(grid.settings(design))
    return {
        name: value
        for name, value in settings.items()
        if name not in unused and (name not in neutral or value != neutral[name])
    }


def _unused_settings(design: Design) -> dict[str, str]:
    """Return the settings that a design does not use, each with what it would be for."""
    unused: dict[str, str] = {}
    if design.parts.get("embedding") == "ELMo":
        spellings = "networks that read spellings themselves; this one reads those of its biLM"
        unused |= dict.fromkeys(SPELLING_SETTINGS, spellings)
        unused |= dict.fromkeys(WORD_VECTOR_SETTINGS, "networks with word vectors of their own")
    else:
        unused["bilm"] = "networks that read a biLM, such as LSTM-WC-ELMo-1"
    if "C" not in str(design.parts.get("input", "")):
        unused["character_scale"] = "networks that read characters, such as CNN-C-Random-1"
    if "pair" not in design.parts:
        unused["joined"] = "networks whose name ends in -pair or -pair-plain"
    return unused


def check_kinds(design: Design, splits: TrainingSplits) -> None:
    """Refuse a model of texts on data of pictures, and the other way round."""
    reads = design.family.item_kind
    if splits.train.kind != reads:
        raise UsageError(
            f"The data set {splits.name!r} holds {splits.train.kind}s, but {design.name} reads "
            f"{reads}s. Choose another model (brittle list models) or other data."
        )


def choose_settings(design: Design, size: str, changed: Changed) -> ModelSettings:
    """Return the settings of a model at this size, with some of them changed.

    One that the design does not use is an error: it would change the name and nothing else.
    """
    if isinstance(changed, Mapping):
        settings, names = grid.settings(design, size, **changed), list(changed)
    else:
        settings = grid.parse_settings(design, size, changed)
        names = [text.partition("=")[0].strip() for text in changed]
    names = list(changes.with_present_names(dict.fromkeys(names)))
    for name, used_by in _unused_settings(design).items():
        if name in names:
            raise UsageError(
                f"Got the setting {name} for {design.name}, which has no use for it. It is for "
                f"{used_by}. Leave it out, or take one of these."
            )
    return settings
