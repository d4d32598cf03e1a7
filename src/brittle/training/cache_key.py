"""The cache key of a model: a hash of everything that decides its weights. It names its folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from brittle.safety import files
from brittle.training.adversarial import methods
from brittle.training.adversarial.methods import AdversarialTraining
from brittle.training.word_vectors import RECIPES
from brittle.zoo import folder as folders
from brittle.zoo.names import changes, grid
from brittle.zoo.names.changes import neutral_values
from brittle.zoo.names.grid import Design
from brittle.zoo.names.settings import ModelSettings

SPELLING_SETTINGS = (
    *("character_embedding", "character_scale", "character_window", "char_filters", "highways"),
    "max_word_length",
)
WORD_VECTOR_SETTINGS = ("embedding", "tuned", "word_dropout")


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
    unused = unused_settings(design)
    neutral = neutral_values(grid.settings(design))
    return {
        name: value
        for name, value in settings.items()
        if name not in unused and (name not in neutral or value != neutral[name])
    }


def unused_settings(design: Design) -> dict[str, str]:
    """Return the settings that a design does not use, each with what it would be for."""
    unused: dict[str, str] = {}
    if design.parts.get("embedding") == "ELMo":
        spellings = "networks that read spellings themselves; this one uses its biLM for that"
        unused |= dict.fromkeys(SPELLING_SETTINGS, spellings)
        unused |= dict.fromkeys(WORD_VECTOR_SETTINGS, "networks with word vectors of their own")
    else:
        unused["bilm"] = "networks that read a biLM, such as LSTM-WC-ELMo-1"
    if "C" not in str(design.parts.get("input", "")):
        unused["character_scale"] = "networks that read characters, such as CNN-C-Random-1"
    if "pair" not in design.parts:
        unused["joined"] = "networks whose name ends in -pair or -pair-plain"
    return unused
