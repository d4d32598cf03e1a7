"""Training of a model of the zoo, and the search for one that is already trained."""

from __future__ import annotations

import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from brittle.errors import BrittleError, UsageError, require
from brittle.progress import Progress, listener, shows_progress
from brittle.safety import files
from brittle.training import checkpoint, elmo
from brittle.training.adversarial import methods, texts
from brittle.training.adversarial.methods import AdversarialTraining, is_by_attack, parse_method
from brittle.training.adversarial.texts import with_variants
from brittle.training.cache_key import model_key, model_name, settings_that_matter
from brittle.training.job import (
    Diverged,
    Fitted,
    Report,
    TrainingJob,
    TrainingProgress,
    card_of,
    silent,
)
from brittle.training.plan import Changed, TrainingPlan, check_kinds, choose_settings
from brittle.training.readme import readme
from brittle.training.splits import (
    KNOWN_FINGERPRINTS,
    TrainingSplits,
    check_splits,
    load_sentences,
    load_splits,
    short_name,
)
from brittle.training.word_vectors import PACKAGES
from brittle.values import former_keywords
from brittle.zoo import folder as folders
from brittle.zoo.names import grid
from brittle.zoo.names.grid import Design
from brittle.zoo.names.parsing import split_name
from brittle.zoo.names.settings import ModelSettings


@former_keywords(force="new", dataset_name="data")
@shows_progress("training")
def train(
    name: str,
    data: str,
    seed: int = 0,
    *,
    device: str = "auto",
    size: str = "default",
    changed: Changed = (),
    text: Sequence[str] | None = None,
    label: str | None = None,
    adversarial: str | AdversarialTraining | None = None,
    exclude: Sequence[str] = (),
    progress: Progress[TrainingProgress] = True,
    new: bool = False,
) -> Path:
    """Train a model on a data set of the catalogue, a file or `hf:NAME`; return its folder.

    `name` is a name of the grid, `hf:NAME` or the folder of a transformers encoder. `changed` are
    settings that differ from the defaults of the model at this size: values by name, or texts such
    as "hidden=64". A model that is already trained with the same data and settings is not trained
    again, unless `new` is set; an interrupted training resumes after its last complete epoch.
    `text` and `label` name the columns of a file; for a translator, the columns of both languages.
    `adversarial` hardens the model: hotflip, miyato, key, levels of the ladder such as "rewrite" or
    "rewrite,careful", the name of an attack, or a method. The model's name can have it too:
    `CharCNN-LSTM+hotflip`. `exclude` are files with sentences that a generator of sentences must
    not see.
    """
    design, method = _parse_name(name, adversarial, device)
    settings = choose_settings(design, size, changed)
    fingerprint = "" if new else _known_fingerprint(design, data, text, label, exclude)
    if fingerprint:
        trained = _find(design, settings, size, seed, data, fingerprint, method)
        if trained is not None:
            return trained
    splits = _load_splits(design, settings, data, text, label, exclude)
    plan = _plan(design, settings, size, seed, splits, method)
    return _train(plan, device, listener(progress), new)


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
    new: bool = False,
) -> Path:
    """Train a model on splits that are already loaded; `settings` replace those of its size."""
    plan = _plan_on(name, splits, seed, size, settings, adversarial, device)
    return _train(plan, device, progress, new)


def is_trained_on(
    name: str,
    splits: TrainingSplits,
    seed: int = 0,
    *,
    size: str = "default",
    settings: ModelSettings | None = None,
    adversarial: str | AdversarialTraining | None = None,
) -> bool:
    """Tell whether `train_on` would find the model in the cache."""
    plan = _plan_on(name, splits, seed, size, settings, adversarial, "cpu")
    return (plan.folder / folders.CARD_FILE).is_file()


def _plan_on(
    name: str,
    splits: TrainingSplits,
    seed: int,
    size: str,
    settings: ModelSettings | None,
    adversarial: str | AdversarialTraining | None,
    device: str,
) -> TrainingPlan:
    design, method = _parse_name(name, adversarial, device)
    settings = settings or grid.settings(design, size)
    splits = check_splits(splits, design.family.labels)
    return _plan(design, settings, size, seed, splits, method)


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
    """Return the folder of a trained model, or None; nothing is trained."""
    parts = split_name(name)
    design = grid.design(parts.model)
    settings = choose_settings(design, size, changed)
    fingerprint = _known_fingerprint(design, dataset_name, text, label)
    if not fingerprint:
        fingerprint = _load_splits(design, settings, dataset_name, text, label).fingerprint
    if not is_by_attack(name):
        method = parse_method(parts.method) if parts.method else None
        return _find(design, settings, size, seed, dataset_name, fingerprint, method)
    # The name of an attack does not hold everything that decides the key, but the cards do.
    hardened = f"{design.name}+{parts.method}"
    deciding = settings_that_matter(design, grid.as_json(settings))
    wanted = (hardened, seed, size, fingerprint, deciding)
    for model in folders.trained_models():
        card = model.card
        own = settings_that_matter(design, card.settings)
        if (card.name, card.seed, card.size, card.data_fingerprint, own) == wanted:
            return model.path
    return None


def _find(
    design: Design,
    settings: ModelSettings,
    size: str,
    seed: int,
    data: str,
    fingerprint: str,
    method: AdversarialTraining | None,
) -> Path | None:
    """Return the folder of a trained model, by the fingerprint of its data, or None."""
    bilm = elmo.bilm_key(design, settings, size)
    key = model_key(design, settings, size, seed, fingerprint, method, bilm)
    folder = folders.model_folder(model_name(design, method), short_name(data), seed, key)
    return folder if (folder / folders.CARD_FILE).is_file() else None


