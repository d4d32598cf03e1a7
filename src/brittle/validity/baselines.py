"""What a run's success has to be read beside, without people: three floors.

The clean error: so much is wrong without any attack. A random edit of the same size: what breaks
then was not found by searching. A classifier of another family, trained on the same data: if it
still reads the label of the adversaries, they are about the target; if not, the label may be gone.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np

from brittle.asks import Case, Tag, Unfit
from brittle.attacks.baselines import random_swap
from brittle.data import has_splits
from brittle.data.files import split_files
from brittle.edits import diff
from brittle.english.tags import Tagger
from brittle.errors import UsageError
from brittle.metrics.judged import rate_of_shares
from brittle.metrics.summary import Figure, rate, summary
from brittle.metrics.words import is_by_characters
from brittle.opening import as_target
from brittle.picture import Picture
from brittle.results import Result, has_adversary
from brittle.text import Text
from brittle.validity.figures import FLOORS, Floors, MeasuredRun, OtherFamily, as_stored
from brittle.validity.judges import read_labels

DRAWS = 5
LINEAR = ("naive-bayes", "linear-svm")
NO_OTHER = "no other model trained on the same data is known; name one with --other TARGET"
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def keep_floors(
    run: MeasuredRun, open_own: Callable[[], Any], other: Any = None, costly: bool = False
) -> Floors:
    """Measure the floors of a run, say why one is missing, and keep them with the run.

    `open_own` opens the target of the run. One that is paid for is asked only if `costly` is set.
    """
    missing: dict[str, str] = {}
    edited = read = None
    try:
        target = open_own()
        if getattr(target, "costly", False) and not costly:
            missing["random_edit"] = "the target costs money or time; --floors asks it anyway"
        elif _broken(run):
            edited = random_edit(run, target)
    except UsageError as error:
        missing["random_edit"] = str(error)
    other = other or name_other_family(run.manifest)
    if other is None:
        missing["other"] = NO_OTHER
    elif _broken(run):
        read = other_family(run, as_target(other, fields=run.fields, shape=run.shape))
    floors = Floors(clean_error(run.results()), edited, read, missing)
    run.keep_measured(FLOORS, as_stored(floors))
    return floors


def clean_error(results: Sequence[Result]) -> Figure:
    """Return how much the target gets wrong before any attack."""
    before = summary(results).before
    return rate(before.of - (before.count or 0), before.of, before.over)


def random_edit(run: MeasuredRun, target: Any, draws: int = DRAWS, seed: int = 0) -> Figure:
    """Return how often random edits, as large as the attack's, break the broken cases."""
    rows = _broken(run)
    edit = _editor(run, rows)
    won: dict[str, list[bool]] = {}
    for draw in range(draws):
        changed = [
            edited
            for row in rows
            if (edited := edit(row, Random(f"{seed}:{row.case}:{draw}"))) is not None
        ]
        for check in run.recheck(target, changed):
            won.setdefault(check.row.case, []).append(check.still_wins)
    shares = [sum(wins) / len(wins) for wins in won.values()]
    return rate_of_shares(shares, f"broken cases, {draws} random edits each")


def other_family(run: MeasuredRun, judge: Any) -> OtherFamily:
    """Ask a classifier of another family for the labels of the broken cases."""
    rows = _broken(run)
    figures = [
        rate(sum(hits), len(hits), over)
        for hits, over in (
            (list(read_labels(run.manifest, judge, rows).values()), "adversaries"),
            (
                list(read_labels(run.manifest, judge, rows, originals=True).values()),
                "their originals",
            ),
        )
    ]
    return OtherFamily(str(judge.name), *figures)


def name_other_family(manifest: Mapping[str, Any]) -> str | None:
    """Name a zoo model of another family, trained on the same data; None if none is known.

    A file without splits gives none: the model would be trained on the texts under attack.

    >>> name_other_family({"target": "LSTM-W-Random-1@mr#0", "data": "mr"})
    'zoo:naive-bayes@mr'
    >>> name_other_family({"target": "naive-bayes@mr#0", "data": "mr"})
    'zoo:LSTM-W-Random-1@mr'
    >>> name_other_family({"target": "svm", "data": "films.csv"})
    """
    data, target = str(manifest.get("data")), str(manifest.get("target"))
    spec = str((manifest.get("about_target") or {}).get("spec") or target).removeprefix("zoo:")
    if manifest.get("answers") == "texts" or manifest.get("split") == "train":
        return None
    if manifest.get("kind") == "picture":
        known = data == "mnist"
        return f"zoo:{'LeNet' if spec.startswith('forest') else 'forest'}@{data}" if known else None
    if not has_splits(data) and "train" not in split_files(data):
        return None
    is_linear = spec.startswith(LINEAR) or spec.endswith(".skops")
    return f"zoo:{'LSTM-W-Random-1' if is_linear else 'naive-bayes'}@{data}"


def _broken(run: MeasuredRun) -> list[Result]:
    return [row for row in run.results() if has_adversary(row)]


Editor = Callable[[Result, Random], Result | None]


def _editor(run: MeasuredRun, rows: Sequence[Result]) -> Editor:
    if run.manifest.get("kind") == "picture":
        return _noisy
    locked = run.manifest.get("locked", [])
    if is_by_characters(rows):
        return lambda row, rng: _misspelt(row, rng, locked)
    names = set(inspect.signature(random_swap).parameters) - {"share"}
    settings = {k: v for k, v in dict(run.manifest.get("settings") or {}).items() if k in names}
    return lambda row, rng: _swapped(row, rng, locked, settings)


def _swapped(
    row: Result, rng: Random, locked: Sequence[str], settings: Mapping[str, Any]
) -> Result | None:
    """Swap as many random words for random synonyms as the attack changed; None without any."""
    text = Text.of(dict(row.fields), locked)
    share = min(1.0, max(1, row.words_changed) / max(1, len(text)))
    search = random_swap(share=share, **settings)(Case(row.case, text), rng)
    try:
        ask = next(search)
        while isinstance(ask, Tag):
            ask = search.send(Tagger().tags(ask.items))
    except Unfit:
        return None
    return _with_text(row, text, ask.items[-1])


def _misspelt(row: Result, rng: Random, locked: Sequence[str]) -> Result | None:
    """Replace as many random characters by random letters as the attack changed."""
    text = Text.of(dict(row.fields), locked)
    places = [
        (i, n)
        for i, word in enumerate(text.words)
        if isinstance(word, str)
        for n in range(len(word))
    ]
    if not places:
        return None
    changed = text
    for i, n in rng.sample(places, min(len(places), max(1, row.characters_changed))):
        word = str(changed.words[i])
        changed = changed.swap(i, word[:n] + rng.choice(LETTERS) + word[n + 1 :])
    return _with_text(row, text, changed)


def _with_text(row: Result, original: Text, changed: Text) -> Result:
    return replace(row, edits=diff(original, changed), adversarial=changed.render())


def _noisy(row: Result, rng: Random) -> Result:
    """Add Gaussian noise of the same L2 norm; clipping to pixels from 0 to 1 makes it smaller."""
    pixels = Picture.decode(row.original).pixels
    noise = np.random.default_rng(rng.getrandbits(64)).normal(size=pixels.shape)
    noise *= (row.l2 or 0.0) / np.linalg.norm(noise)
    changed = np.clip(pixels + noise, 0, 1).astype(np.float32)
    return replace(row, adversarial=Picture(changed).encode())
