"""Fitting of translators, on pairs of texts; the dev split is judged by its BLEU."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from torch import Tensor
from torch.nn.functional import cross_entropy

from brittle.data import Dataset
from brittle.goals.bleu import corpus_bleu
from brittle.text import words_of
from brittle.training.job import Fitted, TrainingJob, changed_result
from brittle.training.loop import Trainable, fit_and_save, seeded
from brittle.zoo.device import cores, torch_device
from brittle.zoo.names.settings import TranslatorSettings
from brittle.zoo.seq2seq.model import MAX_WORDS, TranslationModel, write_model
from brittle.zoo.seq2seq.network import Ids, build_network, pad_ids
from brittle.zoo.seq2seq.pieces import BEGIN, END, PAD, Pieces

WIDE = 128


def fit_translator(job: TrainingJob) -> Fitted:
    """Fit a translator; its pieces and its vocabulary are those of the train split."""
    settings, device = job.settings, torch_device(job.device)
    sources, targets = _sides(job.splits.train)
    pieces = Pieces.learn([*sources, *targets], settings.subwords, settings.min_count)
    source = [encoded.ids for encoded in pieces.encode(sources, settings.max_length)]
    target = [encoded.ids for encoded in pieces.encode(targets, settings.max_length)]
    vocabulary = frequent_words(sources)
    dev_sources, dev_targets = _sides(job.splits.dev)
    dev = pieces.encode(dev_sources, settings.max_length)
    with seeded(job.seed, training_threads(settings)):
        network = build_network(str(job.design.parts["encoder"]), settings, len(pieces)).to(device)
        model = TranslationModel(network, pieces, settings.max_length, device=device)

        def loss(rows: list[int]) -> Tensor:
            read, written = [source[i] for i in rows], [target[i] for i in rows]
            return smoothed_loss(network, read, written, settings.label_smoothing, device)

        def dev_bleu() -> float:
            network.eval()
            return corpus_bleu(model.translate(dev), dev_targets)

        def save(folder: Path) -> None:
            write_model(folder, network, pieces, vocabulary)

        lengths = [len(one) + len(other) for one, other in zip(source, target)]
        trainable = Trainable(
            network, settings, lambda _: lengths, loss, dev_bleu, describe=_describe
        )
        measured = partial(_measured_by_bleu, columns=job.splits.columns)
        return changed_result(lambda: fit_and_save(job, trainable, save), measured)


def training_threads(settings: TranslatorSettings) -> int:
    """Return the threads of a training; a small network gains little by a second one."""
    return cores() if settings.hidden >= WIDE else 1


def smoothed_loss(
    network: Any,
    source: Sequence[Ids],
    target: Sequence[Ids],
    smoothing: float,
    device: str,
) -> Tensor:
    """Compute the mean cross-entropy of the next piece, with smoothed labels.

    All ids end with END.
    """
    read, padding = pad_ids(source)
    expected, _ = pad_ids(target)
    expected = expected.to(device)
    written = expected.roll(1, dims=1)
    written[:, 0] = BEGIN
    written[written == END] = PAD
    encoded = network.encode(read.to(device), padding.to(device))
    vectors, _ = network.decode(encoded, written)
    # The output layer is most of the cost: it reads no padding.
    is_piece = expected != PAD
    logits = network.embedding.logits(vectors[is_piece])
    return cross_entropy(logits, expected[is_piece], label_smoothing=smoothing)


def frequent_words(texts: Sequence[str]) -> list[str]:
    """List the words of texts, the most frequent first."""
    counts = Counter(word for text in texts for word in words_of(text))
    return sorted(counts, key=lambda word: (-counts[word], word))[:MAX_WORDS]


def _sides(dataset: Dataset) -> tuple[list[str], list[str]]:
    return [e.fields[0][1] for e in dataset], [str(e.label) for e in dataset]


def _describe(loss: float, bleu: float) -> str:
    return f"loss {loss:.3f}, dev BLEU {bleu:.2f}"


def _measured_by_bleu(fitted: Fitted, columns: Mapping[str, str]) -> Fitted:
    bleu = None if fitted.dev_accuracy is None else round(fitted.dev_accuracy, 2)
    return replace(fitted, dev_accuracy=None, dev_bleu=bleu, parts={"columns": dict(columns)})
