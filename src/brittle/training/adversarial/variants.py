"""Variants of the train split by random edits of a level, which keep their labels.

They are made once, before the training: their words belong to the vocabulary. In every epoch each
text comes with one variant of each level, drawn from its own. With all of them in every epoch a
network would learn the texts by heart in the first, and lose accuracy.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from random import Random

from brittle.augmenting import editor
from brittle.text import Text
from brittle.training.adversarial.methods import LevelTraining
from brittle.training.job import Job
from brittle.training.splits import LabelledTexts

log = logging.getLogger(__name__)


def with_variants(job: Job) -> Job:
    """Make the variants of the train split, if the job's method trains on them."""
    if not isinstance(job.method, LevelTraining):
        return job
    edit = editor(job.method.augmenting(job.seed))
    groups: dict[tuple[int, str], list[Text]] = {}
    for row, text in enumerate(job.train.texts):
        for level, edited in edit(row, text):
            # The text is split into words again: an edit may have replaced one word by two.
            groups.setdefault((row, level), []).append(Text.of(edited.fields()))
    count = sum(map(len, groups.values()))
    log.info("%s learns from %d texts and %d variants of them.", job.name, len(job.train), count)
    variants = tuple((row, tuple(texts)) for (row, _), texts in groups.items())
    return replace(job, variants=variants)


def variants_for_epoch(job: Job, epoch: int) -> LabelledTexts:
    """Draw one variant of every text and level; the same ones when the epoch is resumed."""
    random = Random(f"variants:{job.seed}:{epoch}")
    texts = tuple(random.choice(group) for _, group in job.variants)
    return LabelledTexts(texts, tuple(job.train.label[row] for row, _ in job.variants))


def all_variants(job: Job) -> LabelledTexts:
    """Return all variants, for a model that is fitted only once."""
    texts = tuple(text for _, group in job.variants for text in group)
    label = tuple(job.train.label[row] for row, group in job.variants for _ in group)
    return LabelledTexts(texts, label)
