"""The sentences that a generator learns from, and the figures of its card. Needs torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np
import torch
from torch import Tensor

from brittle.english.sentence_encoder import MODULE, SentenceEncoder
from brittle.errors import UsageError, require
from brittle.metrics.ngrams import NgramModel
from brittle.safety import files
from brittle.text import Text
from brittle.training.job import TrainingJob, after_step
from brittle.zoo.folder import load_tensors, write_tensors
from brittle.zoo.generators.arae import ARAE, parts_of
from brittle.zoo.generators.sentences import SentenceTokenizer
from brittle.zoo.generators.texts import REBUILT
from brittle.zoo.generators.vae import SentenceVAE
from brittle.zoo.tokenizers import PAD, UNKNOWN

MIN_SENTENCES = 20
MAX_DEV = 2_000  # sentences that are measured
MEANINGS_FILE = "meanings.safetensors"
SENTENCES_PER_REPORT = 2_000
SAMPLES = 5_000
SEED = 0
ROWS_PER_PASS = 512


@dataclass(frozen=True)
class SentenceMeasures:
    """What is measured on held-out sentences and on generated ones.

    `rebuilt` and `inverted` are the shares of the words of held-out sentences that stand at their
    position again, through the code alone, and through inverter and generator. The code of a VAE is
    its latent point: it has no inverter. `reverse` is the perplexity of held-out sentences under a
    5-gram model of the generated ones, `forward` that of the generated ones under a model of the
    train split. `real` is the reverse perplexity of as many sentences of the train split.
    `distinct` is the share of different sentences among the samples.
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
    sentences: SentenceRows,
    samples: int = SAMPLES,
    *,
    is_final: bool = True,
) -> SentenceMeasures:
    """Measure a generator in evaluation mode; its samples are drawn by one seed."""
    model.eval()
    with torch.no_grad():
        generator = torch.Generator().manual_seed(SEED)
        z = torch.randn((samples, model.latent), generator=generator)
        train, dev = sentences.train, sentences.dev
        decoded = [model.decode(part.to(dev.device)) for part in parts_of(z, ROWS_PER_PASS)]
        made = _sentences(torch.cat(decoded))
        held_out = _sentences(dev)
        words = len(tokenizer)
        rebuilt = _share_rebuilt(model.rebuilt, sentences)
        inverted = forward = real = None
        if is_final:
            if model.has_inverter:
                inverted = _share_rebuilt(
                    lambda *read: model.decode(model.points(*read)), sentences
                )
            of_train = _sentences(train)
            forward = NgramModel.of(of_train, words).perplexity(made)
            real = NgramModel.of(of_train[:samples], words).perplexity(held_out)
        reverse = NgramModel.of(made, words).perplexity(held_out)
    return SentenceMeasures(rebuilt, inverted, forward, reverse, real, len(set(made)) / len(made))


def _sentences(rows: Tensor) -> list[tuple[int, ...]]:
    return [tuple(token for token in row if token != PAD) for row in rows.tolist()]


def _share_rebuilt(rebuild: Callable[..., Tensor], sentences: SentenceRows) -> float:
    """Return the share of words of the dev split that are decoded at their own position."""
    rows = sentences.dev
    parts = [slice(n, n + ROWS_PER_PASS) for n in range(0, len(rows), ROWS_PER_PASS)]
    decoded = torch.cat([rebuild(*sentences.of_dev(part)) for part in parts])
    asked = rows != PAD
    return float((decoded[:, : rows.shape[1]] == rows)[asked].float().mean())


@dataclass(frozen=True)
class SentenceRows:
    """The rows of the train and the dev sentences, on the device.

    `meanings` are the vectors of both that MiniLM gives them, where a generator reads them.
    """

    train: Tensor
    dev: Tensor
    meanings: tuple[Tensor, Tensor] | None = None

    def of_dev(self, part: slice) -> tuple[Tensor, ...]:
        """Return what a generator reads of some dev sentences."""
        return self._inputs(self.dev, 1, part)

    def of_train(self, chosen: Tensor) -> tuple[Tensor, ...]:
        """Return what a generator reads of some train sentences, without columns of padding."""
        rows, *meaning = self._inputs(self.train, 0, chosen)
        return rows[:, : int((rows != PAD).sum(dim=1).max())], *meaning

    def _inputs(self, rows: Tensor, split: int, chosen: Any) -> tuple[Tensor, ...]:
        more = () if self.meanings is None else (self.meanings[split][chosen],)
        return rows[chosen], *more


def sentence_rows(
    job: TrainingJob,
    tokenizer: SentenceTokenizer,
    device: str,
    unknown: float = 0.0,
    *,
    reads_meaning: bool = False,
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
    reads = job.settings.max_length
    short = [text for text in job.dev.texts if len(text) <= reads][:MAX_DEV]
    dev = SentenceTokenizer(tokenizer.words, reads, tokenizer.style).rows(short)
    on_device = [torch.from_numpy(rows).to(device) for rows in (train[known], dev)]
    meanings = None
    if reads_meaning:
        learnt = list(compress(job.train.texts, known))
        both = _meanings(job, learnt, short)
        meanings = (both[0].to(device), both[1].to(device))
    return SentenceRows(on_device[0], on_device[1], meanings), int((~known).sum())


def _meanings(
    job: TrainingJob, train: Sequence[Text], dev: Sequence[Text]
) -> tuple[Tensor, Tensor]:
    """Encode sentences by MiniLM, or load what a stopped training has encoded."""
    path = job.folder / MEANINGS_FILE
    if not path.exists():
        require(MODULE, "similarity", f"Training {job.name}")
        texts, parts = [*train, *dev], []
        for start in range(0, len(texts), SENTENCES_PER_REPORT):
            parts.append(SentenceEncoder().vectors(texts[start : start + SENTENCES_PER_REPORT]))
            done = min(start + SENTENCES_PER_REPORT, len(texts))
            line = f"meaning of {done:,} of {len(texts):,} sentences"
            job.report(after_step(job.name, 0, job.settings.steps, 0.0, line))
        vectors = np.concatenate(parts).astype(np.float32)
        with files.replacing(path) as whole:
            write_tensors(whole, {"train": vectors[: len(train)], "dev": vectors[len(train) :]})
    tensors = load_tensors(path)
    return torch.from_numpy(tensors["train"]), torch.from_numpy(tensors["dev"])
