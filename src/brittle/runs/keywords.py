"""What outlives a case: keywords that a goal draws from other cases, and shared answers.

The keywords of a run whose goal draws one for every case, from the translations of the others.

All originals are asked before the first case begins. The answers are remembered, so that nothing is
computed twice. What is drawn is stored with the run: a case keeps its keyword when the run resumes.

Answers that outlive a run: several attacks on one target compute nothing twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from brittle.asks import ANSWER, CANDIDATE
from brittle.data.dataset import Dataset
from brittle.engine.asking import Asker, Journal
from brittle.engine.desks import Cache
from brittle.english.words import is_function_word
from brittle.goals.parsing import draws_keywords
from brittle.goals.texts import folded_words
from brittle.runs.job import Job
from brittle.runs.store import Store
from brittle.targets.protocols import declared_by
from brittle.text import words_of

MIN_LETTERS = 3


def with_keywords(job: Job, store: Store, broker: Asker, taken: Dataset, ids: Sequence[str]) -> Job:
    """Return the job with the keywords of its cases; those that have none yet get one."""
    if not draws_keywords(job.goal):
        return job
    keywords, done = store.keywords, store.finished()
    missing = [case for case in ids if case not in done and case not in keywords]
    if missing:
        translations = {r.case: r.answer for r in store.results() if r.answer is not None}
        cases = list(job.cases(taken, ids, set(translations)))
        answers, failures = broker.answer(ANSWER, [case.item for case in cases])
        fresh = {c.id: answers[n] for n, c in enumerate(cases) if n not in failures}
        keywords |= draw_keywords(translations | fresh, missing, job.seed)
        store.keep_keywords(keywords)
    return replace(job, keywords=keywords)


def draw_keywords(
    translations: Mapping[str, str], cases: Iterable[str], seed: int
) -> dict[str, str]:
    """Draw for each case a content word of another case's translation that its own does not have.

    The draw depends on the seed, the case and the set of translations, not on any order. A case
    without a translation, or for which no other has a word, gets none.
    """
    others = sorted(translations)
    words = {case: content_words(text) for case, text in translations.items()}
    drawn = {}
    for case in cases:
        if case not in translations:
            continue
        rng, own = Random(f"keyword:{seed}:{case}"), {*folded_words(translations[case])}
        start = rng.randrange(len(others))
        # Onwards from a random sentence, for one may have no word that this one lacks.
        for other in (*others[start:], *others[:start]):
            options = [word for key, word in words[other].items() if key not in own]
            if options:
                drawn[case] = rng.choice(options)
                break
    return drawn


def content_words(text: str) -> dict[str, str]:
    """Return the words of a text that carry meaning, by their folded form, as first written.

    >>> list(content_words("Ein Mann geht durch die Stadt; 3 Männer sehen den Mann.").values())
    ['Mann', 'geht', 'Stadt', 'Männer', 'sehen']
    """
    words: dict[str, str] = {}
    for word in words_of(text):
        if sum(map(str.isalpha, word)) >= MIN_LETTERS and not is_function_word(word):
            words.setdefault(folded_words(word)[0], word)
    return words


MAX_SHARED_ANSWERS = 1 << 19  # for each question; about half a kilobyte each


@dataclass
class SharedAnswers:
    """The answers of targets and helpers by question and fingerprint, kept in memory.

    Another target, the same one with another mask, or another helper has answers of its own. The
    answers of a costly target, which all have to be of the same one, are kept in a `journal` too.
    """

    size: int = MAX_SHARED_ANSWERS
    journal: Journal | None = None
    caches: dict[tuple[str, str], Cache] = field(default_factory=dict)

    def caches_of(self, job: Job) -> dict[str, Cache]:
        """Return the cache of every question of a job."""
        chosen = {}
        for question, desk in job.desks.items():
            helper = job.helpers.get(question)
            who = job.target if helper is None else helper
            precision = declared_by(who, "precision") if question == CANDIDATE else ""
            chosen[question] = self.cache(question + precision, who, desk.cache)
        return chosen

    def cache(self, question: str, who: Any, size: int | None = None) -> Cache:
        """Return the cache of a question to a target or a helper."""
        key = (question, f"{who.name} {who.fingerprint}")
        return self.caches.setdefault(key, Cache(self.size if size is None else size))
