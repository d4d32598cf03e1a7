"""The pictures of a training, and fitting of the random forest on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from brittle.data import Dataset
from brittle.errors import UsageError, require
from brittle.picture import Picture, Shape, stack
from brittle.training.job import Fitted, TrainingJob
from brittle.zoo import folder as folders
from brittle.zoo.forest import Forest, forest_tensors

PICTURES_PER_PASS = 256
Predict = Callable[[NDArray[np.float32]], NDArray[np.int64]]


@dataclass(frozen=True)
class LabelledPictures:
    """Pictures × height × width × channels, with the indices of their labels."""

    pixels: NDArray[np.float32]
    label: NDArray[np.int64]


def shape_of(job: TrainingJob) -> Shape:
    """Return the shape of the pictures of a job."""
    shape = job.splits.train.shape
    if shape is None:
        raise UsageError(
            f"{job.design.name} reads pictures, but the data set {job.splits.name!r} has none."
        )
    return shape


def pixels_of(job: TrainingJob, dataset: Dataset) -> NDArray[np.float32]:
    """Decode the pictures of one of a job's data sets."""
    pictures = [Picture.decode(example.fields[0][1]) for example in dataset]
    return stack(pictures, shape_of(job), job.name)


def labelled_pictures(job: TrainingJob, dataset: Dataset) -> LabelledPictures:
    """Decode the pictures of one of a job's data sets, with the indices of their labels."""
    index = {label: i for i, label in enumerate(job.labels)}
    label = np.array([index[str(example.label)] for example in dataset])
    return LabelledPictures(pixels_of(job, dataset), label)


def fit_forest(job: TrainingJob) -> Fitted:
    """Fit a random forest by scikit-learn; what is kept are its arrays."""
    ensemble = require("sklearn.ensemble", "sklearn", f"Training {job.name}")
    model = ensemble.RandomForestClassifier(n_estimators=job.settings.trees, random_state=job.seed)
    train, shape, classes = labelled_pictures(job, job.splits.train), shape_of(job), len(job.labels)
    model.fit(train.pixels.reshape(len(train.pixels), -1), train.label)
    missing = sorted(set(range(classes)) - set(model.classes_.tolist()))
    if missing:
        raise UsageError(f"{job.name} has no pictures of class {missing[0]} to train on.")
    tensors = forest_tensors(model.estimators_)
    folders.write_tensors(job.folder / folders.WEIGHTS_FILE, tensors)
    forest = Forest.built(shape, classes, tensors)

    def predict(pixels: NDArray[np.float32]) -> NDArray[np.int64]:
        label: NDArray[np.int64]
        label = forest.probabilities(pixels.reshape(len(pixels), -1)).argmax(axis=1)
        return label

    dev = labelled_pictures(job, job.splits.dev)
    return Fitted(share_correct(predict, dev), 1, parts={"shape": list(shape)})


def share_correct(predict: Predict, split: LabelledPictures) -> float:
    """Compute the share of pictures whose prediction is their label."""
    starts = range(0, len(split.label), PICTURES_PER_PASS)
    correct = 0
    for part in (slice(start, start + PICTURES_PER_PASS) for start in starts):
        correct += int((predict(split.pixels[part]) == split.label[part]).sum())
    return correct / len(split.label)
