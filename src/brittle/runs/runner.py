"""From a target, examples and an attack to a run on disk: plan, diagnose, attack, resume."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from brittle.asks import Attack, Case, declared, uses_budget
from brittle.attacks import wanted_mask
from brittle.attacks.language import language_warning
from brittle.data import as_dataset
from brittle.data.dataset import Dataset
from brittle.data.example import case_ids
from brittle.engine.broker import Asker, Broker, Totals
from brittle.engine.outcomes import Outcome
from brittle.engine.workers import exits_refused, within
from brittle.errors import UsageError
from brittle.goals import Goal
from brittle.goals.parsing import draws_keywords, named_keywords
from brittle.opening import as_target
from brittle.runs.asking_again import ask_again
from brittle.runs.job import Job, build_engine
from brittle.runs.keywords import with_keywords
from brittle.runs.resuming import (
    default_path,
    is_finished_part,
    open_store,
    same_but_budget,
)
from brittle.runs.rows import FinishedRows, result_of, rows_of
from brittle.runs.run import Run
from brittle.runs.shared_answers import SharedAnswers
from brittle.runs.store import Store
from brittle.runs.under_way import (
    ENDS_PROCESS,
    UnderWay,
    ask_one_by_one,
    react,
    suspects_of,
)
from brittle.runs.workers.asking import WorkerAsker
from brittle.runs.workers.setup import is_asked_by_driver
from brittle.runs.workers.starting import WorkerSettings, Workforce, start_driver
from brittle.targets.diagnosis import diagnose
from brittle.targets.diagnosis.classifier import MAX_SAMPLE_SIZE
from brittle.targets.diagnosis.sample import SAMPLE_SIZE
from brittle.targets.options import Labels, Target
from brittle.targets.protocols import HasScores, Translates
from brittle.text import Text


@dataclass(frozen=True)
class RunProgress:
    """How far a run is, reported after every round."""

    done: int
    planned: int
    counts: Mapping[str, int]
    sent: int
    seconds: float


@exits_refused()
def attack(
    target: Any,
    examples: Any,
    attack: str | Attack = "pwws",
    *,
    limit: int | None = None,
    budget: int | None = None,
    seed: int = 0,
    goal: str | Goal | None = None,
    toward: str | None = None,
    confidence: float | None = None,
    only: str | None = None,
    keep_meaning: float | None = None,
    keep_fluent: float | None = None,
    measures: str | bool = "winners",
    labels: Labels = None,
    scores: str = "auto",
    mask: str | None = None,
    device: str = "auto",
    trust: Sequence[str] = (),
    timeout: float = 30.0,
    answers: str = "auto",
    name: str | None = None,
    folder: str | Path = "runs",
    new: bool = False,
    retry_errors: bool = False,
    max_sent: int | None = None,
    batch: int | None = None,
    watchdog: float | None = 600.0,
    workers: int = 1,
    backend: str = "local",
    address: str | None = None,
    progress: Callable[[RunProgress], None] | None = None,
    warn: Callable[[str], None] | None = None,
    stopping: threading.Event | None = None,
    about_target: Mapping[str, Any] | None = None,
    shared: SharedAnswers | None = None,
    columns: Mapping[str, Mapping[str, Any]] | None = None,
    **settings: Any,
) -> Run:
    """Attack a target and store the run; the same call again resumes it or returns it.

    `target` is a live object (a scikit-learn pipeline, a function) or a name (`zoo:…`, a folder …);
    `examples` is the name of a data set, a loaded data set, or a list. Further keyword arguments
    are the attack's settings. `limit` takes the first examples of a permutation drawn by `seed`;
    `only` takes the examples of one class before that. With `keep_meaning` and `keep_fluent` a text
    must have so much similarity and fluency beside its original to count. Both are measured for
    texts that break a case: for every step with `measures="steps"`, never with "none". `goal` is a
    spec (`keyword:Art`, `brittle list goals`) or a goal object; by default any other class counts.
    `scores`, `mask`, `device`, `trust`, `timeout` and `answers` are those of `as_target`;
    `about_target` is kept with the run, so that the same target can be opened again.
    With several `workers` the cases are attacked in that many processes of this machine, or, with
    `backend="ray"`, in actors of the Ray cluster at `address`; the results are the same.
    `shared` keeps answers for further runs on the same target in this process. `columns` are those
    of `TargetOptions`, for models that are trained on a table.
    """
    worker_settings = WorkerSettings(workers, backend, address)
    folder = Path(folder).absolute()  # a target may change the working folder
    if name is not None and Path(name).name != name:
        raise UsageError(f"Got {name!r} as the run's name; expected one without slashes.")
    if budget is not None and budget < 1:
        raise UsageError(f"Got a budget of {budget} queries a case; expected 1 or more, or None.")
    dataset = as_dataset(examples)
    fields = tuple(name for name, _ in dataset.examples[0].fields)
    options: dict[str, Any] = {"labels": labels, "scores": scores, "mask": mask, "device": device}
    options |= {"trust": list(trust), "timeout": timeout, "answers": answers}
    options |= {"fields": fields, "shape": dataset.shape, "columns": columns or {}}
    # A target that is open already stays as it is, also where workers open it again.
    is_open = isinstance(target, HasScores | Translates) and not isinstance(target, str)
    if not is_open or getattr(target, "reads_zero_vectors", False):
        options["wanted_mask"] = wanted_mask(attack)
    given = Target.of(target, **options)
    opened: Any = as_target(given)
    about = about_target or given.stored()
    # The name that the run keeps goes first: a live object may have been opened from it.
    origin = given.as_stored(about) if about else given
    try:
        job = Job.of(
            *(opened, dataset, attack, settings, toward, confidence, seed, labels, only, goal),
            *(keep_meaning, keep_fluent, measures),
        )
        # Some targets are known only by what they answer, and may hang as soon as they are asked.
        within(watchdog, lambda: job.fixed)
        taken = job.dataset.take(limit, seed)
        manifest = job.manifest(taken, limit, budget) | {"about_target": dict(about)}
        path = _path_of(job, folder, name, budget, warn or _silent)
        ids = case_ids(taken.examples)
        if not (new or retry_errors) and is_finished_part(path, manifest, ids):
            return Run(path, ids)
        with open_store(path, manifest, new, retry_errors, uses_budget(job.attack)) as store:
            stored = store.totals
            totals = Totals(**{k: stored.get(k, v) for k, v in asdict(Totals()).items()})
            totals.sent = max(totals.sent, store.journalled())
            broker = Broker(
                job.desks,
                journal=store,
                watchdog=watchdog,
                most_sent=max_sent,
                batch=batch,
                caches={} if shared is None else shared.caches_of(job),
                totals=totals,
                stopping=stopping or threading.Event(),
            )
            try:
                workforce = Workforce(worker_settings, origin)
                _attack_cases(store, broker, job, taken, budget, progress, warn, workforce)
            finally:
                broker.close()
        return Run(path)
    finally:
        if opened is not target and hasattr(opened, "close"):
            opened.close()


def _path_of(
    job: Job, folder: Path, name: str | None, budget: int | None, warn: Callable[[str], None]
) -> Path:
    """Return the file of a run; say so if answers that were paid for are in a file beside it."""
    if name is not None:
        return folder / f"{name}.sqlite"
    path = default_path(folder, job.default_name(), budget)
    other = same_but_budget(path, job.default_name())
    if other is not None and getattr(job.target, "costly", False):
        warn(
            f"The run {other!r} has the same settings and another budget. With --name {other} a "
            "larger budget goes on with it, and asks nothing again that was answered."
        )
    return path


def search(
    job: Job, case: Case[Text], budget: int | None = None, shared: SharedAnswers | None = None
) -> Outcome:
    """Attack one case and return the outcome; nothing is stored.

    `budget` limits its queries; `shared` keeps answers for further searches on the same target.
    """
    if draws_keywords(job.goal) and case.keyword is None:
        raise UsageError(
            f"The goal {job.goal_name!r} draws a keyword from the translations of other texts, and "
            "there is only one. Name the word: keyword:WORD."
        )
    broker = Broker(job.desks, caches={} if shared is None else shared.caches_of(job))
    try:
        return next(build_engine(job, broker, budget).run([case]))[0]
    finally:
        broker.close()


def _attack_cases(
    store: Store,
    broker: Broker,
    job: Job,
    taken: Dataset,
    budget: int | None,
    progress: Callable[[RunProgress], None] | None,
    warn: Callable[[str], None] | None,
    workforce: Workforce,
) -> None:
    """Attack the cases that have no result yet, and store every case as it ends."""
    ids = case_ids(taken.examples)
    store.plan(taken.examples, ids)
    done = store.finished()
    seconds_before = float(store.totals.get("seconds", 0.0))
    start = time.perf_counter()
    counts = store.counts()

    def totals() -> dict[str, float]:
        return asdict(broker.totals) | {"seconds": seconds_before + time.perf_counter() - start}

    def cases() -> Iterator[Case[Any]]:
        yield from job.cases(taken, ids, done)  # begun when the keywords are drawn

    say = warn or _silent
    under_way = UnderWay(store.path, str(store.manifest.get("started")))
    try:
        if len(done) == len(set(ids) | done):
            under_way.path.unlink(missing_ok=True)
            return
        suspects = suspects_of(under_way, cases())
        workforce = react(under_way, suspects, workforce, job, say)
        if under_way.is_careful and len(suspects) == 1:
            store.add(
                [result_of(Outcome(suspects[0], "error", ENDS_PROCESS, 1), job)], [], totals()
            )
            done, counts = store.finished(), store.counts()
        count = len(set(ids) - done)
        working = _working(workforce, job, broker, cases(), count, budget, say, under_way)
        with working as (asker, finished):
            if under_way.is_careful and len(suspects) > 1:
                ask_one_by_one(under_way, suspects, broker, say)
            with under_way.asking(ids):
                job = with_keywords(job, store, asker, taken, ids)
            if not done:
                _diagnose(store, asker, job, taken, ids, warn, under_way)
            for results, steps in finished:
                store.add(results, steps, totals())
                for result in results:
                    counts[result.status] = counts.get(result.status, 0) + 1
                if progress is not None:
                    now, sent = totals()["seconds"], broker.totals.sent
                    progress(RunProgress(sum(counts.values()), len(ids), counts, sent, now))
        message = ask_again(store, broker, job)
        if message is not None:
            _warn(store, [message], warn, store.manifest.get("warnings", []))
    finally:
        if len(done) < len(ids):
            store.add([], [], totals())


@contextmanager
def _working(
    workforce: Workforce,
    job: Job,
    broker: Broker,
    cases: Iterator[Case[Any]],
    count: int,
    budget: int | None,
    warn: Callable[[str], None],
    under_way: UnderWay,
) -> Iterator[tuple[Asker, Iterator[FinishedRows]]]:
    """Attack cases in this process or in workers, which live as long as the `with` block.

    Yield who answers questions before the first case begins, and the rows of cases as they end.
    """
    is_here = workforce.settings.is_one_process
    asks_here = is_here or is_asked_by_driver(job.target)
    with under_way.noted(asks_here and getattr(job.target, "in_process", True)):
        if is_here:
            yield broker, _attack_here(job, broker, cases, budget, under_way)
            return
        driver = start_driver(workforce, job, broker, cases, count, budget, warn)
        try:
            # What ends a process must not end this one.
            yield broker if asks_here else WorkerAsker(driver), driver.rows()
        finally:
            driver.group.close()


def _attack_here(
    job: Job,
    broker: Broker,
    cases: Iterator[Case[Any]],
    budget: int | None,
    under_way: UnderWay,
) -> Iterator[FinishedRows]:
    """Yield the rows of finished cases, round by round."""
    engine = build_engine(job, broker, budget)
    engine.window = 1 if under_way.is_careful else engine.window
    for ended in engine.run(under_way.begun(cases)):
        yield rows_of(ended, job, broker.answer)
        under_way.end(outcome.case.id for outcome in ended)


def _silent(message: str) -> None:
    """Warn nobody."""


def _diagnose(
    store: Store,
    asker: Asker,
    job: Job,
    taken: Dataset,
    ids: Sequence[str],
    warn: Callable[[str], None] | None,
    under_way: UnderWay,
) -> None:
    """Look at the target's first answers, which the run needs anyway, and at a few repeats."""
    # Only the sides of pairs need the larger sample.
    is_pair = any(len(example.fields) == 2 for example in taken.examples[:1])
    count = MAX_SAMPLE_SIZE if is_pair else SAMPLE_SIZE
    cases = list(islice(job.cases(taken, ids, set()), count))
    first = [*job.dataset.warnings, *job.notes, *_doubts_of_attack(job, cases)]
    _warn(store, first, warn)  # said before anything is asked, which may cost something
    keywords = named_keywords(job.goal)
    with under_way.asking(case.id for case in cases):
        doubts = diagnose(job.target, cases, asker, data_labels=job.index, keywords=keywords)
    texts = [case.item for case in cases[:SAMPLE_SIZE] if isinstance(case.item, Text)]
    foreign = language_warning(job.attack_name, job.attack, texts)
    messages = [warning.message for warning in doubts] + ([foreign] if foreign else [])
    _warn(store, messages, warn, first)


def _doubts_of_attack(job: Job, cases: Sequence[Case[Any]]) -> list[str]:
    """Ask an attack that can tell, such as one with a generator, whether the data fit it."""
    doubt = declared(job.attack, "doubt")
    message = doubt([case.item for case in cases[:SAMPLE_SIZE]]) if doubt and cases else None
    return [message] if message else []


def _warn(
    store: Store,
    messages: Sequence[str],
    warn: Callable[[str], None] | None,
    former: Sequence[str] = (),
) -> None:
    """Store warnings with the run, after the former ones, and say them."""
    store.amend(warnings=list(dict.fromkeys([*former, *messages])))
    for message in messages:
        if warn is not None:
            warn(message)
