"""Fitting of an ARAE: step by step, until its autoencoder gets no better, then its generator.

A resumed training ends with the same weights as an undisturbed one. This file needs torch.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from brittle.training.arae_steps import Trainer, fit_latent
from brittle.training.checkpoint import StepState
from brittle.training.job import Diverged, Fitted, TrainingJob, after_step, changed_result
from brittle.training.loop import seeded
from brittle.training.sentences import SentenceMeasures, measure, sentence_rows
from brittle.training.stepwise import Judgement, Losses, Watch, resume, run_steps
from brittle.zoo.device import torch_device
from brittle.zoo.generators.arae import ARAE, CRITIC
from brittle.zoo.generators.sentences import SentenceTokenizer
from brittle.zoo.restoring import save_network

log = logging.getLogger(__name__)
MIN_DISTINCT = 0.05  # a generator with fewer different sentences has collapsed
CHECK_SAMPLES = 1_000
REPORTS_BETWEEN_CHECKPOINTS = 10


def fit_sentence_generator(job: TrainingJob) -> Fitted:
    """Fit an ARAE on sentences; the vocabulary is that of the train split."""
    device, settings = torch_device(job.device), job.settings
    sentences = [str(text) for text in job.train.texts]
    caps = {"cap": settings.vocabulary, "min_count": settings.min_count}
    tokenizer = SentenceTokenizer.of(sentences, settings.max_length, **caps)
    rows, unknown = sentence_rows(job, tokenizer, device)
    with seeded(job.seed, 1):
        model = ARAE(settings, len(tokenizer)).to(device)
        training = SentenceTraining(Trainer(model, settings, rows), job.seed)

        def fit() -> Fitted:
            state = _run(job, training, tokenizer)
            planned = -(-state.step // settings.check_every) * settings.check_every
            epochs = planned * settings.batch_size // len(rows.train)
            counted = {"sentences": len(rows.train), "left out, with rare words": unknown}
            return Fitted(None, epochs, measures={"steps": state.good_step} | counted)

        return changed_result(fit, partial(_finish, job, training.trainer, tokenizer))


@dataclass
class SentenceTraining:
    """The steps of an ARAE, and how far they are; `good` are the weights that rebuilt most words.

    (The authors stop by the reverse perplexity. Here generator and inverter are trained further
    when the autoencoder rests, so it is the autoencoder that decides.)
    """

    trainer: Trainer
    seed: int
    state: StepState = field(default_factory=StepState)
    good: dict[str, Tensor] = field(default_factory=dict)

    @property
    def network(self) -> nn.Module:
        return self.trainer.model

    @property
    def optimized(self) -> Mapping[str, tuple[torch.optim.Optimizer, Mapping[str, nn.Parameter]]]:
        named = {}
        for name, optimizer in self.trainer.optimizers.items():
            if not isinstance(optimizer, torch.optim.SGD):  # which has no state
                parts = ("encoder.", "decoder.") if name == "autoencoder" else (f"{name}.",)
                weights = self.network.named_parameters()
                named[name] = (optimizer, {n: w for n, w in weights if n.startswith(parts)})
        return named

    @property
    def checkpoints(self) -> Sequence[int]:
        settings = self.trainer.settings
        return [*range(settings.check_every, settings.steps, settings.check_every), settings.steps]

    def make_state(self, **stored: Any) -> StepState:
        """Build the state; earlier versions counted blocks of steps between checkpoints."""
        if "epoch" not in stored:
            return StepState(**stored)
        settings = self.trainer.settings
        step, good_step = (
            min(stored[name] * settings.check_every, settings.steps)
            for name in ("epoch", "best_epoch")
        )
        return StepState(step, good_step, stored["best"], stored["since"] >= settings.patience)

    @property
    def checkpoints_since_good(self) -> int:
        return -(-(self.state.step - self.state.good_step) // self.trainer.settings.check_every)

    def step(self) -> Losses:
        if self.state.step % self.trainer.settings.check_every == 0:
            self.network.train()
            # Nothing waits that a checkpoint does not hold.
            self.trainer.optimizers["autoencoder"].zero_grad()
        return {"": self.trainer.step(self.state.step, self.seed)}


@dataclass
class _Watch:
    """Judges and reports a training at its checkpoints; `at` is what was measured last."""

    job: TrainingJob
    training: SentenceTraining
    tokenizer: SentenceTokenizer
    at: SentenceMeasures | None = None

    def judge(self, losses: Losses) -> Judgement:
        """Keep the weights that rebuild most words; end after a collapse or without patience."""
        trainer, state = self.training.trainer, self.training.state
        trainer.model.eval()
        self.at = measure(
            trainer.model,
            self.tokenizer,
            trainer.rows,
            CHECK_SAMPLES,
            is_final=False,
        )
        is_best = self.at.rebuilt > state.best
        state.best = max(state.best, self.at.rebuilt)
        is_patient = is_best or self.training.checkpoints_since_good < self.job.settings.patience
        return Judgement(is_best, ends=not is_patient or self._has_collapsed(is_best))

    def report(self, losses: Losses) -> None:
        """Report what was measured, and warn of a collapse."""
        assert self.at is not None
        state = self.training.state
        is_best = state.good_step == state.step
        self._report(losses, f", {self.at.describe()}{' (best)' if is_best else ''}", is_best)
        if self._has_collapsed(is_best):
            log.warning(
                "%s: the generator has collapsed: %.1f %% of its sentences are unique. "
                "The weights of step %d are kept.",
                self.job.name,
                100 * self.at.distinct,
                state.good_step,
            )

    def report_between(self, losses: Losses) -> None:
        """Report the mean loss since the last checkpoint."""
        self._report(losses, "", False)

    def _report(self, losses: Losses, measured: str, is_best: bool) -> None:
        step, steps, [loss] = self.training.state.step, self.job.settings.steps, losses.values()
        line = f"step {step}/{steps}, loss {loss:.3f}{measured}"
        self.job.report(after_step(self.job.name, step, steps, loss, line, is_best))

    def _has_collapsed(self, is_best: bool) -> bool:
        assert self.at is not None
        quarter = len(self.training.checkpoints) // 4 * self.job.settings.check_every
        is_late = self.training.state.step >= quarter
        return self.at.distinct < MIN_DISTINCT and not is_best and is_late


def _run(job: TrainingJob, training: SentenceTraining, tokenizer: SentenceTokenizer) -> StepState:
    """Train until no more words are rebuilt; restore the best weights, also if it diverges."""
    watch = _Watch(job, training, tokenizer)
    resume(training, job.folder)
    try:
        looks = Watch(watch.judge, watch.report, watch.report_between, REPORTS_BETWEEN_CHECKPOINTS)
        run_steps(training, job.folder, looks)
    except ArithmeticError as error:
        fitted = None
        if training.good:
            training.network.load_state_dict(training.good)
            fitted = Fitted(None, 0, measures={"steps": training.state.good_step})
        raise Diverged(f"The training of {job.name} stopped: {error}.", fitted) from error
    training.network.load_state_dict(training.good)
    return training.state


def _finish(
    job: TrainingJob, trainer: Trainer, tokenizer: SentenceTokenizer, fitted: Fitted
) -> Fitted:
    """Fit generator and inverter to the codes there are, measure and save them."""
    model, rows, settings = trainer.model, trainer.rows, trainer.settings

    def is_good() -> bool:
        if not _is_finite(model.generator):
            return False
        at = measure(model, tokenizer, rows, CHECK_SAMPLES, is_final=False)
        return at.distinct >= MIN_DISTINCT

    def report(line: str) -> None:
        job.report(after_step(job.name, settings.steps, settings.steps, 0.0, line))

    if not fit_latent(model, settings, rows.train, job.seed, is_good, report):
        log.warning(
            "%s: the generator collapsed while it learnt to rebuild codes; the generator "
            "of the first part is kept.",
            job.name,
        )
    if not _is_finite(model):
        raise Diverged(f"The training of {job.name} stopped: the inverter's weights are NaN.", None)
    measures = measure(model, tokenizer, rows)
    save_network(job.folder, model, tokenizer.words, leave_out=[CRITIC])
    parts = {"capital": tokenizer.style.capital, "closing": tokenizer.style.closing}
    figures = measures.as_json() | {"summary": measures.summary()}
    return replace(fitted, parts=parts, measures={**fitted.measures, **figures})


def _is_finite(module: nn.Module) -> bool:
    return all(bool(weight.isfinite().all()) for weight in module.parameters())
