"""Fitting of the generators of pictures. This file needs torch."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from brittle.data import has_splits
from brittle.data import load as load_data
from brittle.png import contact_sheet
from brittle.ranking.pixels import as_tensor
from brittle.training.generator_judge import JUDGE, Judge, find_judge
from brittle.training.generator_measures import measure, rebuilt, samples, spread
from brittle.training.job import Diverged, Fitted, Job
from brittle.training.loop import seeded
from brittle.training.pictures import pixels_of, shape_of
from brittle.training.progress import after_step
from brittle.training.stepwise import Judgement, Losses, Watch, resume, run_steps
from brittle.training.wgan_steps import WganTraining
from brittle.zoo.device import torch_device
from brittle.zoo.generators.networks import build
from brittle.zoo.restoring import save_network

log = logging.getLogger(__name__)
SAMPLE_SHEET, REBUILT_SHEET = "samples.png", "rebuilt.png"
SHEET_COLUMNS, SHEET_PICTURES = 10, 100
JUDGED_SAMPLES = 500
SMALLEST_SPREAD = 0.25  # of the samples, relative to the data; below it they are nearly alike
Pixels = NDArray[np.float32]


@dataclass(frozen=True)
class HeldOut:
    """Pictures that a generator does not learn from, and the split that they are of."""

    pixels: Pixels
    split: str


def fit_picture_generator(job: Job) -> Fitted:
    """Fit generator, critic and inverter; write the weights of the first and the last.

    A test split, if there is one, judges the result. If a loss is not a number, the weights of the
    last checkpoint are written: `Diverged`.
    """
    device, shape, data = torch_device(job.device), shape_of(job), job.splits.name
    train = pixels_of(job, job.splits.train)
    is_known = has_splits(data)
    later = load_data(data, split="test") if is_known else job.splits.dev
    with seeded(job.seed, 1):
        networks = build(job.design.name, job.settings, shape).to(device)
        training = WganTraining(networks, job.settings, as_tensor(train, device), job.seed)
        resume(training, job.folder)
        judge = find_judge(data, shape)
        if judge is None:
            log.warning(
                "There is no %s@%s in the cache, so the classes of the samples are not checked. "
                "Train it first, on the same data: brittle train %s --data %s",
                JUDGE,
                data,
                JUDGE,
                data if is_known else "DATA",
            )
        watch = _Watch(job, training, HeldOut(pixels_of(job, later), later.split), judge)
        try:
            run_steps(training, job.folder, Watch(watch.judgement, watch.report))
        except ArithmeticError as error:
            message = f"The training of {job.name} stopped: {error}."
            if not resume(training, job.folder):
                raise Diverged(message, None) from error
            raise Diverged(message, watch.fitted()) from error
        good = training.state.good_step
        if 0 < good < job.settings.steps:
            log.warning(
                "%s: the generator collapsed after step %d, whose weights are kept: its samples "
                "were nearly alike, or classes were missing.",
                job.name,
                good,
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

    job: Job
    training: WganTraining
    held_out: HeldOut
    judge: Judge | None

    def report(self, losses: Losses) -> None:
        """Report the losses since the last checkpoint, and write sheets of samples."""
        step, steps = self.training.state.step, self.training.steps
        by_name = ", ".join(f"{name} loss {value:.3f}" for name, value in losses.items())
        shown = self._sheets("inverter" in losses)
        line = f"step {step}/{steps}, {by_name}{shown}"
        loss = next(iter(losses.values()))
        self.job.report(after_step(self.job.name, step, steps, loss, line))

    def judgement(self, losses: Losses) -> Judgement:
        """Judge the samples as long as the generator learns."""
        is_learning = self.training.state.step <= self.job.settings.steps
        return Judgement(is_good=is_learning and self.is_good())

    def is_good(self) -> bool:
        """Tell whether the samples differ enough, and show all classes."""
        drawn = samples(self.training.networks, self.job.settings.latent, JUDGED_SAMPLES)
        if spread(drawn, self.held_out.pixels) < SMALLEST_SPREAD:
            return False
        return self.judge is None or not self.judge.missing(drawn)

    def fitted(self) -> Fitted:
        """Write the weights and return what they are worth."""
        job, networks, step = self.job, self.training.networks, self.training.state.step
        save_network(job.folder, networks, leave_out=["critic"])
        self._sheets(True)
        held_out, split = self.held_out.pixels, self.held_out.split
        measures = measure(networks, job.settings.latent, held_out, split, self.judge)
        seen = min(step, job.settings.steps) * job.settings.batch_size * job.settings.critic_steps
        epochs = round(seen / len(self.training.pictures))
        parts = {"shape": list(shape_of(job))}
        return Fitted(None, epochs, parts=parts, measures={"steps": step, **measures})

    def _sheets(self, inverts: bool) -> str:
        """Write the sheets of pictures; return what is to be said of the samples."""
        job, networks = self.job, self.training.networks
        drawn = samples(networks, job.settings.latent, JUDGED_SAMPLES)
        sheet = contact_sheet(drawn[:SHEET_PICTURES], SHEET_COLUMNS)
        (job.folder / SAMPLE_SHEET).write_bytes(sheet)
        if inverts:
            real = self.held_out.pixels[: SHEET_PICTURES // 2]
            pairs = np.stack([real, rebuilt(networks, real)], axis=1).reshape(-1, *real.shape[1:])
            (job.folder / REBUILT_SHEET).write_bytes(contact_sheet(pairs, SHEET_COLUMNS))
            return ""
        if self.judge is None:
            return ""
        missing = self.judge.missing(drawn)
        return f", no samples of {', '.join(missing)}" if missing else ", all classes in samples"
