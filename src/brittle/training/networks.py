"""Fitting the networks of the zoo."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from brittle.training.adversarial import network_loss as hardened
from brittle.training.adversarial.network_loss import Lecture, Pupil
from brittle.training.epoch_texts import Material
from brittle.training.job import Diverged, Fitted, Job, accuracy, known_words
from brittle.training.loop import Lesson, descend, seeded
from brittle.training.word_vectors import RECIPES, first_vectors
from brittle.zoo import folder as folders
from brittle.zoo.device import torch_device
from brittle.zoo.names.settings import Network
from brittle.zoo.networks import Classifier, build
from brittle.zoo.scoring import NetworkModel, reader_of
from brittle.zoo.tokenizers.characters import STRANGE, Spellings
from brittle.zoo.tokenizers.words import Vocabulary


def fit_network(job: Job, settings: Network) -> Fitted:
    """Fit a network; its vocabulary and its alphabet are the train side's."""
    device = torch_device(job.device)
    parts = job.design.parts
    vocabulary = known_words(job, cap=settings.vocabulary, min_count=settings.min_count)
    alphabet: list[str] = []
    if "C" in str(parts["input"]):
        alphabet = Spellings.alphabet_of(job.train.texts, min_count=settings.min_count)
    reader = reader_of(parts, settings, vocabulary, alphabet)
    # On networks this small a second thread gains little, and loses much on a busy machine.
    with seeded(job.seed, 1):
        characters = len(alphabet) + STRANGE + 1
        network = build(parts, settings, len(vocabulary), characters, len(job.labels))
        start_words(network, vocabulary, job, settings)
        network.to(device)
        pupil = Pupil(network, reader, settings.reads, device)

        def save(folder: Path) -> None:
            _save(folder, network, vocabulary, alphabet)

        material = Material(job, lambda t: reader.sequences(t, settings.reads), _words, save)

        def loss(rows: list[int]) -> Tensor:
            label = torch.tensor([material.label[i] for i in rows], device=device)
            keys = [material.encoded[i] for i in rows]
            lecture = Lecture(keys, label, lambda: material.typed(rows))
            return hardened.loss(pupil, lecture, job.hardening)

        def right() -> float:
            return accuracy(NetworkModel(network, reader, settings.reads, device), job.dev)

        lesson = Lesson(network, settings, material.begin, loss, right, material.plain)
        try:
            fitted = descend(job, lesson)
        except Diverged as error:
            if error.fitted:
                save(job.folder)
            raise
        save(job.folder)
    return fitted


def start_words(network: Classifier, vocabulary: Vocabulary, job: Job, settings: Network) -> None:
    """Give words the vectors they begin with; those without one keep their random ones.

    Vectors that are not to be tuned stay as they are now, the random ones too.
    """
    if network.embedding is None:
        return
    kind = str(job.design.parts["embedding"])
    if kind in RECIPES:
        numbers, vectors = first_vectors(
            kind, vocabulary, job.train.texts, settings.embedding, settings.min_count, job.seed
        )
        with torch.no_grad():
            network.embedding.weight[torch.from_numpy(numbers)] = torch.from_numpy(vectors)
    network.embedding.weight.requires_grad_(settings.tuned)


def _words(key: bytes) -> int:
    return len(key) >> 2


def _save(folder: Path, network: Classifier, vocabulary: Vocabulary, alphabet: list[str]) -> None:
    tensors = {name: tensor.cpu().numpy() for name, tensor in network.state_dict().items()}
    folders.write_tensors(folder / folders.WEIGHTS, tensors)
    folders.write_words(folder / folders.VOCABULARY, vocabulary.words)
    if alphabet:
        folders.write_words(folder / folders.ALPHABET, alphabet)
