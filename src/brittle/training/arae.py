"""Fitting of an ARAE: block by block, with checkpoints, until its samples get no better.

A resumed training ends with the same weights as an undisturbed one. This file needs torch.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from brittle.errors import UsageError
from brittle.training import checkpoint
from brittle.training.arae_latent import fit_latent
from brittle.training.arae_steps import SentenceRows, Trainer
from brittle.training.checkpoint import TrainingState
from brittle.training.job import Diverged, Fitted, TrainingJob
from brittle.training.loop import seeded
from brittle.training.optimizers import restore_state, state_of
from brittle.training.progress import TrainingProgress
from brittle.training.sentence_measures import measure
from brittle.zoo import folder as folders
from brittle.zoo.device import torch_device
from brittle.zoo.generators.arae import ARAE, CRITIC
from brittle.zoo.generators.sentences import SentenceTokenizer
from brittle.zoo.names.settings import SentenceGeneratorSettings
from brittle.zoo.tokenizers.words import UNKNOWN

log = logging.getLogger(__name__)
MIN_DISTINCT = 0.05  # a generator with fewer different sentences has collapsed
MIN_SENTENCES = 20
MAX_DEV = 2_000  # sentences that are measured
CHECK_SAMPLES = 1_000
REPORTS_PER_BLOCK = 10


def fit_sentence_generator(job: TrainingJob, settings: SentenceGeneratorSettings) -> Fitted:
    """Fit an ARAE on sentences; the vocabulary is that of the train split."""
    device = torch_device(job.device)
    sentences = [str(text) for text in job.train.texts]
    caps = {"cap": settings.vocabulary, "min_count": settings.min_count}
    tokenizer = SentenceTokenizer.of(sentences, settings.max_length, **caps)
    rows, unknown = _rows(job, tokenizer, device)
    with seeded(job.seed, 1):
        model = ARAE(settings, len(tokenizer)).to(device)
        trainer = Trainer(model, settings, rows)
        try:
            state = _run_blocks(job, trainer, tokenizer)
        except Diverged as error:
            if error.fitted is not None:
                error.fitted = _finish(job, trainer, tokenizer, error.fitted)
            raise
        epochs = state.epoch * settings.check_every * settings.batch_size // len(rows.train)
        counted = {"sentences": len(rows.train), "left out, with rare words": unknown}
        steps = {"steps": min(state.best_epoch * settings.check_every, settings.steps)}
        return _finish(job, trainer, tokenizer, Fitted(None, epochs, measures=steps | counted))


def _finish(
    job: TrainingJob, trainer: Trainer, tokenizer: SentenceTokenizer, fitted: Fitted
) -> Fitted:
    """Fit generator and inverter to the codes there are, measure and save them."""
    model, rows, settings = trainer.model, trainer.rows, trainer.settings

    def is_good() -> bool:
        if not _is_finite(model.generator):
            return False
        at = measure(model, tokenizer, rows.train, rows.dev, CHECK_SAMPLES, is_inverted=False)
        return at.distinct >= MIN_DISTINCT

    def report(line: str) -> None:
        progress = (0, 0, settings.steps, settings.steps, 0.0, None, False, line)
        job.report(TrainingProgress(job.name, *progress))

    if not fit_latent(model, settings, rows.train, job.seed, is_good, report):
        log.warning(
            "%s: the generator has collapsed while it learnt to rebuild codes; that of the first "
            "part is kept.",
            job.name,
        )
    if not _is_finite(model):
        raise Diverged(f"The training of {job.name} stopped: the inverter has no numbers.", None)
    measures = measure(model, tokenizer, rows.train, rows.dev)
    save(job.folder, model, tokenizer)
    parts = {"capital": tokenizer.style.capital, "closing": tokenizer.style.closing}
    figures = measures.as_json() | {"summary": measures.summary()}
    return replace(fitted, parts=parts, measures={**fitted.measures, **figures})


def _rows(job: TrainingJob, tokenizer: SentenceTokenizer, device: str) -> tuple[SentenceRows, int]:
    """Return the rows of sentences; those of the train split with an unknown word are left out."""
    train = tokenizer.rows(job.train.texts)
    known = ~(train == UNKNOWN).any(axis=1)
    if known.sum() < MIN_SENTENCES:
        raise UsageError(
            f"{job.name} has {known.sum()} sentences to learn from, of words that occur in at "
            f"least {job.settings.min_count} of them; expected {MIN_SENTENCES} or more. Train on "  # type: ignore[union-attr]
            "more text, or with --set min_count=1."
        )
    dev = tokenizer.rows(job.dev.texts[:MAX_DEV])
    on_device = (torch.from_numpy(rows).to(device) for rows in (train[known], dev))
    return SentenceRows(*on_device), int((~known).sum())


def _run_blocks(job: TrainingJob, trainer: Trainer, tokenizer: SentenceTokenizer) -> TrainingState:
    """Train block by block, until no more words are rebuilt; keep the best weights.

    (The authors stop by the reverse perplexity. Here generator and inverter are trained further
    when the autoencoder rests, so it is the autoencoder that decides.)
    """
    settings, rows, model = trainer.settings, trainer.rows, trainer.model
    blocks = math.ceil(settings.steps / settings.check_every)
    state, best = _resume(job.folder, trainer)
    while state.epoch < blocks and state.since < settings.patience:
        try:
            loss = _run_block(job, trainer, state.epoch)
        except ArithmeticError as error:
            model.load_state_dict(best or model.state_dict())
            reached = {"steps": state.best_epoch * settings.check_every}
            fitted = Fitted(None, 0, measures=reached) if best else None
            raise Diverged(f"The training of {job.name} stopped: {error}.", fitted) from error
        model.eval()
        at = measure(model, tokenizer, rows.train, rows.dev, CHECK_SAMPLES, is_inverted=False)
        if state.end_epoch(loss, at.rebuilt):
            best = {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}
        has_collapsed = at.distinct < MIN_DISTINCT and state.since and state.epoch >= blocks // 4
        if has_collapsed:
            state.since = settings.patience  # it has ended, also for a training that resumes
        checkpoint.save(job.folder, state, _tensors(trainer, best))
        done = min(state.epoch * settings.check_every, settings.steps)
        best_mark = " (best)" if state.since == 0 else ""
        line = f"step {done}/{settings.steps}, loss {loss:.3f}, {at.describe()}{best_mark}"
        progress = (0, 0, done, settings.steps, loss, None, state.since == 0, line)
        job.report(TrainingProgress(job.name, *progress))
        if has_collapsed:
            log.warning(
                "%s: the generator has collapsed: %.1f %% of its sentences are different. The "
                "weights of step %d are kept.",
                job.name,
                100 * at.distinct,
                state.best_epoch * settings.check_every,
            )
    model.load_state_dict(best)
    return state


def _run_block(job: TrainingJob, trainer: Trainer, block: int) -> float:
    """Run the steps of a block; return the mean loss of the autoencoder."""
    settings = trainer.settings
    first = block * settings.check_every
    numbers = range(first, min(first + settings.check_every, settings.steps))
    trainer.model.train()
    trainer.optimizers["autoencoder"].zero_grad()  # nothing waits that a checkpoint does not hold
    total = 0.0
    for done, number in enumerate(numbers, 1):
        loss = trainer.step(number, job.seed)
        if not math.isfinite(loss):
            raise ArithmeticError(f"the loss is {loss} in step {number + 1}")
        total += loss
        if done % max(1, len(numbers) // REPORTS_PER_BLOCK) == 0:
            line = f"step {number + 1}/{settings.steps}, loss {total / done:.3f}"
            progress = (0, 0, number + 1, settings.steps, total / done, None, False, line)
            job.report(TrainingProgress(job.name, *progress))
    if not _is_finite(trainer.model):
        raise ArithmeticError(f"some weights are no numbers after step {numbers[-1] + 1}")
    return total / len(numbers)


def _is_finite(module: nn.Module) -> bool:
    return all(bool(weight.isfinite().all()) for weight in module.parameters())


def save(folder: Path, model: ARAE, tokenizer: SentenceTokenizer) -> None:
    """Write the vocabulary, and the weights but those of the critic, which only trains others."""
    tensors = {
        name: tensor.cpu().numpy()
        for name, tensor in model.state_dict().items()
        if not name.startswith(CRITIC)
    }
    folders.write_tensors(folder / folders.WEIGHTS_FILE, tensors)
    folders.write_words(folder / folders.VOCABULARY_FILE, tokenizer.words)


def _tensors(trainer: Trainer, best: Mapping[str, Tensor]) -> dict[str, NDArray[Any]]:
    """Return what a checkpoint holds: the weights, the best ones, and what the optimizers know."""
    tensors = {f"now.{name}": tensor for name, tensor in trainer.model.state_dict().items()}
    tensors |= {f"best.{name}": tensor for name, tensor in best.items()}
    for optimizer, weights in _optimized(trainer):
        tensors |= state_of(optimizer, weights)
    return {name: tensor.detach().cpu().numpy() for name, tensor in tensors.items()}


def _optimized(
    trainer: Trainer,
) -> Iterator[tuple[torch.optim.Optimizer, dict[str, nn.Parameter]]]:
    """Yield every optimizer that has a state, with its weights by name."""
    for name, optimizer in trainer.optimizers.items():
        if not isinstance(optimizer, torch.optim.SGD):
            parts = ("encoder.", "decoder.") if name == "autoencoder" else (f"{name}.",)
            named = trainer.model.named_parameters()
            yield optimizer, {n: weight for n, weight in named if n.startswith(parts)}


def _resume(folder: Path, trainer: Trainer) -> tuple[TrainingState, dict[str, Tensor]]:
    """Restore weights and optimizers from the checkpoint, if any; return the best weights too."""
    stored = checkpoint.load(folder, TrainingState)
    if stored is None:
        return TrainingState(), {}
    state, arrays = stored
    device = trainer.rows.train.device
    tensors = {name: torch.from_numpy(array.copy()).to(device) for name, array in arrays.items()}

    def part(prefix: str) -> dict[str, Tensor]:
        return {n.removeprefix(prefix): t for n, t in tensors.items() if n.startswith(prefix)}

    trainer.model.load_state_dict(part("now."))
    for optimizer, weights in _optimized(trainer):
        restore_state(optimizer, weights, tensors)
    return state, part("best.")
