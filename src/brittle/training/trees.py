"""Fitting of the TreeLSTM on pairs of sentences. This file needs torch."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn

from brittle.training.epoch_texts import EpochTexts
from brittle.training.job import Fitted, Job, accuracy, build_vocabulary
from brittle.training.loop import Trainable, fit_and_save, seeded
from brittle.training.networks import initialize_embedding
from brittle.zoo.device import torch_device
from brittle.zoo.restoring import save_network
from brittle.zoo.trees.model import TreeEncoder, TreeModel, forest_of, trees_of
from brittle.zoo.trees.network import TreeClassifier


def fit_tree_network(job: Job) -> Fitted:
    """Fit a TreeLSTM by the cross-entropy of its logits; all sentences are parsed first."""
    device, settings = torch_device(job.device), job.settings
    vocabulary = build_vocabulary(job, cap=settings.vocabulary, min_count=settings.min_count)
    encoder = TreeEncoder(vocabulary, settings.max_length)
    with seeded(job.seed, 1):
        network = TreeClassifier(job.design.parts, settings, len(vocabulary), len(job.labels))
        initialize_embedding(network, vocabulary, job)
        network.to(device)

        def save(folder: Path) -> None:
            save_network(folder, network, vocabulary.words)

        texts = EpochTexts(job, encoder.encode, lambda key: len(key) >> 3, save)

        def loss(rows: list[int]) -> Tensor:
            label = torch.tensor([texts.label[i] for i in rows], device=device)
            forest = forest_of(trees_of([texts.encoded[i] for i in rows]), device)
            return nn.functional.cross_entropy(network(forest), label)

        def dev_accuracy() -> float:
            return accuracy(TreeModel(network, encoder, device), job.dev)

        trainable = Trainable(
            network, settings, texts.prepare, loss, dev_accuracy, texts.clean_epochs
        )
        return fit_and_save(job, trainable, save)
