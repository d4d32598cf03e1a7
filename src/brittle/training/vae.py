"""Fitting of a variational autoencoder of sentences, step by step. This file needs torch.

A step is one batch of sentences, drawn at random with replacement by a seed of its own, so that a
resumed training ends with the same weights as an undisturbed one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from brittle.english.vectors import COUNTERFITTED, load_vectors
from brittle.training.checkpoint import StepState
from brittle.training.job import Diverged, Fitted, TrainingJob, after_step, changed_result
from brittle.training.loop import seeded
from brittle.training.sentences import MEANINGS_FILE, SentenceRows, measure, sentence_rows
from brittle.training.stepwise import Judgement, Losses, Watch, resume, run_steps
from brittle.zoo.device import torch_device
from brittle.zoo.generators.sentences import SPECIAL, SentenceTokenizer
from brittle.zoo.generators.vae import SentenceVAE
from brittle.zoo.names.settings import SentenceVaeSettings
from brittle.zoo.restoring import save_network

UNKNOWN_SHARE = 1 / 8  # of the words of a sentence that is learnt
COUNTERFITTED_LENGTH = 0.7  # of a word's vector at the start
ROWS_PER_PASS = 256
REPORTS_BETWEEN_CHECKPOINTS = 10


def fit_sentence_vae(job: TrainingJob) -> Fitted:
    """Fit a VAE on sentences; the vocabulary is that of the train split."""
    device, settings = torch_device(job.device), job.settings
    sentences = [str(text) for text in job.train.texts]
    caps = {"cap": settings.vocabulary, "min_count": settings.min_count}
    tokenizer = SentenceTokenizer.of(sentences, settings.learnt_length, **caps)
    reads_meaning = settings.encoder != "words"
    rows, left_out = sentence_rows(
        job, tokenizer, device, UNKNOWN_SHARE, reads_meaning=reads_meaning
    )
    with seeded(job.seed, 1):
        model = SentenceVAE(settings, len(tokenizer))
        if settings.vectors == COUNTERFITTED:
            start_from_vectors(model, tokenizer)
        model.to(device).learn_ends(rows.train)
        training = VaeTraining(model, settings, rows, job.seed)

        def fit() -> Fitted:
            _run(job, training)
            state = training.state
            epochs = state.step * settings.batch_size // len(rows.train)
            counted = {"sentences": len(rows.train), "left out, with rare words": left_out}
            return Fitted(None, epochs, measures={"steps": state.good_step} | counted)

        def finish(fitted: Fitted) -> Fitted:
            figures = measure(model, tokenizer, rows)
            save_network(job.folder, model, tokenizer.words)
            (job.folder / MEANINGS_FILE).unlink(missing_ok=True)
            parts = {"capital": tokenizer.style.capital, "closing": tokenizer.style.closing}
            own = {"loss of a held-out sentence, in nats": round(-training.state.best, 3)}
            measures = {**fitted.measures, **own, **figures.as_json(), "summary": figures.summary()}
            return replace(fitted, parts=parts, measures=measures)

        return changed_result(fit, finish)


def start_from_vectors(model: SentenceVAE, tokenizer: SentenceTokenizer) -> None:
    """Let the first numbers of each word's vector be its counter-fitted ones.

    The decoder then takes a word for its synonyms sooner than for its opposite.
    """
    vectors = load_vectors(COUNTERFITTED)
    length = np.sqrt(vectors.squares).clip(min=1e-9)[:, None]
    matrix = COUNTERFITTED_LENGTH * vectors.matrix / length
    weight = model.embedding.weight
    size = min(matrix.shape[1], weight.shape[1])
    with torch.no_grad():
        for n, word in enumerate(tokenizer.words):
            row = vectors.index.get(word.lower())
            if row is not None and n >= len(SPECIAL):
                weight[n, :size] = torch.from_numpy(matrix[row, :size])


@dataclass
class VaeTraining:
    """The steps of a VAE, and how far they are; `good` are the weights of the lowest dev loss."""

    model: SentenceVAE
    settings: SentenceVaeSettings
    rows: SentenceRows
    seed: int
    state: StepState = field(default_factory=lambda: StepState(best=-torch.inf))
    good: dict[str, Tensor] = field(default_factory=dict)

    def __post_init__(self) -> None:
        rate = self.settings.learning_rate
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=rate, foreach=False)

    @property
    def network(self) -> nn.Module:
        return self.model

    @property
    def optimized(self) -> Mapping[str, tuple[torch.optim.Optimizer, Mapping[str, nn.Parameter]]]:
        return {"vae": (self.optimizer, dict(self.model.named_parameters()))}

    @property
    def checkpoints(self) -> Sequence[int]:
        settings = self.settings
        return [*range(settings.check_every, settings.steps, settings.check_every), settings.steps]

    def make_state(self, **stored: Any) -> StepState:
        """Build the state from the fields of a checkpoint."""
        return StepState(**stored)

    def step(self) -> Losses:
        """Learn one batch; return the mean losses of its sentences."""
        settings, train, step = self.settings, self.rows.train, self.state.step
        torch.manual_seed(Random(f"{self.seed}:{step}").getrandbits(63))
        self.model.train()
        done = step / settings.steps
        for group in self.optimizer.param_groups:
            group["lr"] = settings.learning_rate * (1 - done)
        size = min(settings.batch_size, len(train))
        read = self.rows.of_train(torch.randint(len(train), (size,), device=train.device))
        mean, log_variance = self.model.posterior(*read)
        z = mean + (log_variance / 2).exp() * torch.randn_like(mean)
        words = self.model.loss(z, read[0]).mean()
        prior = divergence_from_normal(mean, log_variance).mean()
        loss = words + settings.prior * min(1.0, done / settings.warmup) * prior
        self.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.model.parameters(), settings.max_grad_norm)
        self.optimizer.step()
        return {"words": float(words.detach()), "prior": float(prior.detach())}

    def dev_loss(self) -> float:
        """Return the mean loss of the held-out sentences, at the means of their points."""
        self.model.eval()
        total = 0.0
        with torch.inference_mode():
            for start in range(0, len(self.rows.dev), ROWS_PER_PASS):
                read = self.rows.of_dev(slice(start, start + ROWS_PER_PASS))
                mean, log_variance = self.model.posterior(*read)
                prior = self.settings.prior * divergence_from_normal(mean, log_variance)
                total += float((self.model.loss(mean, read[0]) + prior).sum())
        return total / len(self.rows.dev)


def divergence_from_normal(mean: Tensor, log_variance: Tensor) -> Tensor:
    """Return the divergence of Kullback and Leibler from the standard normal distribution, by row.

    >>> float(divergence_from_normal(torch.zeros(1, 3), torch.zeros(1, 3)))
    0.0
    """
    return (mean.square() + log_variance.exp() - log_variance - 1).sum(dim=1) / 2


def _run(job: TrainingJob, training: VaeTraining) -> None:
    """Train until held-out sentences get no likelier; restore the best weights."""
    settings = training.settings

    def judge(losses: Losses) -> Judgement:
        state, loss = training.state, training.dev_loss()
        is_best = -loss > state.best
        state.best = max(state.best, -loss)
        since = 0 if is_best else state.step - state.good_step
        return Judgement(is_best, ends=since >= settings.patience * settings.check_every)

    def report(losses: Losses, more: str = "", is_best: bool = False) -> None:
        step, steps = training.state.step, settings.steps
        each = ", ".join(f"{name} {loss:.2f}" for name, loss in losses.items())
        line = f"step {step}/{steps}, {each}{more}{' (best)' if is_best else ''}"
        job.report(after_step(job.name, step, steps, losses["words"], line, is_best))

    def report_judged(losses: Losses) -> None:
        state = training.state
        is_best = state.good_step == state.step
        report(losses, f", best loss of held-out sentences {-state.best:.2f}", is_best)

    resume(training, job.folder)
    try:
        watch = Watch(judge, report_judged, report, REPORTS_BETWEEN_CHECKPOINTS)
        run_steps(training, job.folder, watch)
    except ArithmeticError as error:
        fitted = None
        if training.good:
            training.network.load_state_dict(training.good)
            fitted = Fitted(None, 0, measures={"steps": training.state.good_step})
        raise Diverged(f"The training of {job.name} stopped: {error}.", fitted) from error
    training.network.load_state_dict(training.good)
