"""Fitting the networks of the zoo."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from brittle.training.job import Diverged, Fitted, Job, accuracy, known_words
from brittle.training.loop import Lesson, descend, seeded
from brittle.zoo import folder as folders
from brittle.zoo.batches import batch_of
from brittle.zoo.device import torch_device
from brittle.zoo.grid import Network
from brittle.zoo.networks import Classifier, build
from brittle.zoo.scoring import NetworkModel, reader_of
from brittle.zoo.spellings import STRANGE, Spellings
from brittle.zoo.vocabulary import Vocabulary


def fit_network(job: Job, settings: Network) -> Fitted:
    """Fit a network; its vocabulary and its alphabet are the train side's."""
    device = torch_device(job.device)
    parts = job.design.parts
    vocabulary = known_words(job, cap=settings.vocabulary, min_count=settings.min_count)
    alphabet: list[str] = []
    if "C" in str(parts["input"]):
        alphabet = Spellings.alphabet_of(job.train.texts, min_count=settings.min_count)
    reader = reader_of(parts, settings, vocabulary, alphabet)
    keys = reader.sequences(job.train.texts, settings.reads)
    label = torch.tensor(job.train.label, device=device)
    # On networks this small a second thread gains little, and loses much on a busy machine.
    with seeded(job.seed, 1):
        characters = len(alphabet) + STRANGE + 1
        network = build(parts, settings, len(vocabulary), characters, len(job.labels)).to(device)

        def loss(batch: list[int]) -> Tensor:
            logits = network(batch_of([keys[i] for i in batch], reader, device))
            return nn.functional.cross_entropy(logits, label[batch])

        def right() -> float:
            return accuracy(NetworkModel(network, reader, settings.reads, device), job.dev)

        lesson = Lesson(network, settings, [len(key) >> 2 for key in keys], loss, right)
        try:
            fitted = descend(job, lesson)
        except Diverged as error:
            if error.fitted:
                _save(job, network, vocabulary, alphabet)
            raise
        _save(job, network, vocabulary, alphabet)
    return fitted


def _save(job: Job, network: Classifier, vocabulary: Vocabulary, alphabet: list[str]) -> None:
    tensors = {name: tensor.cpu().numpy() for name, tensor in network.state_dict().items()}
    folders.write_tensors(job.folder / folders.WEIGHTS, tensors)
    folders.write_words(job.folder / folders.VOCABULARY, vocabulary.words)
    if alphabet:
        folders.write_words(job.folder / folders.ALPHABET, alphabet)
