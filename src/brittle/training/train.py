"""Train a model of the zoo, or find it trained."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from brittle.errors import BrittleError, require
from brittle.training import cache, checkpoint
from brittle.training.job import Diverged, Fitted, Job
from brittle.training.progress import Report, silent
from brittle.training.readme import readme
from brittle.training.sides import Sides, checked, load_sides
from brittle.zoo import folder as folders
from brittle.zoo import grid
from brittle.zoo.folder import Card
from brittle.zoo.grid import Design, Settings


@dataclass(frozen=True)
class Plan:
    """What is to be trained, and where it is kept; everything but `folder` decides the weights."""

    design: Design
    settings: Settings
    size: str
    seed: int
    sides: Sides

    @property
    def key(self) -> str:
        return cache.content_key(
            name=self.design.name,
            size=self.size,
            settings=grid.plain(self.settings),
            seed=self.seed,
            data=self.sides.fingerprint,
        )

    @property
    def name(self) -> str:
        return f"{self.design.name}@{self.sides.name}#{self.seed}"

    @property
    def folder(self) -> Path:
        return cache.place(self.design.name, self.sides.name, self.seed, self.key)


def train(
    name: str,
    dataset_name: str,
    seed: int = 0,
    *,
    device: str = "auto",
    size: str = "default",
    text: Sequence[str] | None = None,
    label: str | None = None,
    progress: Report = silent,
    force: bool = False,
) -> Path:
    """Train a model on a data set of the catalogue, a file or `hf:NAME`; gives its folder.

    A model already trained from the same data and settings is not trained again, unless forced;
    an interrupted training goes on from its last whole epoch. `text` and `label` name the
    columns of a file.
    """
    design = grid.design(name)
    settings = grid.settings(design, size)
    sides = load_sides(dataset_name, text=text, label=label)
    plan = Plan(design, settings, size, seed, sides)
    return _train(plan, device, progress, force)


def train_on(
    name: str,
    sides: Sides,
    seed: int = 0,
    *,
    device: str = "auto",
    size: str = "default",
    settings: Settings | None = None,
    progress: Report = silent,
    force: bool = False,
) -> Path:
    """Train a model on two sides at hand, with settings of one's own if given."""
    design = grid.design(name)
    chosen = settings or grid.settings(design, size)
    return _train(Plan(design, chosen, size, seed, checked(sides)), device, progress, force)


def find(
    name: str,
    dataset_name: str,
    seed: int = 0,
    *,
    size: str = "default",
    text: Sequence[str] | None = None,
    label: str | None = None,
) -> Path | None:
    """Find the folder of a trained model, or None; nothing is trained."""
    design = grid.design(name)
    sides = load_sides(dataset_name, text=text, label=label)
    folder = Plan(design, grid.settings(design, size), size, seed, sides).folder
    return folder if (folder / folders.CARD).is_file() else None


def _train(plan: Plan, device: str, progress: Report, force: bool) -> Path:
    folder = plan.folder
    if (folder / folders.CARD).is_file() and not force:
        return folder
    with cache.locked(folder):
        if (folder / folders.CARD).is_file() and not force:
            return folder  # another process trained it meanwhile
        partial = Path(f"{folder}{cache.PARTIAL}")
        if force and partial.exists():
            shutil.rmtree(partial)
        partial.mkdir(exist_ok=True)
        started = time.perf_counter()
        try:
            fitted = fit(_job(plan, partial, device, progress))
        except Diverged as error:
            raise _kept(plan, partial, error, time.perf_counter() - started) from error
        finally:
            with suppress(OSError):
                partial.rmdir()  # goes only when nothing was trained yet
        _finish(plan, partial, fitted, time.perf_counter() - started)
        _replace(partial, folder)
    return folder


def _job(plan: Plan, partial: Path, device: str, progress: Report) -> Job:
    sides = plan.sides
    return Job(
        name=plan.name,
        design=plan.design,
        settings=plan.settings,
        seed=plan.seed,
        labels=sides.labels,
        fields=sides.fields,
        train=sides.side(sides.train),
        dev=sides.side(sides.dev),
        folder=partial,
        device=device,
        report=progress,
    )


def _finish(plan: Plan, partial: Path, fitted: Fitted, seconds: float) -> None:
    """Write the cards beside the weights; `seconds` counts the last sitting only."""
    checkpoint.remove(partial)
    sides = plan.sides
    card = Card(
        name=plan.design.name,
        kind=plan.design.kind,
        data=sides.name,
        seed=plan.seed,
        size=plan.size,
        labels=sides.labels,
        fields=sides.fields,
        parts=dict(plan.design.parts),
        settings=grid.plain(plan.settings),
        dev_accuracy=fitted.dev_accuracy,
        epochs=fitted.epochs,
        examples=len(sides.train),
        data_fingerprint=sides.fingerprint,
        key=plan.key,
        seconds=round(seconds, 1),
        versions=cache.versions("brittle", "numpy", *_PACKAGES[plan.design.kind]),
    )
    folders.write(partial, card, readme(card, plan.design.about))


def _kept(plan: Plan, partial: Path, error: Diverged, seconds: float) -> BrittleError:
    """Keep the last good weights of a training that went wrong, and say where they are."""
    remedy = "Train with another --seed."
    if error.fitted is None:
        shutil.rmtree(partial)
        return BrittleError(f"{error} No epoch was whole, so no weights are kept. {remedy}")
    _finish(plan, partial, error.fitted, seconds)
    kept = Path(f"{plan.folder}{cache.KEPT}")
    _replace(partial, kept)
    good = f"(epoch {error.fitted.epochs}, dev accuracy {error.fitted.dev_accuracy:.3f})"
    return BrittleError(f"{error} The last good weights {good} are kept in {kept}. {remedy}")


def _replace(source: Path, place: Path) -> None:
    if place.exists():
        shutil.rmtree(place)
    source.rename(place)


def fit(job: Job) -> Fitted:
    """Fit the model of a job and leave its weights in the job's folder."""
    settings = job.settings
    if isinstance(settings, grid.NaiveBayes):
        from brittle.training.linear import fit_naive_bayes

        return fit_naive_bayes(job, settings)
    if isinstance(settings, grid.LinearSvm):
        from brittle.training.linear import fit_linear_svm

        return fit_linear_svm(job, settings)
    require("torch", "torch", f"Training {job.design.name}")
    if isinstance(settings, grid.Network):
        from brittle.training.networks import fit_network

        return fit_network(job, settings)
    from brittle.training.transformer import fit_transformer

    return fit_transformer(job, settings)


_PACKAGES = {
    "linear": (),
    "network": ("torch", "safetensors"),
    "transformer": ("torch", "safetensors", "transformers"),
}
