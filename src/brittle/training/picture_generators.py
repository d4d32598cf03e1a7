"""Fitting of the generators of pictures. This file needs torch."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.data import Dataset, has_splits
from brittle.data import load as load_data
from brittle.errors import UsageError
from brittle.picture import Picture, Shape, stack
from brittle.png import contact_sheet
from brittle.ranking.pixels import as_tensor
from brittle.training.generator_judge import JUDGE, Judge, find_judge
from brittle.training.generator_measures import measure, rebuilt, samples, spread
from brittle.training.job import Diverged, Fitted
from brittle.training.loop import seeded
from brittle.training.plan import TrainingPlan
from brittle.training.progress import Report, TrainingProgress, silent
from brittle.training.wgan_steps import Losses, WganTraining
from brittle.zoo import folder as folders
from brittle.zoo.device import torch_device
from brittle.zoo.generators.networks import build
from brittle.zoo.generators.pictures import PARTS
from brittle.zoo.names.settings import PictureGeneratorSettings

log = logging.getLogger(__name__)
SAMPLE_SHEET, REBUILT_SHEET = "samples.png", "rebuilt.png"
SHEET_COLUMNS, SHEET_PICTURES = 10, 100
JUDGED_SAMPLES = 500
SMALLEST_SPREAD = 0.25  # of the samples, relative to the data; below it they are nearly alike
Pixels = NDArray[np.float32]


@dataclass(frozen=True)
class PictureGeneratorJob:
    """A generator of pictures to fit; `held_out` are pictures that it does not learn from."""

    name: str
    model: str
    data: str
    settings: PictureGeneratorSettings
    seed: int
    shape: Shape
    train: Pixels
    held_out: Pixels
    split: str
    folder: Path
    device: str = "auto"
    report: Report = silent

    @staticmethod
    def of(plan: TrainingPlan, folder: Path, device: str, report: Report) -> PictureGeneratorJob:
        """Decode the pictures of a plan; a test split, if there is one, judges the result."""
        splits = plan.splits
        shape = splits.train.shape
        if shape is None or not isinstance(plan.settings, PictureGeneratorSettings):
            raise UsageError(
                f"{plan.design.name} reads pictures, but the data set {splits.name!r} has none."
            )

        def pixels(dataset: Dataset) -> Pixels:
            pictures = [Picture.decode(example.fields[0][1]) for example in dataset]
            return stack(pictures, shape, plan.name)

        is_known = has_splits(splits.name)
        held_out = load_data(splits.name, split="test") if is_known else splits.dev
        return PictureGeneratorJob(
            name=plan.name,
            model=plan.design.name,
            data=splits.name,
            settings=plan.settings,
            seed=plan.seed,
            shape=shape,
            train=pixels(splits.train),
            held_out=pixels(held_out),
            split=held_out.split,
            folder=folder,
            device=device,
            report=report,
        )


def fit_picture_generator(job: PictureGeneratorJob) -> Fitted:
    """Fit generator, critic and inverter; write the weights of the first and the last.

    If a loss is not a number, the weights of the last checkpoint are written: `Diverged`.
    """
    device = torch_device(job.device)
    with seeded(job.seed, 1):
        networks = build(job.model, job.settings, job.shape).to(device)
        training = WganTraining(networks, job.settings, as_tensor(job.train, device), job.seed)
        training.resume(job.folder)
        judge = find_judge(job.data, job.shape)
        if judge is None:
            log.warning(
                "There is no %s@%s in the cache, so the classes of the samples are not checked. "
                "Train it first, on the same data: brittle train %s --data %s",
                *(JUDGE, job.data, JUDGE, job.data if has_splits(job.data) else "DATA"),
            )
        watch = _Watch(job, training, judge)
        try:
            training.run(job.folder, watch.at_checkpoint, watch.is_good)
        except ArithmeticError as error:
            message = f"The training of {job.name} stopped: {error}."
            if not training.resume(job.folder):
                raise Diverged(message, None) from error
            raise Diverged(message, watch.fitted()) from error
        good = training.state.good_step
        if 0 < good < job.settings.steps:
            log.warning(
                "%s: the generator collapsed after step %d, whose weights are kept: its samples "
                "were nearly alike, or classes were missing.",
                *(job.name, good),
            )
        fitted = watch.fitted()
        for warning in doubts(job.name, fitted.measures):
            log.warning(warning)
        return fitted


def doubts(name: str, measures: Any) -> list[str]:
    """Return what is wrong with a generator that is trained: samples alike, classes missing."""
    found = []
    if measures["spread of samples"] < SMALLEST_SPREAD:
        found.append(
            f"The samples of {name} are nearly alike: their pixels spread "
            f"{measures['spread of samples']:.2f} times as far as those of the data. The training "
            "was too short, or has collapsed. Train longer (--set steps), or with another --seed."
        )
    classes = measures.get("classes", {})
    missing = [label for label, share in classes.items() if share < 1 / (4 * len(classes))]
    if missing:
        found.append(
            f"The samples of {name} hardly show the classes {', '.join(missing)}, as "
            f"{measures['judged by']} sees them: {SAMPLE_SHEET} in its folder shows some. Train "
            "longer (--set steps), or with another --seed."
        )
    return found


@dataclass(frozen=True)
class _Watch:
    """Shows how a training goes: sheets of pictures, losses, and the classes of samples."""

    job: PictureGeneratorJob
    training: WganTraining
    judge: Judge | None

    def at_checkpoint(self, losses: Losses) -> None:
        job, training = self.job, self.training
        own = ", ".join(f"{name} loss {value:.3f}" for name, value in losses.items())
        shown = self._sheets("inverter" in losses)
        line = f"step {training.state.step}/{training.steps}, {own}{shown}"
        loss = next(iter(losses.values()))
        job.report(
            TrainingProgress(
                job.name, 0, 0, training.state.step, training.steps, loss, None, False, line
            )
        )

    def is_good(self) -> bool:
        """Tell whether the samples differ enough, and show all classes."""
        drawn = samples(self.training.networks, self.job.settings.latent, JUDGED_SAMPLES)
        if spread(drawn, self.job.held_out) < SMALLEST_SPREAD:
            return False
        return self.judge is None or not self.judge.missing(drawn)

    def fitted(self) -> Fitted:
        """Write the weights and return what they are worth."""
        job, networks, step = self.job, self.training.networks, self.training.state.step
        tensors = {
            name: tensor.cpu().numpy()
            for name, tensor in networks.state_dict().items()
            if name.partition(".")[0] in PARTS
        }
        folders.write_tensors(job.folder / folders.WEIGHTS_FILE, tensors)
        self._sheets(True)
        measures = measure(networks, job.settings.latent, job.held_out, job.split, self.judge)
        seen = min(step, job.settings.steps) * job.settings.batch_size * job.settings.critic_steps
        parts = {"shape": list(job.shape)}
        return Fitted(
            None, round(seen / len(job.train)), parts=parts, measures={"steps": step, **measures}
        )

    def _sheets(self, inverts: bool) -> str:
        """Write the sheets of pictures; return what is to be said of the samples."""
        job, networks = self.job, self.training.networks
        drawn = samples(networks, job.settings.latent, JUDGED_SAMPLES)
        sheet = contact_sheet(drawn[:SHEET_PICTURES], SHEET_COLUMNS)
        (job.folder / SAMPLE_SHEET).write_bytes(sheet)
        if inverts:
            real = job.held_out[: SHEET_PICTURES // 2]
            pairs = np.stack([real, rebuilt(networks, real)], axis=1).reshape(-1, *job.shape)
            (job.folder / REBUILT_SHEET).write_bytes(contact_sheet(pairs, SHEET_COLUMNS))
            return ""
        if self.judge is None:
            return ""
        missing = self.judge.missing(drawn)
        return f", no samples of {', '.join(missing)}" if missing else ", all classes in samples"
