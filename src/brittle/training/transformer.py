"""Training of an encoder of transformers with a head; the result is a usual transformers folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from brittle.errors import UsageError, require
from brittle.targets.transformers.quiet import quiet
from brittle.text import Text
from brittle.training.adversarial.methods import NoiseTraining, TypoTraining
from brittle.training.adversarial.transformer_loss import noisy_loss
from brittle.training.encoders import load_encoder
from brittle.training.epoch_texts import EpochTexts
from brittle.training.job import Fitted, Job
from brittle.training.loop import Trainable, fit_and_save, seeded
from brittle.zoo.device import cores, torch_device

TEXTS_PER_PASS = 64


def fit_transformer(job: Job) -> Fitted:
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
