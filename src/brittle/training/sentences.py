"""The sentences that a generator learns from, and how good it is: figures for its card.

Needs torch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from brittle.errors import UsageError
from brittle.metrics.ngrams import NgramModel
from brittle.training.job import TrainingJob
from brittle.zoo.generators.arae import ARAE, parts_of
from brittle.zoo.generators.sentences import SentenceTokenizer
from brittle.zoo.generators.texts import REBUILT
from brittle.zoo.generators.vae import SentenceVAE
from brittle.zoo.tokenizers import PAD, UNKNOWN

MIN_SENTENCES = 20
MAX_DEV = 2_000  # sentences that are measured
SAMPLES = 5_000
SEED = 0
ROWS_PER_PASS = 512


@dataclass(frozen=True)
class SentenceMeasures:
    """What is measured on held-out sentences and on generated ones.

    `rebuilt` and `inverted` are the shares of the words of held-out sentences that stand at their
    position again, through the code alone, and through inverter and generator; the code of a VAE is
    its latent point, so it has one of the two. `reverse` is the
    perplexity of held-out sentences under a 5-gram model of the generated ones, `forward` that of
    the generated ones under a model of the train split. `real` is the reverse perplexity of as many
    sentences of the train split. `distinct` is the share of different sentences among the samples.
    """

    rebuilt: float
    inverted: float | None
    forward: float | None
    reverse: float
    real: float | None
    distinct: float

    def describe(self) -> str:
        """Format what is known in training."""
        return (
            f"words rebuilt {self.rebuilt:.3f}, reverse perplexity {self.reverse:.1f}, "
            f"{self.distinct:.0%} of the samples are unique"
        )

    def summary(self) -> str:
        """Format the figures that a list of generators shows."""
        inverted = self.inverted
        both = "" if inverted is None else f", through inverter and generator {inverted:.3f}"
        return f"words rebuilt {self.rebuilt:.3f}{both}; reverse perplexity {self.reverse:.1f}"

    def as_json(self) -> dict[str, Any]:
        values = {
            REBUILT: self.rebuilt,
            "words rebuilt through inverter and generator": self.inverted,
            "forward perplexity": self.forward,
            "reverse perplexity": self.reverse,
            "reverse perplexity of real sentences": self.real,
            "different sentences": self.distinct,
        }
        return {name: round(value, 4) for name, value in values.items() if value is not None}


def measure(
    model: ARAE | SentenceVAE,
    tokenizer: SentenceTokenizer,
    train: Tensor,
    dev: Tensor,
    samples: int = SAMPLES,
    *,
    is_final: bool = True,
) -> SentenceMeasures:
    """Measure a generator in evaluation mode; its samples are drawn by one seed."""
    model.eval()
    with torch.inference_mode():
        generator = torch.Generator().manual_seed(SEED)
        z = torch.randn((samples, model.latent), generator=generator)
        decoded = [model.decode(part.to(train.device)) for part in parts_of(z, ROWS_PER_PASS)]
        made = _sentences(torch.cat(decoded))
        held_out = _sentences(dev)
        words = len(tokenizer)
        rebuilt = _share_rebuilt(model.rebuilt, dev)
        inverted = forward = real = None
        if is_final:
            if model.has_inverter:
                inverted = _share_rebuilt(lambda rows: model.decode(model.points(rows)), dev)
            of_train = _sentences(train)
            forward = NgramModel.of(of_train, words).perplexity(made)
            real = NgramModel.of(of_train[:samples], words).perplexity(held_out)
        reverse = NgramModel.of(made, words).perplexity(held_out)
    return SentenceMeasures(rebuilt, inverted, forward, reverse, real, len(set(made)) / len(made))


def _sentences(rows: Tensor) -> list[tuple[int, ...]]:
    return [tuple(token for token in row if token != PAD) for row in rows.tolist()]


def _share_rebuilt(rebuild: Callable[[Tensor], Tensor], rows: Tensor) -> float:
    """Return the share of words that are decoded at their own position."""
    decoded = torch.cat([rebuild(part) for part in parts_of(rows, ROWS_PER_PASS)])
    asked = rows != PAD
    return float((decoded == rows)[asked].float().mean())


@dataclass(frozen=True)
class SentenceRows:
    """The rows of the train and the dev sentences, on the device."""

    train: Tensor
    dev: Tensor


def sentence_rows(
    job: TrainingJob, tokenizer: SentenceTokenizer, device: str, unknown: float = 0.0
) -> tuple[SentenceRows, int]:
    """Return the rows of sentences, and how many of the train split are left out.

    Left out are those with a larger share of unknown words than `unknown`.
    """
    train = tokenizer.rows(job.train.texts)
    known = (train == UNKNOWN).sum(axis=1) <= unknown * (train != PAD).sum(axis=1)
    if known.sum() < MIN_SENTENCES:
        raise UsageError(
            f"{job.name} has {known.sum()} sentences to train on, made of words that "
            f"occur in at least {job.settings.min_count} sentences; expected "
            f"{MIN_SENTENCES} or more. Train on more text, or with --set min_count=1."
        )
    dev = tokenizer.rows(job.dev.texts[:MAX_DEV])
    on_device = [torch.from_numpy(rows).to(device) for rows in (train[known], dev)]
    return SentenceRows(train=on_device[0], dev=on_device[1]), int((~known).sum())
