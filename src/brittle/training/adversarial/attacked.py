"""Texts that fooled the model in training, added to what it learns from.

The model as it is goes into a folder, which an attack opens like any other target; so this room
need not know attacks. What was found is kept until the next time, so that a training which goes on
after an interruption learns from the same texts.
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
from brittle.training.adversarial import typos as key
from brittle.training.adversarial.methods import AttackTraining, TypoTraining
from brittle.training.job import Fitted, TrainingJob
from brittle.training.splits import LabelledTexts
from brittle.zoo import folder as folders
from brittle.zoo.folder import Card
from brittle.zoo.names import grid

log = logging.getLogger(__name__)
TEXTS_FILE, SNAPSHOT_FOLDER = "copies.json", "present"
SaveModel = Callable[[Path], None]
"""Leave the weights as they are now, and what is needed to read texts, in a folder."""


def texts_for_epoch(
    job: TrainingJob, attacked: AttackTraining, epoch: int, save: SaveModel
) -> LabelledTexts:
    """Give the texts an attack adds to an epoch (0 is the first), attacking where it is due."""
    due = epoch - epoch % attacked.every
    if due == 0:
        return LabelledTexts((), ())  # nothing is learnt yet that could be attacked
    kept = _kept(job.folder, due)
    if kept is not None:
        return kept
    if due != epoch:
        log.warning("The texts that fooled %s are gone; it is attacked anew.", job.name)
    fooling = attack_sample(job, attacked, due, save)
    _keep(job.folder, due, fooling)
    return fooling


def attack_sample(
    job: TrainingJob, attacked: AttackTraining, epoch: int, save: SaveModel
) -> LabelledTexts:
    """Attack the model as it is on a sample of the train side; gives the texts that fooled it."""
    random = Random(f"{job.seed}:{epoch}:{attacked.attack}")
    rows = random.sample(range(len(job.train)), min(attacked.copies, len(job.train)))
    side = LabelledTexts(
        tuple(job.train.texts[i] for i in rows), tuple(job.train.label[i] for i in rows)
    )
    present = job.folder / SNAPSHOT_FOLDER
    shutil.rmtree(present, ignore_errors=True)
    present.mkdir()
    try:
        save(present)
        folders.write_card(
            present, draft_card(job), "The model in training, for an attack on it.\n"
        )
        fooling = attacked.run(present, side, random.getrandbits(31))
    finally:
        shutil.rmtree(present, ignore_errors=True)
    log.info("%s fooled %s on %d of %d texts.", attacked.attack, job.name, len(fooling), len(side))
    # As a reader of the text would part it: an attack may have put two words in the place of one.
    return LabelledTexts(tuple(Text.of(text.fields()) for text in fooling.texts), fooling.label)


def draft_card(job: TrainingJob) -> Card:
    """Write the card of a model that is still in training."""
    return Card(
        name=job.design.name,
        kind=job.design.kind,
        data=job.data,
        seed=job.seed,
        size="",
        labels=job.labels,
        fields=job.fields,
        parts=dict(job.design.parts),
        settings=grid.as_json(job.settings),
        dev_accuracy=0.0,
        epochs=0,
        examples=len(job.train),
        data_fingerprint="",
        key="",
        seconds=0.0,
        versions={},
    )


def with_added_texts(job: TrainingJob, fit: Callable[[TrainingJob], Fitted]) -> TrainingJob:
    """Add copies to the train side of a model that is fitted in one go, a linear one.

    They are one typed copy of every text, or what fools the model fitted to the plain texts.
    """
    hardening = job.hardening
    if isinstance(hardening, TypoTraining):
        added = key.typo_copies(job.train, hardening, job.seed)
    elif isinstance(hardening, AttackTraining):
        added = attack_sample(job, hardening, 0, lambda folder: _fitted(fit, job, folder))
    else:
        return job
    train = LabelledTexts(job.train.texts + added.texts, job.train.label + added.label)
    return replace(job, train=train)


def remove(folder: Path) -> None:
    """Take away what an attack has left with a training."""
    (folder / TEXTS_FILE).unlink(missing_ok=True)
    files.unfinished(folder / TEXTS_FILE).unlink(missing_ok=True)
    shutil.rmtree(folder / SNAPSHOT_FOLDER, ignore_errors=True)


def _fitted(fit: Callable[[TrainingJob], Fitted], job: TrainingJob, folder: Path) -> None:
    fit(replace(job, folder=folder, hardening=None))


def _keep(folder: Path, epoch: int, side: LabelledTexts) -> None:
    rows = [[text.fields(), label] for text, label in zip(side.texts, side.label)]
    files.write_whole(folder / TEXTS_FILE, json.dumps({"epoch": epoch, "rows": rows}))


def _kept(folder: Path, epoch: int) -> LabelledTexts | None:
    try:
        content = json.loads((folder / TEXTS_FILE).read_text("utf-8"))
        if content["epoch"] != epoch:
            return None
        texts = tuple(Text.of(fields) for fields, _ in content["rows"])
        return LabelledTexts(texts, tuple(int(label) for _, label in content["rows"]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        log.warning("%s cannot be read (%s).", folder / TEXTS_FILE, error)
        return None
