"""Fitting of the linear models, one matrix over words: naive Bayes and the linear SVM."""

from __future__ import annotations

from random import Random

import numpy as np
from numpy.typing import NDArray

from brittle.training.checkpoint import TrainingState
from brittle.training.job import Fitted, TrainingJob, accuracy, build_vocabulary, end_of_epoch
from brittle.training.splits import LabelledTexts
from brittle.zoo import folder as folders
from brittle.zoo.model import FIRST_WORD, Linear
from brittle.zoo.names.settings import LinearSvmSettings
from brittle.zoo.tokenizers import WordTokenizer

Array = NDArray[np.float64]
MAX_NEWTON_STEPS = 50
RIDGE = 1e-6  # makes the Hessian invertible: the same offset for all classes changes no loss


def fit_naive_bayes(job: TrainingJob) -> Fitted:
    """Fit multinomial naive Bayes: smoothed log-probabilities of words, and no class prior.

    Words that are not in the train split, and holes, have no influence.
    """
    vocabulary = build_vocabulary(job)
    keys = vocabulary.encode_bags(job.train.texts)
    counts = np.zeros((len(vocabulary), len(job.labels)))
    for key, label in zip(keys, job.train.label):
        ids, count = _word_counts(key)
        counts[ids, label] += count
    smoothed = counts[FIRST_WORD:] + job.settings.smoothing
    weight = np.zeros_like(counts)
    weight[FIRST_WORD:] = np.log(smoothed) - np.log(smoothed.sum(axis=0))
    bias = np.zeros(len(job.labels))
    model = Linear(vocabulary, weight, bias)
    dev_accuracy = accuracy(model, job.dev)
    logits = model.logits(keys)
    score = logits[np.arange(len(keys)), list(job.train.label)]
    loss = float((np.logaddexp.reduce(logits, axis=1) - score).mean())
    job.report(end_of_epoch(job.name, 1, 1, loss, dev_accuracy, True))
    _save(job, vocabulary, weight, bias)
    return Fitted(dev_accuracy, epochs=1)


def fit_linear_svm(job: TrainingJob) -> Fitted:
    """Fit a linear SVM, one class against the rest, by averaged SGD on the hinge loss.

    The epoch that is best on the dev split is kept. Its margins on that split are then calibrated
    to probabilities: the logits are a * margin + c, with the scale a and the offsets c of the least
    log loss (Platt's scaling, with his smoothed targets; for two classes exactly his).
    """
    vocabulary, settings = build_vocabulary(job), job.settings
    bags = [_word_counts(key) for key in vocabulary.encode_bags(job.train.texts)]
    sign = np.where(np.eye(len(job.labels), dtype=bool)[list(job.train.label)], 1.0, -1.0)
    optimizer = _AveragedSgd(len(vocabulary), len(job.labels), settings)
    state = TrainingState()
    weight, bias = optimizer.mean()
    order = list(range(len(bags)))
    while state.epoch < settings.epochs and state.since < settings.patience:
        Random(f"{job.seed}:{state.epoch + 1}").shuffle(order)
        loss = sum(optimizer.step(*bags[i], sign[i]) for i in order) / len(order)
        mean = optimizer.mean()
        dev_accuracy = accuracy(Linear(vocabulary, *mean), job.dev)
        if state.end_epoch(loss, dev_accuracy):
            weight, bias = mean
        is_best = state.since == 0
        job.report(
            end_of_epoch(job.name, state.epoch, settings.epochs, loss, dev_accuracy, is_best)
        )
    margin = Linear(vocabulary, weight, bias).logits(vocabulary.encode_bags(job.dev.texts))
    scale, offset = platt(margin, job.dev)
    weight, bias = scale * weight, scale * bias + offset
    _save(job, vocabulary, weight, bias)
    return Fitted(accuracy(Linear(vocabulary, weight, bias), job.dev), state.epoch)


