"""From a target, examples and an attack to a run on disk: plan, diagnose, attack, resume."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from brittle import data
from brittle.asks import Attack, Case
from brittle.data.dataset import Dataset
from brittle.data.example import as_examples, case_ids
from brittle.engine.broker import Broker, Totals
from brittle.engine.engine import Engine
from brittle.engine.outcomes import Outcome
from brittle.engine.workers import within
from brittle.errors import UsageError
from brittle.opening import as_target
from brittle.runs.job import FIXED, Job
from brittle.runs.rows import result_of, steps_of
from brittle.runs.run import Run
from brittle.runs.store import Store
from brittle.targets.diagnosis import diagnose
from brittle.text import Text


@dataclass(frozen=True)
class RunProgress:
    """How far a run is, told after every round."""

    done: int
    planned: int
    counts: Mapping[str, int]
    sent: int
    seconds: float


def attack(
    target: Any,
    examples: Any,
    attack: str | Attack = "pwws",
    *,
    limit: int | None = None,
    budget: int | None = None,
    seed: int = 0,
    toward: str | None = None,
    confidence: float | None = None,
    labels: str | Mapping[str, str] | Sequence[str] | None = None,
    scores: str = "auto",
    mask: str | None = None,
    device: str = "auto",
    trust: Sequence[str] = (),
    timeout: float = 30.0,
    name: str | None = None,
    folder: str | Path = "runs",
    new: bool = False,
    retry_errors: bool = False,
    max_sent: int | None = None,
    batch: int | None = None,
    watchdog: float | None = 600.0,
    progress: Callable[[RunProgress], None] | None = None,
    warn: Callable[[str], None] | None = None,
    stopping: threading.Event | None = None,
    about_target: Mapping[str, Any] | None = None,
    **settings: Any,
) -> Run:
    """Attack a target and store the run; the same call again resumes it or gives it back.

    `target` is a live object (scikit-learn pipeline, function) or a name (`zoo:…`, a folder …);
    `examples` a data set's name, a loaded data set, or a list. Further keyword arguments are the
    attack's settings. `limit` takes the first examples of a permutation drawn by `seed`;
    `scores`, `mask`, `device`, `trust` and `timeout` are those of `as_target`, and
    `about_target` is kept with the run, so that the same target can be opened again.
    """
    dataset = _dataset(examples)
    fields = tuple(name for name, _ in dataset.examples[0].fields)
    options: dict[str, Any] = {"labels": labels, "scores": scores, "mask": mask, "device": device}
    options |= {"trust": list(trust), "timeout": timeout}
    chosen = as_target(target, fields=fields, **options)
    about = about_target or ({"spec": target, **options} if isinstance(target, str) else {})
    job = Job.of(chosen, dataset, attack, settings, toward, confidence, seed, labels)
    # Some targets are known only by what they answer, and may hang as soon as they are asked.
    within(watchdog, job.fixed)
    taken = dataset.take(limit, seed)
    if name is not None and Path(name).name != name:
        raise UsageError(f"Got {name!r} as the run's name; expected one without slashes.")
    path = Path(folder) / f"{name or job.default_name()}.sqlite"
    manifest = job.manifest(taken, limit, budget) | {"about_target": dict(about)}
    with _opened(path, manifest, new, retry_errors) as store:
        ids = case_ids(taken.examples)
        store.plan(taken.examples, ids)
        stored: dict[str, Any] = {k: v for k, v in store.totals.items() if k != "seconds"}
        started = Totals(**stored)
        started.sent = max(started.sent, store.journalled())
        broker = Broker(
            job.desks,
            journal=store,
            watchdog=watchdog,
            most_sent=max_sent,
            batch=batch,
            totals=started,
            stopping=stopping or threading.Event(),
        )
        try:
            _run(store, broker, job, taken, ids, budget, progress, warn)
        finally:
            broker.close()
            if chosen is not target and hasattr(chosen, "close"):
                chosen.close()
    return Run(path)


def search(job: Job, case: Case[Text]) -> Outcome:
    """Attack one case and give the outcome, with nothing stored."""
    broker = Broker(job.desks)
    engine = Engine(job.attack, job.goal, broker, name=job.attack_name, seed=job.seed)
    try:
        return next(engine.run([case]))[0]
    finally:
        broker.close()


def _dataset(examples: Any) -> Dataset:
    if isinstance(examples, Dataset):
        return examples
    if isinstance(examples, str):
        return data.load(examples)
    rows = tuple(as_examples(examples))
    labels = tuple(sorted({row.label for row in rows if row.label is not None}))
    return Dataset("examples", "all", rows, labels)


def _opened(path: Path, manifest: dict[str, Any], new: bool, retry_errors: bool) -> Store:
    """Create the run, or resume it after checking that nothing but limit and budget changed."""
    if new or not Store.exists(path):
        return Store.create(path, manifest, new)
    store = Store.resume(path)
    was = store.manifest
    changed = [key for key in FIXED if was.get(key) != manifest[key]]
    if changed:
        store.close()
        told = "; ".join(f"{key} was {was.get(key)!r}, now {manifest[key]!r}" for key in changed)
        raise UsageError(
            f"The run {path.stem!r} exists with other settings: {told}. Only limit and budget may "
            "change. Choose another --name, or start over with --new."
        )
    for what, told in (("budget", "a budget of {} queries"), ("examples", "a plan of {} cases")):
        if _more(was[what], manifest[what]):
            store.close()
            raise UsageError(
                f"The run {path.stem!r} has {told.format(was[what] or 'any number of')}, got "
                f"{manifest[what]}; it can only be extended. Choose another --name, or --new."
            )
    if _more(manifest["budget"], was["budget"]):
        store.forget("out of budget")
    if retry_errors:
        store.forget("error")
    store.amend(**{key: manifest[key] for key in ("budget", "limit", "examples")})
    return store


def _more(now: int | None, before: int | None) -> bool:
    return before is not None and (now is None or now > before)


def _run(
    store: Store,
    broker: Broker,
    job: Job,
    taken: Dataset,
    ids: Sequence[str],
    budget: int | None,
    progress: Callable[[RunProgress], None] | None,
    warn: Callable[[str], None] | None,
) -> None:
    done = store.finished()
    before = float(store.totals.get("seconds", 0.0))
    start = time.perf_counter()
    counts = store.counts()

    def totals() -> dict[str, float]:
        return asdict(broker.totals) | {"seconds": before + time.perf_counter() - start}

    try:
        if len(done) == len(set(ids) | done):
            return
        if not done:
            _diagnosed(store, broker, job, taken, ids, warn)
        engine = Engine(
            job.attack, job.goal, broker, name=job.attack_name, budget=budget, seed=job.seed
        )
        for ended in engine.run(job.cases(taken, ids, done)):
            results = [result_of(outcome, job) for outcome in ended]
            steps = [step for outcome in ended for step in steps_of(outcome, job.target.labels)]
            store.add(results, steps, totals())
            for result in results:
                counts[result.status] = counts.get(result.status, 0) + 1
            if progress is not None:
                at = sum(counts.values())
                told = RunProgress(at, len(ids), counts, broker.totals.sent, totals()["seconds"])
                progress(told)
    finally:
        if len(done) < len(ids):
            store.add([], [], totals())


def _diagnosed(
    store: Store,
    broker: Broker,
    job: Job,
    taken: Dataset,
    ids: Sequence[str],
    warn: Callable[[str], None] | None,
) -> None:
    """Look at the target's first answers, which the run needs anyway, and at a few repeats."""
    sample = list(zip(job.cases(taken, ids, set()), range(32)))
    cases = [case for case, _ in sample]
    doubts = diagnose(job.target, cases, broker, data_labels=job.index)
    messages = [doubt.message for doubt in doubts]
    store.amend(warnings=messages)
    for message in messages:
        if warn is not None:
            warn(message)
