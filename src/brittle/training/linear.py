"""Fitting the models that are one matrix over words: naive Bayes and the linear SVM."""

from __future__ import annotations

from random import Random

import numpy as np
from numpy.typing import NDArray

from brittle.training.job import Fitted, TrainingJob, accuracy, build_vocabulary
from brittle.training.splits import LabelledTexts
from brittle.zoo import folder as folders
from brittle.zoo.linear import Linear
from brittle.zoo.names.settings import LinearSvmSettings, NaiveBayesSettings
from brittle.zoo.tokenizers.words import WordTokenizer

Array = NDArray[np.float64]
FIRST = 2  # the rows before are those of <pad> and <unknown>, which speak for no class


def fit_naive_bayes(job: TrainingJob, settings: NaiveBayesSettings) -> Fitted:
    """Fit multinomial naive Bayes: smoothed log-probabilities of words, and no class prior.

    The words it knows are those of the train side; others, and holes, say nothing.
    """
    vocabulary = build_vocabulary(job)
    counts = np.zeros((len(vocabulary), len(job.labels)))
    for key, label in zip(vocabulary.encode_bags(job.train.texts), job.train.label):
        rows, count = _bag(key)
        counts[rows, label] += count
    smoothed = counts[FIRST:] + settings.smoothing
    weight = np.zeros_like(counts)
    weight[FIRST:] = np.log(smoothed) - np.log(smoothed.sum(axis=0))
    bias = np.zeros(len(job.labels))
    right = accuracy(Linear(vocabulary, weight, bias), job.dev)
    loss = log_loss(
        Linear(vocabulary, weight, bias).logits(vocabulary.encode_bags(job.train.texts)), job
    )
    job.tell(1, 1, loss, accuracy=right, best=True)
    return _kept(job, vocabulary, weight, bias, epochs=1)


def fit_linear_svm(job: TrainingJob, settings: LinearSvmSettings) -> Fitted:
    """Fit a linear SVM, one class against the rest, by averaged SGD on the hinge loss.

    The epoch best on the dev side is kept; there its margins are then made probabilities: the
    logits are a * margin + c, with the scale a and the offsets c of the least log loss (Platt's
    scaling, with his smoothed targets; for two classes exactly his).
    """
    vocabulary = build_vocabulary(job)
    bags = [_bag(key) for key in vocabulary.encode_bags(job.train.texts)]
    sign = np.where(np.eye(len(job.labels), dtype=bool)[list(job.train.label)], 1.0, -1.0)
    learner = _Averaged(len(vocabulary), len(job.labels), settings)
    best, since, epoch = -1.0, 0, 0
    weight, bias = learner.mean()
    order = list(range(len(bags)))
    for epoch in range(1, settings.epochs + 1):
        Random(f"{job.seed}:{epoch}").shuffle(order)
        loss = sum(learner.learn(*bags[i], sign[i]) for i in order) / len(order)
        now = learner.mean()
        right = accuracy(Linear(vocabulary, *now), job.dev)
        since += 1
        if right > best:
            best, since, (weight, bias) = right, 0, now
        job.tell(epoch, settings.epochs, loss, accuracy=right, best=since == 0)
        if since >= settings.patience:
            break
    margin = Linear(vocabulary, weight, bias).logits(vocabulary.encode_bags(job.dev.texts))
    scale, offset = platt(margin, job.dev)
    return _kept(job, vocabulary, scale * weight, scale * bias + offset, epochs=epoch)


class _Averaged:
    """SGD on the hinge loss with an L2 penalty, and the mean of all weights it went through.

    The weights are `shrink * weight`: shrinking every row at each step would touch every word.
    The mean is over all steps; `late` holds what each row's changes lack of it.
    """

    def __init__(self, words: int, classes: int, settings: LinearSvmSettings) -> None:
        self.weight, self.late = np.zeros((words, classes)), np.zeros((words, classes))
        self.bias, self.total_bias = np.zeros(classes), np.zeros(classes)
        self.shrink, self.total, self.step = 1.0, 0.0, 0
        self.settings = settings

    def learn(self, rows: NDArray[np.int32], count: Array, sign: Array) -> float:
        """Take one step on one text; gives its loss before the step."""
        decay = self.settings.penalty
        rate = self.settings.rate / (1 + self.settings.rate * decay * self.step)
        margin = sign * (self.shrink * (count @ self.weight[rows]) + self.bias)
        lack = np.maximum(0.0, 1.0 - margin)
        self.shrink *= 1 - rate * decay
        push = rate * np.where(lack > 0, sign, 0.0)
        if push.any():
            change = count[:, None] * (push / self.shrink)
            self.weight[rows] += change
            self.late[rows] += self.total * change
            self.bias += push
        self.total += self.shrink
        self.total_bias += self.bias
        self.step += 1
        return float(lack.sum())

    def mean(self) -> tuple[Array, Array]:
        """Give the mean weights and bias so far."""
        steps = max(1, self.step)
        return (self.total * self.weight - self.late) / steps, self.total_bias / steps


def platt(margin: Array, side: LabelledTexts) -> tuple[float, Array]:
    """Fit the scale and the offsets that make margins the logits of the least log loss.

    Newton's method, halving steps that do not help; the problem is convex.
    """
    n, k = margin.shape
    members = np.bincount(side.label, minlength=k)
    own = np.eye(k)[list(side.label)]
    # Platt's targets: as if each class had one more example, and one on the other sides.
    target = (own * members + 1) / (members[list(side.label)] + k)[:, None]
    feature = np.concatenate([margin[:, :, None], np.tile(np.eye(k), (n, 1, 1))], axis=2)
    theta = np.zeros(k + 1)

    def loss(theta: Array) -> float:
        score = feature @ theta
        return float((np.logaddexp.reduce(score, axis=1) - (target * score).sum(1)).sum())

    for _ in range(50):
        score = feature @ theta
        p = np.exp(score - np.logaddexp.reduce(score, axis=1)[:, None])
        gradient = np.einsum("nk,nkd->d", p - target, feature)
        mean = np.einsum("nk,nkd->nd", p, feature)
        curve = np.einsum("nk,nkd,nke->de", p, feature, feature) - mean.T @ mean
        step = np.linalg.solve(curve + 1e-6 * np.eye(k + 1), gradient)
        while loss(theta - step) > loss(theta) and np.abs(step).max() > 1e-12:
            step = step / 2
        theta = theta - step
        if np.abs(step).max() < 1e-9:
            break
    # A dev side that contradicts the train side must not turn the classes round.
    return max(float(theta[0]), 1e-3), theta[1:]


def log_loss(logits: Array, job: TrainingJob) -> float:
    """Give the mean negative log-probability of the train side's labels."""
    own = logits[np.arange(len(job.train)), list(job.train.label)]
    return float((np.logaddexp.reduce(logits, axis=1) - own).mean())


def _bag(key: bytes) -> tuple[NDArray[np.int32], Array]:
    rows, count = np.unique(np.frombuffer(key, np.int32)[1:], return_counts=True)
    return rows, count.astype(np.float64)


def _kept(
    job: TrainingJob, vocabulary: WordTokenizer, weight: Array, bias: Array, epochs: int
) -> Fitted:
    folders.write_tensors(job.folder / folders.WEIGHTS_FILE, {"weight": weight, "bias": bias})
    folders.write_words(job.folder / folders.VOCABULARY_FILE, vocabulary.words)
    return Fitted(accuracy(Linear(vocabulary, weight, bias), job.dev), epochs)
