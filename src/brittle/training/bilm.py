"""Fitting of the bidirectional language model, on spans of unlabelled text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from brittle.errors import UsageError
from brittle.text import Text
from brittle.training.job import Fitted, TrainingJob, changed_result
from brittle.training.loop import Trainable, fit_and_save, seeded
from brittle.zoo.device import torch_device
from brittle.zoo.names.settings import LanguageModelSettings
from brittle.zoo.networks import LanguageModel, make_row_batch
from brittle.zoo.restoring import save_network
from brittle.zoo.spellings import UNKNOWN_CHARACTER, CharacterTokenizer
from brittle.zoo.tokenizers import ID_BYTES, SPECIAL_WORDS, WordTokenizer

DEV_SHARE = 20  # words of the train split for each word of the dev split that is read
MIN_WORDS = 10  # of the vocabulary: with fewer there is nothing to predict
LINE_BREAK = "<br />"  # IMDb's reviews have these; their letters are no word


@dataclass(frozen=True)
class Perplexity:
    """The perplexity of known words, forward and backward, and the share of words known."""

    forward: float
    backward: float
    known: float

    @property
    def mean(self) -> float:
        """Return the mean of both directions, as Peters et al. (2018) report it."""
        return (self.forward + self.backward) / 2


def fit_bilm(job: TrainingJob) -> Fitted:
    """Fit a language model; its vocabulary and its alphabet are those of the words it reads."""
    device, settings = torch_device(job.device), job.settings
    train = _first_texts(job.train.texts, settings.words)
    vocabulary = _vocabulary(job, train, settings)
    alphabet = CharacterTokenizer.alphabet_of(train, min_count=settings.min_count)
    tokenizer = CharacterTokenizer(alphabet, settings.max_word_length, vocabulary, both=True)
    spans = list(_spans(tokenizer, train, settings.span))
    dev_texts = _first_texts(job.dev.texts, settings.words // DEV_SHARE)
    dev = list(_spans(tokenizer, dev_texts, settings.span))
    if not dev or not _has_known(tokenizer, dev):
        raise UsageError(
            f"The dev split of {job.name} has no words that {job.design.name} can "
            "predict, so its perplexity cannot be measured. Train on more text."
        )
    with seeded(job.seed, 1):
        characters = len(alphabet) + UNKNOWN_CHARACTER + 1
        model = LanguageModel(settings, len(vocabulary), characters)
        model.begin_with_frequencies(torch.from_numpy(_counts(tokenizer, spans)))
        model.to(device)
        measured: list[Perplexity] = []

        def losses(keys: Sequence[bytes]) -> tuple[Tensor, Tensor]:
            return model.losses(make_row_batch(keys, tokenizer, device))

        def loss(rows: list[int]) -> Tensor:
            both = torch.cat(losses([spans[row] for row in rows]))
            # A batch of unknown words alone teaches nothing, and has a gradient of zero.
            return both.mean() if len(both) else 0.0 * model.softmax.head.weight.sum()

        def dev_measure() -> float:
            measured[:] = [measure(model, tokenizer, dev, settings.batch_size, device)]
            return 1 / measured[0].mean

        def describe(train_loss: float, _: float) -> str:
            at = measured[0]
            return (
                f"perplexity {math.exp(train_loss):.1f}, dev perplexity {at.mean:.1f} "
                f"(forward {at.forward:.1f}, backward {at.backward:.1f})"
            )

        def save(folder: Path) -> None:
            save_network(folder, model, vocabulary.words, alphabet)

        def lengths(epoch: int) -> list[int]:
            return [len(span) // ID_BYTES for span in spans]

        trainable = Trainable(model, settings, lengths, loss, dev_measure, describe=describe)
        fitted = changed_result(lambda: fit_and_save(job, trainable, save), _without_accuracy)
        best = measure(model, tokenizer, dev, settings.batch_size, device)
    perplexity = {"dev": best.mean, "forward": best.forward, "backward": best.backward}
    rounded = {name: round(value, 2) for name, value in perplexity.items()}
    return replace(fitted, perplexity=rounded | {"known words": round(best.known, 4)})


def measure(
    model: LanguageModel,
    tokenizer: CharacterTokenizer,
    spans: Sequence[bytes],
    batch: int,
    device: str,
) -> Perplexity:
    """Compute the perplexity of spans."""
    totals, counts, words = np.zeros(2), np.zeros(2), 0
    model.eval()
    with torch.inference_mode():
        for start in range(0, len(spans), batch):
            keys = spans[start : start + batch]
            losses = model.losses(make_row_batch(keys, tokenizer, device))
            totals += [float(part.sum()) for part in losses]
            counts += [len(part) for part in losses]
            words += sum(len(key) // ID_BYTES - 1 for key in keys)
    forward, backward = np.exp(totals / counts)
    return Perplexity(float(forward), float(backward), float(counts.mean() / words))


def _first_texts(texts: Sequence[Text], max_words: int) -> list[Text]:
    """Return the first texts, the last one whole, that have as many words as wanted."""
    chosen, count = [], 0
    for text in texts:
        if count >= max_words:
            break
        whole = Text.of(" ".join(text.fields().values()).replace(LINE_BREAK, " "))
        chosen.append(whole)
        count += len(whole)
    return chosen


def _spans(tokenizer: CharacterTokenizer, texts: Sequence[Text], words: int) -> Iterator[bytes]:
    """Cut texts into spans of a number of words; a single word left over predicts nothing."""
    for key in tokenizer.encode(texts, max(1, max(map(len, texts)))):
        for start in range(0, len(key), words * ID_BYTES):
            span = key[start : start + words * ID_BYTES]
            if len(span) > ID_BYTES:
                yield span


def _counts(tokenizer: CharacterTokenizer, spans: Sequence[bytes]) -> NDArray[np.int64]:
    """Count the words of the vocabulary in spans; one that stands in no span counts as one."""
    ids = tokenizer.words(np.frombuffer(b"".join(spans), np.int32).astype(np.int64))
    count = np.bincount(ids, minlength=len(tokenizer.vocabulary))
    return np.maximum(count[len(SPECIAL_WORDS) :], 1)


def _has_known(tokenizer: CharacterTokenizer, spans: Sequence[bytes]) -> bool:
    """Tell whether both directions predict a word of these spans."""
    ids = [tokenizer.words(np.frombuffer(span, np.int32).astype(np.int64)) for span in spans]
    first = len(SPECIAL_WORDS)
    return any((row[1:] >= first).any() for row in ids) and any(
        (row[:-1] >= first).any() for row in ids
    )


def _vocabulary(
    job: TrainingJob, texts: Sequence[Text], settings: LanguageModelSettings
) -> WordTokenizer:
    vocabulary = WordTokenizer.of(texts, cap=settings.vocabulary, min_count=settings.min_count)
    count = len(vocabulary) - len(SPECIAL_WORDS)
    if count < MIN_WORDS:
        raise UsageError(
            f"{job.name} has {count} words to predict: those that occur {settings.min_count} times "
            f"or more. Expected at least {MIN_WORDS}. Check the text column (--text), or train on "
            "more text."
        )
    return vocabulary


def _without_accuracy(fitted: Fitted) -> Fitted:
    return replace(fitted, dev_accuracy=None)
