"""Fitting of the zoo's models of pictures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from brittle.data import Dataset
from brittle.errors import UsageError, require
from brittle.picture import Picture, Shape, stack
from brittle.training.job import Fitted
from brittle.training.plan import TrainingPlan
from brittle.training.progress import Report, silent
from brittle.zoo import folder as folders
from brittle.zoo.names.settings import ForestSettings, ModelSettings, PictureNetworkSettings
from brittle.zoo.pictures.forest import Forest, forest_tensors

PICTURES_PER_PASS = 256
Predict = Callable[[NDArray[np.float32]], NDArray[np.int64]]


@dataclass(frozen=True)
class LabelledPictures:
    """Pictures × height × width × channels, with the indices of their labels."""

    pixels: NDArray[np.float32]
    label: NDArray[np.int64]


@dataclass(frozen=True)
class PictureJob:
    """A model of pictures to fit; its weights go to `folder`, and its checkpoint until then."""

    name: str
    model: str
    settings: ModelSettings
    seed: int
    classes: int
    shape: Shape
    train: LabelledPictures
    dev: LabelledPictures
    folder: Path
    device: str = "auto"
    report: Report = silent

    @staticmethod
    def of(plan: TrainingPlan, folder: Path, device: str, report: Report) -> PictureJob:
        """Decode the pictures of a plan."""
        splits = plan.splits
        shape = splits.train.shape
        if shape is None:
            raise UsageError(
                f"{plan.design.name} reads pictures, but the data set {splits.name!r} has none."
            )
        index = {label: i for i, label in enumerate(splits.labels)}

        def labelled(dataset: Dataset) -> LabelledPictures:
            pictures = [Picture.decode(example.fields[0][1]) for example in dataset]
            label = [index[str(example.label)] for example in dataset]
            return LabelledPictures(stack(pictures, shape, plan.name), np.array(label))

        return PictureJob(
            name=plan.name,
            model=plan.design.name,
            settings=plan.settings,
            seed=plan.seed,
            classes=len(splits.labels),
            shape=shape,
            train=labelled(splits.train),
            dev=labelled(splits.dev),
            folder=folder,
            device=device,
            report=report,
        )


def fit_pictures(job: PictureJob) -> Fitted:
    """Fit a model of pictures and write its weights to the job's folder."""
    if isinstance(job.settings, ForestSettings):
        fitted = fit_forest(job, job.settings)
    else:
        require("torch", "torch", f"Training {job.name}")
        from brittle.training.picture_networks import fit_picture_network

        assert isinstance(job.settings, PictureNetworkSettings)
        fitted = fit_picture_network(job, job.settings)
    return replace(fitted, parts={"shape": list(job.shape)})


def fit_forest(job: PictureJob, settings: ForestSettings) -> Fitted:
    """Fit a random forest by scikit-learn; what is kept are its arrays."""
    ensemble = require("sklearn.ensemble", "sklearn", f"Training {job.name}")
    model = ensemble.RandomForestClassifier(n_estimators=settings.trees, random_state=job.seed)
    model.fit(job.train.pixels.reshape(len(job.train.pixels), -1), job.train.label)
    missing = sorted(set(range(job.classes)) - set(model.classes_.tolist()))
    if missing:
        raise UsageError(f"{job.name} has no pictures of class {missing[0]} to learn from.")
    tensors = forest_tensors(model.estimators_)
    folders.write_tensors(job.folder / folders.WEIGHTS_FILE, tensors)
    forest = Forest.built(job.shape, job.classes, tensors)

    def predict(pixels: NDArray[np.float32]) -> NDArray[np.int64]:
        label: NDArray[np.int64]
        label = forest.probabilities(pixels.reshape(len(pixels), -1)).argmax(axis=1)
        return label

    return Fitted(share_correct(predict, job.dev), 1)


def share_correct(predict: Predict, split: LabelledPictures) -> float:
    """Compute the share of pictures whose prediction is their label."""
    starts = range(0, len(split.label), PICTURES_PER_PASS)
    correct = 0
    for part in (slice(start, start + PICTURES_PER_PASS) for start in starts):
        correct += int((predict(split.pixels[part]) == split.label[part]).sum())
    return correct / len(split.label)
