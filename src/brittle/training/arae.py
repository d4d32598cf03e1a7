"""Fitting of an ARAE: autoencoder, critic and generator in turns, then the inverter.

Equations 4 to 7 of Zhao et al. (2018), with what their code adds. Batches are drawn at random, with
replacement. Every step has its own seed, so
that a resumed training ends with the same weights as an undisturbed one. This file needs torch.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from brittle.errors import UsageError
from brittle.training import checkpoint
from brittle.training.checkpoint import TrainingState
from brittle.training.job import Diverged, Fitted, TrainingJob
from brittle.training.loop import seeded
from brittle.training.optimizers import restore_state, state_of
from brittle.training.progress import TrainingProgress
from brittle.training.sentence_measures import measure
from brittle.zoo import folder as folders
from brittle.zoo.device import torch_device
from brittle.zoo.generators.arae import ARAE, CRITIC, parts_of
from brittle.zoo.generators.sentences import SentenceTokenizer
from brittle.zoo.names.settings import SentenceGeneratorSettings
from brittle.zoo.tokenizers.words import UNKNOWN

log = logging.getLogger(__name__)
BETAS = (0.5, 0.999)  # Adam's, for generator, critic and inverter, as in the authors' code
NOISE_STEPS = 100  # steps after which the noise falls
MIN_DISTINCT = 0.05  # a generator with fewer different sentences has collapsed
CODES_PER_PASS = 1024
MIN_SENTENCES = 20
MAX_DEV = 2_000  # sentences that are measured
CHECK_SAMPLES = 1_000
REPORTS_PER_BLOCK = 10


@dataclass(frozen=True)
class SentenceRows:
    """The rows of the train and the dev sentences, on the device."""

    train: Tensor
    dev: Tensor


class Trainer:
    """The networks of an ARAE in training, with their optimizers."""

    def __init__(self, model: ARAE, settings: SentenceGeneratorSettings, rows: SentenceRows):
        self.model, self.settings, self.rows = model, settings, rows
        self.code_gradient = 0.0  # the mean norm of the autoencoder's gradient by a code
        both = [*model.encoder.parameters(), *model.decoder.parameters()]
        kind = torch.optim.SGD if settings.optimizer == "sgd" else torch.optim.Adam
        self.optimizers: dict[str, torch.optim.Optimizer] = {
            "autoencoder": kind(both, lr=settings.rate, foreach=False),
            "critic": _adam(model.critic, settings.critic_rate),
            "generator": _adam(model.generator, settings.generator_rate),
        }

    def step(self, number: int, seed: int) -> float:
        """Run one step; return the autoencoder's loss. The steps before it do not matter here."""
        random = Random(f"{seed}:{number}")
        torch.manual_seed(random.getrandbits(63))
        epoch = number * self.settings.batch // len(self.rows.train)
        loss = self._autoencoder_step(number)
        for _ in range(1 + sum(epoch >= end for end in self.settings.more_rounds)):
            for _ in range(self.settings.critic_steps):
                self._critic_step()
            self._generator_step()
        return loss

    def _batch(self) -> Tensor:
        rows = self.rows.train
        size = min(self.settings.batch, len(rows))
        return rows[torch.randint(len(rows), (size,), device=rows.device)]

    def _latent(self) -> Tensor:
        shape = (min(self.settings.batch, len(self.rows.train)), self.settings.latent)
        return torch.randn(shape, device=self.rows.train.device)

    def _autoencoder_step(self, number: int) -> float:
        """Rebuild sentences from noisy codes (equation 4)."""
        model, settings, rows = self.model, self.settings, self._batch()
        optimizer = self.optimizers["autoencoder"]
        code = model.codes(rows)
        code.retain_grad()
        noise = settings.noise * settings.noise_decay ** (number // NOISE_STEPS)
        loss = model.decoder.loss(code + noise * torch.randn_like(code), rows)
        loss.backward()  # type: ignore[no-untyped-call]
        assert code.grad is not None
        self.code_gradient = float(code.grad.norm(dim=1).mean())
        self._clip()
        optimizer.step()
        optimizer.zero_grad()
        return float(loss.detach())

    def _critic_step(self) -> None:
        """Tell codes of sentences from generated ones (5); move the encoder against it (6).

        Adam would make a whole step of a small gradient, so with it the encoder's share waits for
        the next step of the autoencoder.
        """
        model, limit = self.model, self.settings.clamp
        with torch.no_grad():
            for weight in model.critic.parameters():
                weight.clamp_(-limit, limit)
            fake = model.generator(self._latent())
        self.optimizers["critic"].zero_grad()
        code = model.codes(self._batch())
        code.register_hook(self._reversed)  # type: ignore[no-untyped-call]
        loss = model.critic(fake).mean() - model.critic(code).mean()
        loss.backward()
        self.optimizers["critic"].step()
        if self.settings.optimizer == "sgd":
            self._clip()
            self.optimizers["autoencoder"].step()
            self.optimizers["autoencoder"].zero_grad()

    def _generator_step(self) -> None:
        """Make codes that the critic takes for real ones (equation 6)."""
        self.optimizers["generator"].zero_grad()
        loss = -self.model.critic(self.model.generator(self._latent())).mean()
        loss.backward()
        self.optimizers["generator"].step()

    def _reversed(self, gradient: Tensor) -> Tensor:
        """Scale the critic's gradient to the autoencoder's, and turn it round."""
        norm = gradient.norm(dim=1).mean().clamp(min=1e-12)
        turned: Tensor = -self.settings.to_encoder * self.code_gradient / norm * gradient
        return turned

    def _clip(self) -> None:
        weights = self.optimizers["autoencoder"].param_groups[0]["params"]
        nn.utils.clip_grad_norm_(weights, self.settings.clip)

    def is_finite(self) -> bool:
        return all(bool(torch.isfinite(weight).all()) for weight in self.model.parameters())


def fit_sentence_generator(job: TrainingJob, settings: SentenceGeneratorSettings) -> Fitted:
    """Fit an ARAE on sentences; the vocabulary is that of the train split."""
    device = torch_device(job.device)
    sentences = [str(text) for text in job.train.texts]
    caps = {"cap": settings.vocabulary, "min_count": settings.min_count}
    tokenizer = SentenceTokenizer.of(sentences, settings.reads, **caps)
    rows, unknown = _rows(job, tokenizer, device)
    with seeded(job.seed, 1):
        model = ARAE(settings, len(tokenizer)).to(device)
        trainer = Trainer(model, settings, rows)
        state = _run_blocks(job, trainer, tokenizer)
        model.eval()
        fit_inverter(model, settings, rows.train, job.seed)
        measures = measure(model, tokenizer, rows.train, rows.dev)
    save(job.folder, model, tokenizer)
    counted = {
        "sentences": len(rows.train),
        "left out, with rare words": unknown,
        "steps": state.best_epoch * settings.check_every,
        "summary": measures.summary(),
    }
    epochs = state.epoch * settings.check_every * settings.batch // len(rows.train)
    return Fitted(None, epochs, parts=_style(tokenizer), measures=measures.as_json() | counted)


def _style(tokenizer: SentenceTokenizer) -> dict[str, Any]:
    return {"capital": tokenizer.style.capital, "closing": tokenizer.style.closing}


def fit_inverter(model: ARAE, settings: SentenceGeneratorSettings, rows: Tensor, seed: int) -> None:
    """Fit the inverter to a generator that stays as it is (equation 7).

    As in the authors' code both terms count half, and the divergence is the symmetric one of
    Kullback and Leibler between two normal distributions, each of one mean and one deviation over
    all numbers of a batch.
    """
    codes = encode_rows(model, rows)
    optimizer = _adam(model.inverter, settings.inverter_rate)
    torch.manual_seed(Random(f"{seed}:inverter").getrandbits(63))
    model.eval()
    model.inverter.train()
    for _ in range(settings.inverter_steps):
        code = codes[torch.randint(len(codes), (settings.batch,), device=codes.device)]
        z = torch.randn((settings.batch, settings.latent), device=codes.device)
        with torch.no_grad():
            generated = model.generator(z)
        optimizer.zero_grad()
        rebuilt = (model.generator(model.inverter(code)) - code).square().sum(dim=1).mean()
        loss = rebuilt / 2 + divergence(z, model.inverter(generated)) / 2
        loss.backward()
        optimizer.step()
    model.inverter.eval()


def divergence(first: Tensor, second: Tensor) -> Tensor:
    """Return the symmetric divergence of two normal distributions fitted to all numbers of each."""
    means = first.mean(), second.mean()
    variances = first.var() + 1e-8, second.var() + 1e-8
    apart = (means[0] - means[1]) ** 2
    forward = (variances[0] + apart) / variances[1]
    backward = (variances[1] + apart) / variances[0]
    return (forward + backward - 2) / 4


def encode_rows(model: ARAE, rows: Tensor) -> Tensor:
    """Encode all rows, in passes, without gradients."""
    with torch.no_grad():
        return torch.cat([model.codes(part) for part in parts_of(rows, CODES_PER_PASS)])


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
    """Train block by block, until the reverse perplexity no longer falls; keep the best weights."""
    settings, rows, model = trainer.settings, trainer.rows, trainer.model
    blocks = math.ceil(settings.steps / settings.check_every)
    state, best = _resume(job.folder, trainer)
    while state.epoch < blocks and state.since < settings.patience:
        try:
            loss = _run_block(job, trainer, state.epoch)
        except ArithmeticError as error:
            model.load_state_dict(best or model.state_dict())
            reached = {"steps": state.best_epoch * settings.check_every}
            fitted = Fitted(None, 0, parts=_style(tokenizer), measures=reached) if best else None
            if best:
                save(job.folder, model, tokenizer)
            raise Diverged(f"The training of {job.name} stopped: {error}.", fitted) from error
        model.eval()
        at = measure(model, tokenizer, rows.train, rows.dev, CHECK_SAMPLES, is_inverted=False)
        if state.end_epoch(loss, 1 / at.reverse):
            best = {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}
        checkpoint.save(job.folder, state, _tensors(trainer, best))
        done = min(state.epoch * settings.check_every, settings.steps)
        best_mark = " (best)" if state.since == 0 else ""
        line = f"step {done}/{settings.steps}, loss {loss:.3f}, {at.describe()}{best_mark}"
        progress = (0, 0, done, settings.steps, loss, None, state.since == 0, line)
        job.report(TrainingProgress(job.name, *progress))
        if at.distinct < MIN_DISTINCT and state.since and state.epoch >= blocks // 4:
            log.warning(
                "%s: the generator has collapsed: %.1f %% of its sentences are different. The "
                "weights of step %d are kept.",
                job.name,
                100 * at.distinct,
                state.best_epoch * settings.check_every,
            )
            break
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
    if not trainer.is_finite():
        raise ArithmeticError(f"some weights are no numbers after step {numbers[-1] + 1}")
    return total / len(numbers)


def save(folder: Path, model: ARAE, tokenizer: SentenceTokenizer) -> None:
    """Write the vocabulary, and the weights but those of the critic, which only trains others."""
    tensors = {
        name: tensor.cpu().numpy()
        for name, tensor in model.state_dict().items()
        if not name.startswith(CRITIC)
    }
    folders.write_tensors(folder / folders.WEIGHTS_FILE, tensors)
    folders.write_words(folder / folders.VOCABULARY_FILE, tokenizer.words)


def _adam(module: nn.Module, rate: float) -> torch.optim.Adam:
    return torch.optim.Adam(module.parameters(), lr=rate, betas=BETAS, foreach=False)


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
