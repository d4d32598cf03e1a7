"""Fitting the networks of the zoo."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from brittle.training.adversarial import network_loss as hardened
from brittle.training.adversarial.network_loss import LabelledBatch, NetworkInTraining
from brittle.training.epoch_texts import EpochTexts
from brittle.training.job import Diverged, Fitted, TrainingJob, accuracy, build_vocabulary
from brittle.training.loop import Trainable, run_epochs, seeded
from brittle.training.word_vectors import RECIPES, initial_vectors
from brittle.zoo import folder as folders
from brittle.zoo.device import torch_device
from brittle.zoo.names.settings import NetworkSettings
from brittle.zoo.networks import Classifier, build
from brittle.zoo.scoring import NetworkModel, build_tokenizer
from brittle.zoo.tokenizers.characters import UNKNOWN_CHARACTER, CharacterTokenizer
from brittle.zoo.tokenizers.words import WordTokenizer


def fit_network(job: TrainingJob, settings: NetworkSettings) -> Fitted:
    """Fit a network; its vocabulary and its alphabet are the train side's."""
    device = torch_device(job.device)
    parts = job.design.parts
    vocabulary = build_vocabulary(job, cap=settings.vocabulary, min_count=settings.min_count)
    alphabet: list[str] = []
    if "C" in str(parts["input"]):
        alphabet = CharacterTokenizer.alphabet_of(job.train.texts, min_count=settings.min_count)
    reader = build_tokenizer(parts, settings, vocabulary, alphabet)
    # On networks this small a second thread gains little, and loses much on a busy machine.
    with seeded(job.seed, 1):
        characters = len(alphabet) + UNKNOWN_CHARACTER + 1
        network = build(parts, settings, len(vocabulary), characters, len(job.labels))
        start_words(network, vocabulary, job, settings)
        network.to(device)
        pupil = NetworkInTraining(network, reader, settings.reads, device)

        def save(folder: Path) -> None:
            _save(folder, network, vocabulary, alphabet)

        material = EpochTexts(job, lambda t: reader.encode(t, settings.reads), _words, save)

        def loss(rows: list[int]) -> Tensor:
            label = torch.tensor([material.label[i] for i in rows], device=device)
            keys = [material.encoded[i] for i in rows]
            lecture = LabelledBatch(keys, label, lambda: material.typed(rows))
            return hardened.batch_loss(pupil, lecture, job.hardening)

        def right() -> float:
            return accuracy(NetworkModel(network, reader, settings.reads, device), job.dev)

        lesson = Trainable(network, settings, material.begin, loss, right, material.plain)
        try:
            fitted = run_epochs(job, lesson)
        except Diverged as error:
            if error.fitted:
                save(job.folder)
            raise
        save(job.folder)
    return fitted


def start_words(
    network: Classifier, vocabulary: WordTokenizer, job: TrainingJob, settings: NetworkSettings
) -> None:
    """Give words the vectors they begin with; those without one keep their random ones.

    Vectors that are not to be tuned stay as they are now, the random ones too.
    """
    if network.embedding is None:
        return
    kind = str(job.design.parts["embedding"])
    if kind in RECIPES:
        numbers, vectors = initial_vectors(
            kind, vocabulary, job.train.texts, settings.embedding, settings.min_count, job.seed
        )
        with torch.no_grad():
            network.embedding.weight[torch.from_numpy(numbers)] = torch.from_numpy(vectors)
    network.embedding.weight.requires_grad_(settings.tuned)


def _words(key: bytes) -> int:
    return len(key) >> 2


def _save(
    folder: Path, network: Classifier, vocabulary: WordTokenizer, alphabet: list[str]
) -> None:
    tensors = {name: tensor.cpu().numpy() for name, tensor in network.state_dict().items()}
    folders.write_tensors(folder / folders.WEIGHTS_FILE, tensors)
    folders.write_words(folder / folders.VOCABULARY_FILE, vocabulary.words)
    if alphabet:
        folders.write_words(folder / folders.ALPHABET_FILE, alphabet)
