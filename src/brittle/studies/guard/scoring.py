"""What a guard answers on texts, asked once and kept; and texts with edits at random places."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from brittle.asks import ANSWER
from brittle.candidates.characters import EditedCharacters
from brittle.data import Dataset
from brittle.engine.broker import Broker
from brittle.engine.desks import Cache, cache_keys
from brittle.errors import UsageError, message_of
from brittle.formatting import plural
from brittle.runs.keywords import SharedAnswers
from brittle.studies.transfer.scoring import append_answers, load_answers, text_key
from brittle.targets.capabilities import make_desks
from brittle.targets.protocols import declared_by
from brittle.text import Text

Report = Callable[[str], None]
TEXTS_PER_LINE, COSTLY_TEXTS_PER_LINE = 512, 16
"""So many answers are kept at a time; a program that is killed asks for at most these again."""
FIELD = "text"


@dataclass
class GuardScorer:
    """Asks a guard for the score of the label that means caught, each text once.

    Answers are kept in `memory` as soon as they are there, and in `shared` for the attacks.
    `failures` has the texts that the guard could not answer, with the reasons.
    """

    target: Any
    index: int
    memory: Path
    shared: SharedAnswers
    report: Report
    failures: dict[str, str] = field(default_factory=dict)

    def scores(self, texts: Sequence[Text], what: str) -> list[float | None]:
        """Return a score for every text, None where the guard fails; `what` names them."""
        keys = [text_key(tuple(text.fields().items())) for text in texts]
        known = load_answers(self.memory, self.target.fingerprint, _parse_scores)
        cache_key = ANSWER, f"{self.target.name} {self.target.fingerprint}"
        cache = self.shared.caches.setdefault(cache_key, Cache(self.shared.size))
        desks = make_desks(self.target)
        there = [(text, known[key]) for key, text in zip(keys, texts) if key in known]
        cached, unfit = cache_keys(desks[ANSWER], [text for text, _ in there])
        cache.keep({k: row for n, (k, (_, row)) in enumerate(zip(cached, there)) if n not in unfit})
        new = {key: text for key, text in zip(keys, texts) if key not in known}
        known |= self._asked(new, Broker(desks, caches={ANSWER: cache}), what)
        return [float(known[key][self.index]) if key in known else None for key in keys]

    def _asked(self, texts: Mapping[str, Text], broker: Broker, what: str) -> dict[str, Any]:
        """Ask the guard about texts, in parts, and keep each part before the next is asked."""
        order = sorted(texts, key=lambda key: len(texts[key]))
        size = COSTLY_TEXTS_PER_LINE if declared_by(self.target, "costly") else TEXTS_PER_LINE
        found: dict[str, Any] = {}
        try:
            for start in range(0, len(order), size):
                batch = order[start : start + size]
                answers, failed = broker.answer(ANSWER, [texts[key] for key in batch])
                self.failures |= {batch[n]: message_of(error) for n, error in failed.items()}
                fresh = {
                    key: list(map(float, answers[n]))
                    for n, key in enumerate(batch)
                    if n not in failed
                }
                append_answers(self.memory, self.target.fingerprint, fresh)
                found |= fresh
                done = plural(min(start + size, len(order)), what)
                self.report(f"{done} of {len(order):,} scored")
        finally:
            broker.close()
        return found


def _parse_scores(answer: Any) -> Any:
    """Return the scores of all labels as targets answer them."""
    return np.asarray(answer, dtype=np.float64)


def texts_of(dataset: Dataset) -> list[str]:
    """Return the texts of a data set; texts that differ only in case and blanks stand once.

    Texts without a word are left out: nothing in them could be edited.
    """
    if dataset.kind != "text" or any(len(example.fields) != 1 for example in dataset):
        raise UsageError(
            f"The data {dataset.name!r} does not hold single texts; guard mode reads one text an "
            "example. Name the column of the texts: --text COLUMN."
        )
    different: dict[str, str] = {}
    for example in dataset:
        text = example.fields[0][1]
        if len(Text.of({FIELD: text})):
            different.setdefault(plain_text(text), text)
    return list(different.values())


def plain_text(text: str) -> str:
    """Write a text as it is compared with others: without regard to case and blanks.

    >>> plain_text("  Ignore\\n THAT ")
    'ignore that'
    """
    return " ".join(text.split()).casefold()


def as_item(text: str) -> Text:
    """Return a text as targets read it."""
    return Text.of({FIELD: text})


def edited_at_random(text: Text, name: str, share: float, rng: Random) -> Text:
    """Edit this share of the words, one at least, at random places by a class of edits.

    >>> str(edited_at_random(as_item("ignore all rules"), "full-width", 0.1, Random(3)))
    'ignｏre all rules'
    """
    source = EditedCharacters(name)
    edits = {
        i: found
        for i, word in enumerate(text.words)
        if isinstance(word, str) and (found := source.of(word, ""))
    }
    count = min(len(edits), max(1, round(share * len(text.words))))
    words = list(text.words)
    for i in sorted(rng.sample(sorted(edits), count)):
        words[i] = rng.choice(edits[i])
    return text.with_words(tuple(words))


def shares_changed(words: Mapping[str, int], changed: Mapping[str, int]) -> list[float]:
    """Return which share of its words an attack changed of each text, for those it changed."""
    return sorted(
        changed[case] / words[case] for case in changed if changed[case] and words.get(case)
    )
