"""Fitting of the networks of the zoo, the TreeLSTM among them. Needs torch.

Fitting of the networks of the zoo. Fitting of the TreeLSTM on pairs of sentences. This file needs
torch.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

from brittle.training.adversarial.losses import (
    KeptLayers,
    LabelledBatch,
    NetworkInTraining,
    batch_loss,
)
from brittle.training.adversarial.texts import EpochTexts
from brittle.training.job import Fitted, TrainingJob, accuracy, build_vocabulary
from brittle.training.loop import Trainable, fit_and_save, seeded
from brittle.training.word_vectors import RECIPES, initial_vectors
from brittle.zoo.bilm import PART, find_bilm, load_alphabet, load_settings, open_bilm
from brittle.zoo.device import torch_device
from brittle.zoo.folder import models_folder
from brittle.zoo.gradient_check import check_gradients, describe, is_masked
from brittle.zoo.networks import Classifier, build
from brittle.zoo.restoring import save_network
from brittle.zoo.scoring import NetworkModel, build_tokenizer
from brittle.zoo.spellings import UNKNOWN_CHARACTER, CharacterTokenizer
from brittle.zoo.tokenizers import WordTokenizer
from brittle.zoo.trees import TreeClassifier, TreeEncoder, TreeModel, forest_of, trees_of
from brittle.zoo.white_box import NetworkWhiteBox

log = logging.getLogger(__name__)


def fit_network(job: TrainingJob) -> Fitted:
    """Fit a network; its vocabulary and its alphabet are those of the train split."""
    device, settings = torch_device(job.device), job.settings
    parts = job.design.parts
    vocabulary = build_vocabulary(job, cap=settings.vocabulary, min_count=settings.min_count)
    alphabet: list[str] = []
    bilm, spelling = None, None
    if PART in parts:
        folder = find_bilm(parts, models_folder())
        bilm, spelling = open_bilm(folder, device), load_settings(folder).max_word_length
        alphabet = load_alphabet(folder)
    elif "C" in str(parts["input"]):
        alphabet = CharacterTokenizer.alphabet_of(job.train.texts, min_count=settings.min_count)
    tokenizer = build_tokenizer(parts, settings, vocabulary, alphabet, spelling)
    # For such small networks a second thread gains little, and costs much on a busy machine.
    with seeded(job.seed, 1):
        characters = len(alphabet) + UNKNOWN_CHARACTER + 1
        network = build(parts, settings, len(vocabulary), characters, len(job.labels), bilm)
        initialize_embedding(network, vocabulary, job)
        network.to(device)
        kept = None if bilm is None else KeptLayers(network, tokenizer, device)
        model = NetworkInTraining(network, tokenizer, settings.max_length, device, kept)

        def save(folder: Path) -> None:
            save_network(folder, network, vocabulary.words, alphabet or None)

        encode = partial(tokenizer.encode, reads=settings.max_length)
        texts = EpochTexts(job, encode, lambda key: len(key) >> 2, save)  # the ids are int32

        def loss(rows: list[int]) -> Tensor:
            label = torch.tensor([texts.label[i] for i in rows], device=device)
            keys = [texts.encoded[i] for i in rows]
            batch = LabelledBatch(keys, label, lambda: texts.typo_copies(rows))
            return batch_loss(model, batch, job.method)

        def scoring_model() -> NetworkModel:
            return NetworkModel(network, tokenizer, settings.max_length, device)

        def dev_accuracy() -> float:
            return accuracy(scoring_model(), job.dev)

        trainable = Trainable(
            network, settings, texts.prepare, loss, dev_accuracy, texts.clean_epochs
        )
        fitted = fit_and_save(job, trainable, save)
        gradients = check_gradients(NetworkWhiteBox(scoring_model()), job.dev.texts)
    if is_masked(gradients):
        log.warning(
            "The gradients of %s hardly predict the effect of edits (%s), so gradient "
            "attacks will look too weak. Compare with a black-box attack such as key-any.",
            job.name,
            describe(gradients),
        )
    return replace(fitted, gradients=gradients)


def initialize_embedding(
    network: Classifier | TreeClassifier, vocabulary: WordTokenizer, job: TrainingJob
) -> None:
    """Set the pretrained vectors of words; words without one keep their random vectors.

    If the settings say that vectors are not tuned, all of them are frozen, also the random ones.
    """
    if network.embedding is None:
        return
    kind, settings = str(job.design.parts["embedding"]), job.settings
    if kind in RECIPES:
        ids, vectors = initial_vectors(
            kind, vocabulary, job.train.texts, settings.embedding, settings.min_count, job.seed
        )
        with torch.no_grad():
            network.embedding.weight[torch.from_numpy(ids)] = torch.from_numpy(vectors)
    network.embedding.weight.requires_grad_(settings.tuned)


def fit_tree_network(job: TrainingJob) -> Fitted:
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
