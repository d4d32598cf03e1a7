"""The texts that a network learns from, epoch by epoch: the train split and adversarial ones.

Variants of the train split by random edits of a level, which keep their labels.

They are made once, before the training: their words belong to the vocabulary. In every epoch each
text comes with one variant of each level, drawn from its own. With all of them in every epoch a
network would learn the texts by heart in the first, and lose accuracy.

Copies of texts with random typing errors, after Key* of Ebrahimi et al. (2018).

Key* as an attack is greedy: of a few draws it keeps the one that the model gets most wrong. Here
all changes are random, and no model is asked. Of its training, the paper says only that it adds
Key* texts to the mini-batches.

Texts that fool the model during training, added to the texts that it learns from.

The current model is saved to a folder, which the attack opens like any other target. The texts that
are found are kept on disk until the next attack, so that a resumed training learns from the same
texts.

The texts that a network learns from, epoch by epoch: the train split and adversarial texts.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from string import ascii_letters, digits
from typing import Generic, TypeVar

from brittle.safety import files
from brittle.text import Text
from brittle.training.adversarial.methods import AttackTraining, LevelTraining, TypoTraining
from brittle.training.augmenting import editor
from brittle.training.job import Fitted, TrainingJob, card_of
from brittle.training.splits import NO_TEXTS, LabelledTexts
from brittle.zoo import folder as folders

log = logging.getLogger(__name__)


def with_variants(job: TrainingJob) -> TrainingJob:
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
    log.info("%s trains on %d texts and %d variants of them.", job.name, len(job.train), count)
    variants = tuple((row, tuple(texts)) for (row, _), texts in groups.items())
    return replace(job, variants=variants)


def variants_for_epoch(job: TrainingJob, epoch: int) -> LabelledTexts:
    """Draw one variant of every text and level; the same ones when the epoch is resumed."""
    random = Random(f"variants:{job.seed}:{epoch}")
    texts = tuple(random.choice(group) for _, group in job.variants)
    return LabelledTexts(texts, tuple(job.train.label[row] for row, _ in job.variants))


def all_variants(job: TrainingJob) -> LabelledTexts:
    """Return all variants, for a model that is fitted only once."""
    texts = tuple(text for _, group in job.variants for text in group)
    label = tuple(job.train.label[row] for row, group in job.variants for _ in group)
    return LabelledTexts(texts, label)


LETTERS = ascii_letters + digits


def with_typos(text: Text, share: float, random: Random) -> Text:
    """Change a share of the characters of a text's words, each to another letter or digit.

    The share is rounded down, but at least one character changes, and none changes twice.
    """
    words = [list(str(word)) for word in text.words]
    indices = [(i, j) for i, word in enumerate(words) for j in range(len(word))]
    if not indices:
        return text
    for i, j in random.sample(indices, max(1, int(share * len(indices) + 1e-9))):
        words[i][j] = random.choice(LETTERS.replace(words[i][j], ""))
    return text.with_words(tuple(map("".join, words)))


def typo_copy(text: Text, method: TypoTraining, seed: int, epoch: int, row: int) -> Text:
    """Return the copy of text number `row`: another in each epoch, the same when resumed."""
    return with_typos(text, method.share, Random(f"{seed}:{epoch}:{row}"))


def typo_copies(
    clean: LabelledTexts, method: TypoTraining, seed: int, epoch: int = 0
) -> LabelledTexts:
    """Return a copy of every text, with the same labels."""
    texts = (typo_copy(text, method, seed, epoch, n) for n, text in enumerate(clean.texts))
    return LabelledTexts(tuple(texts), clean.label)


TEXTS_FILE, SNAPSHOT_FOLDER = "copies.json", "present"
SaveModel = Callable[[Path], None]
"""Save the current weights to a folder, with everything that is needed to read texts."""


def texts_for_epoch(
    job: TrainingJob, method: AttackTraining, epoch: int, save: SaveModel
) -> LabelledTexts:
    """Return the texts that the attack adds to an epoch (0 is the first); attack if it is due."""
    attack_epoch = epoch - epoch % method.every
    if attack_epoch == 0:
        return NO_TEXTS  # the model has learnt nothing yet
    stored = _load_texts(job.folder, attack_epoch)
    if stored is not None:
        return stored
    if attack_epoch != epoch:
        log.warning("The texts that fooled %s are lost, so it is attacked again.", job.name)
    fooling = attack_sample(job, method, attack_epoch, save)
    rows = [[text.fields(), label] for text, label in zip(fooling.texts, fooling.label)]
    content = json.dumps({"epoch": attack_epoch, "rows": rows})
    files.write_whole(job.folder / TEXTS_FILE, content, private=True)
    return fooling


def attack_sample(
    job: TrainingJob, method: AttackTraining, epoch: int, save: SaveModel
) -> LabelledTexts:
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


def with_added_texts(job: TrainingJob, fit: Callable[[TrainingJob], Fitted]) -> TrainingJob:
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


E = TypeVar("E")


class EpochTexts(Generic[E]):
    """The encoded texts and labels of an epoch; what an attack or a level added comes last."""

    def __init__(
        self,
        job: TrainingJob,
        encode: Callable[[tuple[Text, ...]], list[E]],
        length: Callable[[E], int],
        save: SaveModel,
    ) -> None:
        self.job, self._encode, self._length, self._save = job, encode, length, save
        self.epoch = 0
        self.texts, self.label = list(job.train.texts), list(job.train.label)
        self.encoded = encode(job.train.texts)

    @property
    def clean_epochs(self) -> int:
        """Return the number of epochs before the first attack; their model is not hardened."""
        return self.job.method.every if isinstance(self.job.method, AttackTraining) else 0

    def prepare(self, epoch: int) -> list[int]:
        """Prepare the texts of an epoch; return their lengths."""
        self.epoch = epoch
        if isinstance(self.job.method, AttackTraining | LevelTraining):
            if isinstance(self.job.method, AttackTraining):
                added = texts_for_epoch(self.job, self.job.method, epoch, self._save)
            else:
                added = variants_for_epoch(self.job, epoch)
            first = len(self.job.train)
            self.texts[first:], self.label[first:] = added.texts, added.label
            self.encoded[first:] = self._encode(added.texts) if added.texts else []
        return [self._length(row) for row in self.encoded]

    def typo_copies(self, rows: Sequence[int]) -> tuple[Text, ...]:
        """Return copies of some texts with typing errors, which differ in each epoch."""
        method, seed = self.job.method, self.job.seed
        assert isinstance(method, TypoTraining)
        return tuple(typo_copy(self.texts[i], method, seed, self.epoch, i) for i in rows)