def _known_fingerprint(
    design: Design,
    data: str,
    text: Sequence[str] | None,
    label: str | None,
    exclude: Sequence[str] = (),
) -> str:
    """Return the fingerprint of a known data set, which need not be loaded for that, or ""."""
    is_whole = not (text or label or exclude) and design.family.labels == "classes"
    return KNOWN_FINGERPRINTS.get(data, "") if is_whole else ""


def columns_of(name: str, data: str) -> dict[str, str]:
    """Return the columns of a file or folder that a translator was trained on, if it was.

    So it is found by the data's path alone.
    """
    design = grid.design(split_name(name).model)
    settings = grid.settings(design)
    for model in folders.trained_models():
        card = model.card
        if (card.name, card.data) != (design.name, short_name(data)) or not Path(data).exists():
            continue
        columns: dict[str, str] = dict(card.parts.get("columns", {}))
        with suppress(UsageError):  # another file of this name has other columns
            splits = _load_splits(design, settings, data, **columns)
            if splits.fingerprint == card.data_fingerprint:
                return columns
    return {}


def _load_splits(
    design: Design,
    settings: Any,
    data: str,
    text: Sequence[str] | None,
    label: str | None,
    exclude: Sequence[str] = (),
) -> TrainingSplits:
    if design.family.cuts_sentences:
        return load_sentences(data, settings.learnt_length, text=text, exclude=exclude)
    if exclude:
        raise UsageError(
            f"Got exclude for {design.name}; expected it for a generator of sentences, such as "
            "ARAE. Leave it out."
        )
    return load_splits(data, text=text, label=label, labels=design.family.labels)


def _plan(
    design: Design,
    settings: ModelSettings,
    size: str,
    seed: int,
    splits: TrainingSplits,
    method: AdversarialTraining | None,
) -> TrainingPlan:
    bilm = elmo.bilm_key(design, settings, size)
    return TrainingPlan(design, settings, size, seed, splits, method, bilm)


def _parse_name(
    name: str, adversarial: str | AdversarialTraining | None, device: str
) -> tuple[Design, AdversarialTraining | None]:
    """Parse a name such as `LSTM-W-Random-1+key` into the design and the method."""
    parts = split_name(name)
    if parts.method and adversarial is not None:
        raise UsageError(
            f"Got the model {name!r}, whose name already has its adversarial training, "
            f"and adversarial {adversarial!r}. Use only one of them."
        )
    method = parts.method or adversarial
    if isinstance(method, str):
        method = parse_method(method, device=device)
    return grid.design(parts.model), method


def _train(plan: TrainingPlan, device: str, progress: Report, new: bool) -> Path:
    folder = plan.folder
    if (folder / folders.CARD_FILE).is_file() and not new:
        return folder
    check_kinds(plan.design, plan.splits)
    if plan.method is not None:
        methods.check_method(plan.design, plan.settings, plan.method)
    if plan.bilm:
        plan = elmo.with_bilm(plan, lambda bilm: _train(bilm, device, progress, new=False))
    with folders.hold_lock(folder):
        if (folder / folders.CARD_FILE).is_file() and not new:
            return folder  # another process trained it meanwhile
        partial = Path(f"{folder}{folders.PARTIAL_SUFFIX}")
        if new and partial.exists():
            shutil.rmtree(partial)
        partial.mkdir(exist_ok=True)
        started = time.perf_counter()
        try:
            fitted = fit(TrainingJob(plan, partial, device, progress))
        except Diverged as error:
            raise _keep_diverged(plan, partial, error, time.perf_counter() - started) from error
        finally:
            with suppress(OSError):
                partial.rmdir()  # fails, as it should, if something was trained
        _write_card(plan, partial, fitted, time.perf_counter() - started)
        _move(partial, folder)
    return folder


def _write_card(plan: TrainingPlan, partial: Path, fitted: Fitted, seconds: float) -> None:
    """Remove temporary files and write the card; `seconds` counts only the last session."""
    checkpoint.remove(partial)
    texts.remove(partial)
    versions = files.versions("brittle", "numpy", *_packages(plan.design))
    card = card_of(plan, fitted, seconds, versions)
    folders.write_card(partial, card, readme(card, plan.design.about))


def _keep_diverged(
    plan: TrainingPlan, partial: Path, error: Diverged, seconds: float
) -> BrittleError:
    """Keep the last good weights of a training that diverged; build the error that names them."""
    rate = getattr(plan.settings, "learning_rate", None)
    lower = f", or at a lower rate than {rate:g} (--set learning_rate=…)" if rate else ""
    remedy = f"Train with another --seed{lower}."
    if error.fitted is None:
        shutil.rmtree(partial)
        missing = plan.design.family.first_kept
        return BrittleError(f"{error} No {missing}, so no weights are kept. {remedy}")
    _write_card(plan, partial, error.fitted, seconds)
    folder = Path(f"{plan.folder}{folders.DIVERGED_SUFFIX}")
    _move(partial, folder)
    good = f"({error.fitted.reached})"
    return BrittleError(f"{error} The last good weights {good} are kept in {folder}. {remedy}")


def _move(source: Path, folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)
    source.rename(folder)


def fit(job: TrainingJob) -> Fitted:
    """Fit the model of a job and write its weights to the job's folder."""
    family = job.design.family
    for module, extra in family.needs:
        require(module, extra, f"Training {job.design.name}")
    job = with_variants(job)
    if family.is_refitted:
        job = texts.with_added_texts(job, family.fit)
    fitted: Fitted = family.fit(job)
    return fitted


def _packages(design: Design) -> tuple[str, ...]:
    """List the packages that influence the weights."""
    vectors = PACKAGES.get(str(design.parts.get("embedding")))
    return (*design.family.packages, *([vectors] if vectors else []))
