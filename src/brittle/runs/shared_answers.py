"""Answers that outlive a run: several attacks on one target compute nothing twice."""

from __future__ import annotations

from dataclasses import dataclass, field

from brittle.engine.cache import Cache
from brittle.runs.job import Job

MAX_SHARED_ANSWERS = 1 << 19  # for each question; about half a kilobyte each


@dataclass
class SharedAnswers:
    """The answers of targets and helpers by question and fingerprint, kept in memory.

    Another target, the same one with another mask, or another helper has answers of its own.
    """

    size: int = MAX_SHARED_ANSWERS
    caches: dict[tuple[str, str], Cache] = field(default_factory=dict)

    def caches_of(self, job: Job) -> dict[str, Cache]:
        """Return the cache of every question of a job."""
        chosen = {}
        for question, desk in job.desks.items():
            helper = job.helpers.get(question)
            who = job.target if helper is None else helper
            key = (question, f"{who.name} {who.fingerprint}")
            size = self.size if desk.cache is None else desk.cache
            chosen[question] = self.caches.setdefault(key, Cache(size))
        return chosen
