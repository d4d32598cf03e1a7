"""Texts that fool the model during training, added to the texts that it learns from.

The current model is saved to a folder, which the attack opens like any other target. The texts that
are found are kept on disk until the next attack, so that a resumed training learns from the same
texts.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

from brittle import files
from brittle.text import Text
from brittle.training.adversarial.methods import AttackTraining, LevelTraining, TypoTraining
from brittle.training.adversarial.typos import typo_copies
from brittle.training.adversarial.variants import all_variants
from brittle.training.job import Fitted, Job, card_of
from brittle.training.splits import NO_TEXTS, LabelledTexts
from brittle.zoo import folder as folders

log = logging.getLogger(__name__)
TEXTS_FILE, SNAPSHOT_FOLDER = "copies.json", "present"
SaveModel = Callable[[Path], None]
"""Save the current weights to a folder, with everything that is needed to read texts."""


def texts_for_epoch(job: Job, method: AttackTraining, epoch: int, save: SaveModel) -> LabelledTexts:
    """Return the texts that the attack adds to an epoch (0 is the first); attack if it is due."""
    attack_epoch = epoch - epoch % method.every
    if attack_epoch == 0:
        return NO_TEXTS  # the model has learnt nothing yet
    stored = _load_texts(job.folder, attack_epoch)
    if stored is not None:
        return stored
    if attack_epoch != epoch:
        log.warning("The texts that fooled %s are gone; it is attacked anew.", job.name)
    fooling = attack_sample(job, method, attack_epoch, save)
    rows = [[text.fields(), label] for text, label in zip(fooling.texts, fooling.label)]
    content = json.dumps({"epoch": attack_epoch, "rows": rows})
    files.write_whole(job.folder / TEXTS_FILE, content, private=True)
    return fooling


def attack_sample(job: Job, method: AttackTraining, epoch: int, save: SaveModel) -> LabelledTexts:
    """Attack the current model on a sample of the train split; return the texts that fool it."""
    random = Random(f"{job.seed}:{epoch}:{method.attack}")
    rows = random.sample(range(len(job.train)), min(method.copies, len(job.train)))
    sample = LabelledTexts(
        tuple(job.train.texts[i] for i in rows), tuple(job.train.label[i] for i in rows)
    )
    snapshot = job.folder / SNAPSHOT_FOLDER
    shutil.rmtree(snapshot, ignore_errors=True)
    snapshot.mkdir()
    try:
        save(snapshot)
        readme = "The model in training, for an attack on it.\n"
        folders.write_card(snapshot, card_of(job.plan, Fitted(0.0, 0)), readme)
        fooling = method.run(snapshot, sample, random.getrandbits(31))
    finally:
        shutil.rmtree(snapshot, ignore_errors=True)
    log.info("%s fooled %s on %d of %d texts.", method.attack, job.name, len(fooling), len(sample))
    # The texts are split into words again: an attack may have replaced one word by two.
    return LabelledTexts(tuple(Text.of(text.fields()) for text in fooling.texts), fooling.label)


def with_added_texts(job: Job, fit: Callable[[Job], Fitted]) -> Job:
    """Add adversarial texts to the train split of a linear model, which is fitted only once.

    They are one copy of every text with typing errors, all variants by edits of a level, or the
    texts that fool the model after a first fit to the original texts.
    """

    def save(folder: Path) -> None:
        fit(replace(job, folder=folder))

    if isinstance(job.method, TypoTraining):
        added = typo_copies(job.train, job.method, job.seed)
    elif isinstance(job.method, AttackTraining):
        added = attack_sample(job, job.method, 0, save)
    elif isinstance(job.method, LevelTraining):
        added = all_variants(job)
    else:
        return job
    return replace(job, added=added)


def remove(folder: Path) -> None:
    """Remove the files that attacks have left in the folder of a training."""
    files.remove(folder / TEXTS_FILE)
    shutil.rmtree(folder / SNAPSHOT_FOLDER, ignore_errors=True)


def _load_texts(folder: Path, epoch: int) -> LabelledTexts | None:
    try:
        content = json.loads((folder / TEXTS_FILE).read_text("utf-8"))
        if content["epoch"] != epoch:
            return None
        texts = tuple(Text.of(fields) for fields, _ in content["rows"])
        return LabelledTexts(texts, tuple(int(label) for _, label in content["rows"]))
    except FileNotFoundError:
        return None
    except (OSError, *files.DAMAGED) as error:
        log.warning("%s cannot be read (%s).", folder / TEXTS_FILE, error)
        return None