class _AveragedSgd:
    """SGD on the hinge loss with an L2 penalty; the result is the mean of the weights of all steps.

    The current weights are `scale * weight`: to shrink every row at each step would touch every
    word. In the sum over all steps, `total_scale * weight` counts each change also for the steps
    before it was made; `excess` is that part.
    """

    def __init__(self, words: int, classes: int, settings: LinearSvmSettings) -> None:
        self.weight, self.excess = np.zeros((words, classes)), np.zeros((words, classes))
        self.bias, self.total_bias = np.zeros(classes), np.zeros(classes)
        self.scale, self.total_scale, self.steps = 1.0, 0.0, 0
        self.settings = settings

    def step(self, ids: NDArray[np.int32], count: Array, sign: Array) -> float:
        """Do one step on one text; return its loss before the step."""
        penalty = self.settings.penalty
        rate = self.settings.learning_rate / (
            1 + self.settings.learning_rate * penalty * self.steps
        )
        margin = sign * (self.scale * (count @ self.weight[ids]) + self.bias)
        loss = np.maximum(0.0, 1.0 - margin)
        self.scale *= 1 - rate * penalty
        update = rate * np.where(loss > 0, sign, 0.0)
        if update.any():
            change = count[:, None] * (update / self.scale)
            self.weight[ids] += change
            self.excess[ids] += self.total_scale * change
            self.bias += update
        self.total_scale += self.scale
        self.total_bias += self.bias
        self.steps += 1
        return float(loss.sum())

    def mean(self) -> tuple[Array, Array]:
        """Return the mean weights and bias of the steps so far."""
        steps = max(1, self.steps)
        return (self.total_scale * self.weight - self.excess) / steps, self.total_bias / steps


def platt(margin: Array, dev: LabelledTexts) -> tuple[float, Array]:
    """Fit the scale and the offsets that turn margins into the logits of the least log loss.

    Newton's method, halving steps that do not help; the problem is convex.
    """
    n, k = margin.shape
    members = np.bincount(dev.label, minlength=k)
    is_label = np.eye(k)[list(dev.label)]
    # Platt's targets: as if each class had one more example of its own and one of every other.
    target = (is_label * members + 1) / (members[list(dev.label)] + k)[:, None]
    feature = np.concatenate([margin[:, :, None], np.tile(np.eye(k), (n, 1, 1))], axis=2)
    theta = np.zeros(k + 1)

    def loss(theta: Array) -> float:
        score = feature @ theta
        return float((np.logaddexp.reduce(score, axis=1) - (target * score).sum(1)).sum())

    for _ in range(MAX_NEWTON_STEPS):
        score = feature @ theta
        p = np.exp(score - np.logaddexp.reduce(score, axis=1)[:, None])
        gradient = np.einsum("nk,nkd->d", p - target, feature)
        mean = np.einsum("nk,nkd->nd", p, feature)
        hessian = np.einsum("nk,nkd,nke->de", p, feature, feature) - mean.T @ mean
        step = np.linalg.solve(hessian + RIDGE * np.eye(k + 1), gradient)
        while loss(theta - step) > loss(theta) and np.abs(step).max() > 1e-12:
            step = step / 2
        theta = theta - step
        if np.abs(step).max() < 1e-9:
            break
    # The scale stays positive: a dev split that contradicts the train split must not swap classes.
    return max(float(theta[0]), 1e-3), theta[1:]


def _word_counts(key: bytes) -> tuple[NDArray[np.int32], Array]:
    """Decode a bag of words into the distinct word ids and their counts."""
    ids, count = np.unique(np.frombuffer(key, np.int32)[1:], return_counts=True)
    return ids, count.astype(np.float64)


def _save(job: TrainingJob, vocabulary: WordTokenizer, weight: Array, bias: Array) -> None:
    folders.write_tensors(job.folder / folders.WEIGHTS_FILE, {"weight": weight, "bias": bias})
    folders.write_words(job.folder / folders.VOCABULARY_FILE, vocabulary.words)
