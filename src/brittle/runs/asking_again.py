"""After a run: a few originals are asked again, since a target behind a network can change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from brittle.answers import SCORES
from brittle.asks import ANSWER
from brittle.engine.broker import Broker
from brittle.errors import RunStopped
from brittle.results import Result
from brittle.runs.job import Job
from brittle.runs.store import Store
from brittle.targets.diagnosis.classifier import changed
from brittle.targets.diagnosis.sample import COSTLY_REPEATS
from brittle.targets.diagnosis.translator import changed_texts
from brittle.targets.protocols import declared_by


def ask_again(store: Store, broker: Broker, job: Job) -> str | None:
    """Ask the first originals of a costly target once more; warn if its answers have changed.

    These are at most 4 texts more. They are counted as sent, and stay within --max-sent.
    """
    if not declared_by(job.target, "costly"):
        return None
    room = None if broker.most_sent is None else max(0, broker.most_sent - broker.totals.sent)
    count = COSTLY_REPEATS if room is None else min(COSTLY_REPEATS, room)
    rows = [r for r in store.results() if (r.predicted or r.answer) is not None][:count]
    locked = store.manifest.get("locked", [])
    # Without the journal, which would repeat the answers that it holds.
    asker = replace(broker, journal=None)
    try:
        items = [job.kind.item(dict(row.fields), locked) for row in rows]
        answers, failures = asker.alone(ANSWER, items)
    except RunStopped as error:
        return f"The originals could not be asked again at the end of the run: {error}"
    finally:
        asker.close()
    answered = [(row, answers[n]) for n, row in enumerate(rows) if n not in failures]
    return _changes(answered, job)


def _changes(answered: list[tuple[Result, Any]], job: Job) -> str | None:
    """Return a warning if answers differ from those in the rows."""
    if job.goal.answers == SCORES:
        labels = list(job.labels)
        pairs = [
            (labels.index(str(row.predicted)), float(row.confidence or 0.0), answer)
            for row, answer in answered
        ]
        warning = changed(pairs, job.target.name)
    else:
        warning = changed_texts([(r.answer, answer) for r, answer in answered], job.target.name)
    return None if warning is None else warning.message
