"""Fitting the networks over words."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from brittle.training.job import Diverged, Fitted, Job, accuracy, known_words
from brittle.training.loop import Lesson, descend, seeded
from brittle.zoo import folder as folders
from brittle.zoo.device import torch_device
from brittle.zoo.grid import WordNetwork
from brittle.zoo.networks import WordClassifier, build, padded
from brittle.zoo.vocabulary import Vocabulary
from brittle.zoo.words import WordModel


def fit_words(job: Job, settings: WordNetwork) -> Fitted:
    """Fit a network over words; the vocabulary is the train side's."""
    device = torch_device(job.device)
    vocabulary = known_words(job, cap=settings.vocabulary, min_count=settings.min_count)
    keys = vocabulary.sequences(job.train.texts, settings.reads)
    rows = [np.frombuffer(key, dtype=np.int32).astype(np.int64) for key in keys]
    label = torch.tensor(job.train.label, device=device)
    # On networks this small a second thread gains little, and loses much on a busy machine.
    with seeded(job.seed, 1):
        network = build(job.design.parts, settings, len(vocabulary), len(job.labels)).to(device)

        def loss(batch: list[int]) -> Tensor:
            logits = network(*padded([rows[i] for i in batch], device))
            return nn.functional.cross_entropy(logits, label[batch])

        def right() -> float:
            return accuracy(WordModel(network, vocabulary, settings.reads, device), job.dev)

        lesson = Lesson(network, settings, [len(row) for row in rows], loss, right)
        try:
            fitted = descend(job, lesson)
        except Diverged as error:
            if error.fitted:
                _save(job, network, vocabulary)
            raise
        _save(job, network, vocabulary)
    return fitted


def _save(job: Job, network: WordClassifier, vocabulary: Vocabulary) -> None:
    tensors = {name: tensor.cpu().numpy() for name, tensor in network.state_dict().items()}
    folders.write_tensors(job.folder / folders.WEIGHTS, tensors)
    folders.write_words(job.folder / folders.VOCABULARY, vocabulary.words)
