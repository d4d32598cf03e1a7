"""Fitting of the networks of the zoo."""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from brittle.training.adversarial.network_loss import LabelledBatch, NetworkInTraining, batch_loss
from brittle.training.epoch_texts import EpochTexts
from brittle.training.job import Fitted, Job, accuracy, build_vocabulary
from brittle.training.kept_layers import KeptLayers
from brittle.training.loop import Trainable, fit_and_save, seeded
from brittle.training.word_vectors import RECIPES, initial_vectors
from brittle.zoo.bilm.folder import (
    PART,
    find_bilm,
    load_alphabet,
    load_settings,
    open_bilm,
)
from brittle.zoo.device import torch_device
from brittle.zoo.gradient_check import check_gradients, describe, is_masked
from brittle.zoo.model_cache import models_folder
from brittle.zoo.networks import Classifier, build
from brittle.zoo.restoring import save_network
from brittle.zoo.scoring import NetworkModel, build_tokenizer
from brittle.zoo.tokenizers.characters import UNKNOWN_CHARACTER, CharacterTokenizer
from brittle.zoo.tokenizers.words import WordTokenizer
from brittle.zoo.trees.network import TreeClassifier
from brittle.zoo.white_box import NetworkWhiteBox

log = logging.getLogger(__name__)


def fit_network(job: Job) -> Fitted:
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
            "The gradients of %s say next to nothing of its edits (%s): attacks by gradient will "
            "look too weak. Compare with a black-box attack such as key-any.",
            job.name,
            describe(gradients),
        )
    return replace(fitted, gradients=gradients)


def initialize_embedding(
    network: Classifier | TreeClassifier, vocabulary: WordTokenizer, job: Job
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
