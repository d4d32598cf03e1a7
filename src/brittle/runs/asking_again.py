"""After a run: a few originals are asked again, since a target behind a network can change."""

from __future__ import annotations

from dataclasses import replace

from brittle.engine.broker import Broker
from brittle.errors import RunStopped
from brittle.runs.job import Job
from brittle.runs.store import Store
from brittle.targets.diagnosis import COSTLY_REPEATS, changed
from brittle.text import Text


def ask_again(store: Store, broker: Broker, job: Job) -> str | None:
    """Ask the first originals of a costly target once more; warn if its answers have changed.

    These are at most 4 texts more. They are counted as sent, and stay within --max-sent.
    """
    if not getattr(job.target, "costly", False):
        return None
    room = None if broker.most_sent is None else max(0, broker.most_sent - broker.totals.sent)
    count = COSTLY_REPEATS if room is None else min(COSTLY_REPEATS, room)
    rows = [row for row in store.results() if row.predicted is not None][:count]
    locked = store.manifest.get("locked", [])
    # Without the journal, which would repeat the answers that it holds.
    asker = replace(broker, journal=None)
    try:
        scores, failures = asker.alone("answer", [Text.of(dict(r.fields), locked) for r in rows])
    except RunStopped as error:
        return f"The originals could not be asked again at the end of the run: {error}"
    finally:
        asker.close()
    labels = list(job.target.labels)
    pairs = [
        (labels.index(str(row.predicted)), float(row.confidence or 0.0), scores[n])
        for n, row in enumerate(rows)
        if n not in failures
    ]
    warning = changed(pairs, job.target.name)
    return None if warning is None else warning.message
