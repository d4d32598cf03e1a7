"""Fitting of the generators of pictures, and what a trained one is worth. Needs torch.

A classifier of the zoo that looks at the samples of a generator. This file needs torch. What a
trained generator of pictures is worth, in numbers for its card. This file needs torch. Fitting of
the generators of pictures. This file needs torch.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from brittle.data import has_splits
from brittle.data import load as load_data
from brittle.picture import Picture, contact_sheet
from brittle.ranking.moves import as_tensor
from brittle.training.job import Diverged, Fitted, TrainingJob, after_step
from brittle.training.loop import seeded
from brittle.training.pictures import pixels_of, shape_of
from brittle.training.stepwise import Judgement, Losses, Watch, resume, run_steps
from brittle.training.wgan import WganTraining
from brittle.zoo.device import torch_device
from brittle.zoo.folder import trained_models
from brittle.zoo.generators.networks import Wgan, build
from brittle.zoo.model import Model, open_model
from brittle.zoo.restoring import save_network

JUDGE = "LeNet"
PICTURES_PER_PASS = 256
MISSING_SHARE = 0.01  # a class with less of the samples is missing


@dataclass(frozen=True)
class Judge:
    """A trained classifier of the same pictures: its name, its labels, and the model."""

    name: str
    labels: tuple[str, ...]
    model: Model

    def probabilities(self, pixels: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the probabilities of pictures × height × width × channels."""
        parts = []
        for start in range(0, len(pixels), PICTURES_PER_PASS):
            pictures = Picture.rows(pixels[start : start + PICTURES_PER_PASS])
            logits = self.model.logits(self.model.encode(pictures)).astype(np.float64)  # type: ignore[arg-type]
            power = np.exp(logits - logits.max(axis=1, keepdims=True))
            parts.append(power / power.sum(axis=1, keepdims=True))
        return np.concatenate(parts)

    def missing(self, pixels: NDArray[np.float32]) -> list[str]:
        """Return the classes that hardly any of the pictures are seen as."""
        share = np.bincount(self.probabilities(pixels).argmax(axis=1), minlength=len(self.labels))
        return [
            label for label, count in zip(self.labels, share) if count < MISSING_SHARE * len(pixels)
        ]


def find_judge(data: str, shape: Sequence[int]) -> Judge | None:
    """Open the best LeNet in the cache that was trained on these data; None if there is none."""
    fitting = [
        model
        for model in trained_models()
        if (model.name, model.data) == (JUDGE, data) and model.card.parts["shape"] == list(shape)
    ]
    if not fitting:
        return None
    best = max(fitting, key=lambda model: model.dev_accuracy or 0.0)
    card, model = open_model(best.path)
    return Judge(card.full_name, card.labels, model)


ROWS_PER_PASS = 128
SAMPLES = 2000
DIGITS = 4
Pixels = NDArray[np.float32]


def samples(networks: Wgan, latent: int, count: int) -> Pixels:
    """Decode the same points of the latent space every time."""
    z = torch.randn(count, latent, generator=torch.Generator().manual_seed(count))
    device = next(networks.parameters()).device
    with torch.no_grad():
        passes = torch.split(z.to(device), ROWS_PER_PASS)
        parts = [networks.generator(rows).cpu() for rows in passes]
    return _pixels(torch.cat(parts))


def rebuilt(networks: Wgan, pixels: Pixels) -> Pixels:
    """Return G(I(x)) of pictures."""
    device = next(networks.parameters()).device
    parts = []
    with torch.no_grad():
        for start in range(0, len(pixels), ROWS_PER_PASS):
            rows = as_tensor(pixels[start : start + ROWS_PER_PASS], device)
            parts.append(networks.generator(networks.inverter(rows)).cpu())
    return _pixels(torch.cat(parts))


def measure(
    networks: Wgan, latent: int, held_out: Pixels, split: str, judge: Judge | None
) -> dict[str, Any]:
    """Return the figures of a generator; those of classes only if a classifier judges them."""
    copies = rebuilt(networks, held_out)
    difference = copies.astype(np.float64) - held_out
    error = np.sqrt((difference**2).mean(axis=(1, 2, 3)))
    drawn = samples(networks, latent, SAMPLES)
    figures: dict[str, Any] = {
        "held out": f"{split} split, {len(held_out):,} pictures",
        "reconstruction error": {
            "mean": round(float(error.mean()), DIGITS),
            "99 of 100": round(float(np.quantile(error, 0.99)), DIGITS),
        },
        "spread of samples": round(spread(drawn, held_out), 3),
    }
    summary = f"reconstruction error {error.mean():.3f}"
    if judge is None:
        return figures | {"summary": summary}
    probability = judge.probabilities(drawn)
    share = np.bincount(probability.argmax(axis=1), minlength=len(judge.labels)) / SAMPLES
    before, after = (judge.probabilities(p).argmax(axis=1) for p in (held_out, copies))
    kept = float((before == after).mean())
    return figures | {
        "judged by": judge.name,
        "samples": SAMPLES,
        "classes": {label: round(float(s), DIGITS) for label, s in zip(judge.labels, share)},
        "confidence": round(float(probability.max(axis=1).mean()), DIGITS),
        "label kept": round(kept, DIGITS),
        "summary": f"{summary}, label kept on {kept:.1%}, rarest class {share.min():.1%}",
    }


def spread(drawn: Pixels, real: Pixels) -> float:
    """Return how far the pixels of samples spread, over those of the data."""
    own, expected = (float(p.astype(np.float64).std(axis=0).mean()) for p in (drawn, real))
    return own / expected if expected else 0.0


def _pixels(pictures: torch.Tensor) -> Pixels:
    pixels: Pixels = pictures.permute(0, 2, 3, 1).contiguous().numpy()
    return pixels


log = logging.getLogger(__name__)
SAMPLE_SHEET, REBUILT_SHEET = "samples.png", "rebuilt.png"
SHEET_COLUMNS, SHEET_PICTURES = 10, 100
JUDGED_SAMPLES = 500
SMALLEST_SPREAD = 0.25  # of the samples, relative to the data; below it they are nearly alike


@dataclass(frozen=True)
class HeldOut:
    """Pictures that a generator does not learn from, and the split that they are of."""

    pixels: Pixels
    split: str


def fit_picture_generator(job: TrainingJob) -> Fitted:
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
                "There is no %s@%s in the cache, so brittle cannot check the classes of "
                "the samples. Train it first, on the same data: brittle train %s --data %s",
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
                "%s: the generator collapsed after step %d: its samples were nearly "
                "identical, or classes were missing. The weights of that step are kept.",
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
            f"The samples of {name} are nearly identical: their pixels spread "
            f"{measures['spread of samples']:.2f} times as far as the pixels of the data. "
            "Training was too short, or it collapsed. Train longer (--set steps), or "
            "with another --seed."
        )
    classes = measures.get("classes", {})
    missing = [label for label, share in classes.items() if share < 1 / (4 * len(classes))]
    if missing:
        found.append(
            f"The samples of {name} hardly show the classes {', '.join(missing)}, judged "
            f"by {measures['judged by']}. See {SAMPLE_SHEET} in its folder. Train longer "
            "(--set steps), or with another --seed."
        )
    return found


@dataclass(frozen=True)
class _Watch:
    """Shows how a training goes: sheets of pictures, losses, and the classes of samples."""

    job: TrainingJob
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
