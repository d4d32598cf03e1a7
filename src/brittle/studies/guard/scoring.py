"""What a guard answers on texts, asked once and kept; and texts with edits at random places."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from brittle.asks import ANSWER
from brittle.candidates.characters import EditedCharacters
from brittle.engine.broker import Broker
from brittle.errors import message_of
from brittle.formatting import money, plural
from brittle.runs.keywords import SharedAnswers
from brittle.safety.files import DAMAGED, make_private_folder, open_private
from brittle.studies.guard.study import Spent
from brittle.targets.capabilities import make_desks
from brittle.targets.protocols import declared_by
from brittle.text import Text

Report = Callable[[str], None]
Scored = float | str
"""The score of the label that means caught, or why there is none: unparsed, refused, tied, error"""
ERROR = "error"
TEXTS_AT_ONCE = 512
"""So many texts are asked about before the progress is reported."""


class AnswerJournal:
    """Keeps the answers of a guard in one file, for the scoring of texts and for all attacks.

    A line is a batch of answers: the guard's fingerprint, the question, the answers by a digest of
    the item's key, and the tokens that they took.
    """

    def __init__(self, path: Path, fingerprint: str) -> None:
        self.path, self.fingerprint = path, fingerprint
        self.tokens = (0, 0)
        self._known: dict[tuple[str, str], Any] = {}
        for line in path.read_text("utf-8").splitlines() if path.is_file() else ():
            try:
                self._note(json.loads(line))
            except DAMAGED:
                continue  # empty, or the end of a write that was interrupted

    @property
    def count(self) -> int:
        """How many answers are kept."""
        return len(self._known)

    def find(self, question: str, keys: Sequence[bytes]) -> dict[bytes, Any]:
        digests = {key: (question, _digest(key)) for key in keys}
        return {k: self._known[known] for k, known in digests.items() if known in self._known}

    def keep(
        self,
        question: str,
        answers: Sequence[tuple[bytes, Any]],
        tokens: tuple[int, int] = (0, 0),
    ) -> None:
        content = {
            "fingerprint": self.fingerprint,
            "question": question,
            "answers": {_digest(key): answer for key, answer in answers},
            "tokens": tokens,
        }
        make_private_folder(self.path.parent)
        with open_private(self.path) as file:  # a line break first ends a line that was cut off
            file.write(f"\n{json.dumps(content)}".encode())
        self._note(content)

    def _note(self, content: Mapping[str, Any]) -> None:
        if content["fingerprint"] == self.fingerprint:
            read, written = content["tokens"]
            self.tokens = (self.tokens[0] + int(read), self.tokens[1] + int(written))
            for digest, answer in content["answers"].items():
                self._known[content["question"], digest] = answer


def _digest(key: bytes) -> str:
    return hashlib.sha256(key).hexdigest()[:32]


@dataclass
class GuardScorer:
    """Asks a guard for the score of the label that means caught, each text once.

    Answers are kept in `journal` before they are used, and in `shared` for the attacks. `failures`
    has the texts that the guard could not answer, with the reasons.
    """

    target: Any
    index: int
    journal: AnswerJournal
    report: Report
    shared: SharedAnswers = field(default_factory=SharedAnswers)
    failures: dict[Text, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if declared_by(self.target, "costly"):
            self.shared.journal = self.journal

    def scores(self, texts: Sequence[Text], what: str) -> list[Scored]:
        """Return the score of every text, or why it has none; `what` names the texts."""
        desks = make_desks(self.target)
        desks = {**desks, ANSWER: replace(desks[ANSWER], costly=True)}  # every answer is kept
        caches = {ANSWER: self.shared.cache(ANSWER, self.target)}
        broker = Broker(desks, journal=self.journal, caches=caches)
        order = sorted(dict.fromkeys(texts), key=len)
        scored: dict[Text, Scored] = {}
        try:
            for start in range(0, len(order), TEXTS_AT_ONCE):
                batch = order[start : start + TEXTS_AT_ONCE]
                before = self.journal.count
                answers, failed = broker.answer(ANSWER, batch)
                self.failures |= {batch[n]: message_of(error) for n, error in failed.items()}
                scored |= {
                    text: ERROR if n in failed else self._read(answers[n])
                    for n, text in enumerate(batch)
                }
                if self.journal.count > before:
                    done = min(start + len(batch), len(order))
                    self.report(f"{done:,} of {plural(len(order), what)} scored")
        finally:
            broker.close()
        return [scored[text] for text in texts]

    def _read(self, answer: Sequence[float]) -> Scored:
        """Return the score in an answer; one without a label says so."""
        label = str(self.target.labels[int(np.argmax(answer))])
        is_silent = label in declared_by(self.target, "silent")
        return label.strip("()") if is_silent else float(answer[self.index])

    @property
    def spent(self) -> Spent | None:
        """What a costly guard was asked in the whole study; None of other guards."""
        if not declared_by(self.target, "costly"):
            return None
        tokens, price = self.journal.tokens, declared_by(self.target, "price")
        cost = None if price is None else money(tokens, price)
        return Spent(self.journal.count, *tokens, cost)


def numbers_of(scored: Sequence[Scored]) -> list[float]:
    """Return the scores of the texts that have one."""
    return [score for score in scored if not isinstance(score, str)]


def count_unscored(scored: Sequence[Scored]) -> dict[str, int]:
    """Count the texts without a score, by the reason.

    >>> count_unscored([0.5, "refused", "unparsed", "refused"])
    {'refused': 2, 'unparsed': 1}
    """
    return dict(Counter(reason for reason in scored if isinstance(reason, str)))


def edited_at_random(text: Text, name: str, share: float, rng: Random) -> Text:
    """Edit this share of the words, one at least, at random places by a class of edits.

    >>> str(edited_at_random(Text.of("ignore all rules"), "full-width", 0.1, Random(3)))
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
