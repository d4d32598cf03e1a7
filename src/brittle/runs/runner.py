"""From a target, examples and an attack to a run on disk: plan, diagnose, attack, resume."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, fields, replace
from itertools import islice
from pathlib import Path
from typing import Any

from brittle.asks import Attack, Case, declared, edit_classes, uses_budget
from brittle.attacks import wanted_mask
from brittle.attacks.needs import language_warning
from brittle.data import as_dataset
from brittle.data.dataset import Dataset
from brittle.data.example import case_ids
from brittle.engine.asking import Asker, JointJournal, Totals
from brittle.engine.broker import Broker
from brittle.engine.running import Outcome
from brittle.engine.workers import exits_refused, within
from brittle.errors import RunStopped, UsageError
from brittle.formatting import money
from brittle.goals import Goal
from brittle.goals.parsing import draws_keywords, named_keywords
from brittle.opening import as_target
from brittle.progress import Progress, reporting
from brittle.runs.drift import ask_again
from brittle.runs.job import Job, build_engine
from brittle.runs.keywords import SharedAnswers, with_keywords
from brittle.runs.options import (
    Aim,
    Keep,
    Limits,
    Session,
    refuse_data_keywords,
    split_flat,
    with_flat,
)
from brittle.runs.resuming import (
    default_path,
    is_finished_part,
    open_store,
    same_but_budget,
    with_first_limit,
)
from brittle.runs.rows import FinishedRows, result_of, rows_of
from brittle.runs.run import Run
from brittle.runs.store import Store
from brittle.runs.under_way import ENDS_PROCESS, UnderWay, ask_one_by_one, react, suspects_of
from brittle.runs.workers.setup import is_asked_by_driver
from brittle.runs.workers.starting import WorkerAsker, Workforce, start_driver
from brittle.statuses import ATTACKED
from brittle.targets.diagnosis import diagnose
from brittle.targets.diagnosis.classifier import MAX_SAMPLE_SIZE
from brittle.targets.diagnosis.normalised import probe_classes
from brittle.targets.diagnosis.samples import SAMPLE_SIZE
from brittle.targets.options import Target
from brittle.targets.protocols import HasCanonicalKeys, HasScores, Translates, close, declared_by
from brittle.text import Text
from brittle.workflow.backends import Workers


@dataclass(frozen=True)
class RunProgress:
    """How far a run is, reported after every round."""

    done: int
    planned: int
    counts: Mapping[str, int]
    sent: int
    seconds: float

    def __str__(self) -> str:
        attacked = sum(self.counts.get(status, 0) for status in ATTACKED)
        rate = self.sent / self.seconds if self.seconds > 0 else 0.0
        return f"{self.counts.get('broken', 0)}/{attacked} broken, {rate:,.0f} rows/s"


@exits_refused()
def attack(
    target: Any,
    examples: Any,
    attack: str | Attack = "pwws",
    *,
    limits: Limits = Limits(),
    keep: Keep = Keep(),
    workers: Workers | int = Workers(),
    seed: int = 0,
    goal: str | Goal | Aim | None = None,
    name: str | None = None,
    folder: str | Path = "runs",
    new: bool = False,
    retry_errors: bool = False,
    progress: Progress[RunProgress] | None = True,
    session: Session = Session(),
    **settings: Any,
) -> Run:
    """Attack a target and store the run; the same call again resumes it or returns it.

    `target` is a live object (a scikit-learn pipeline, a function), a name (`zoo:…`, a folder …),
    or a `Target`, which adds options. `examples` is the name of a data set, a loaded data set, or a
    list. `goal` is a spec (`keyword:Art`, `brittle list goals`), a goal object, or an `Aim`; the
    default goal is any other class. With several `workers` the cases are attacked in that many
    local processes, or on a Ray cluster; the results are the same. `progress` shows a bar in
    terminals and notebooks; False shows none, and a function receives the reports.

    Further keywords are settings of the attack. The options of `Target`, `Limits`, `Keep`,
    `Workers`, `Aim` and `Session` can also be written flat: `budget=200` means
    `limits=Limits(budget=200)`, and `keep_meaning=0.8` means `keep=Keep(meaning=0.8)`.
    """
    refuse_data_keywords(settings, attack)
    options, settings = split_flat(settings)
    limits = with_flat(limits, "limits", options["limits"])
    keep = with_flat(keep, "keep", options["keep"])
    workers = workers if isinstance(workers, Workers) else Workers(workers)
    workers = with_flat(workers, "workers", options["workers"])
    aim = with_flat(goal if isinstance(goal, Aim) else Aim(goal), "aim", options["aim"])
    session = with_flat(session, "session", options["session"])
    warn = session.warn or _silent
    about = options["target"].pop("about_target", None)
    named = with_flat(Target.of(target), "target", options["target"])
    folder = Path(folder).absolute()  # a target may change the working folder
    if name is not None and Path(name).name != name:
        raise UsageError(f"Got {name!r} as the run's name; expected a name without slashes.")
    dataset = as_dataset(examples)
    named = for_data(named, dataset, attack)
    if about and not named.is_named:  # as Target("zoo:…", opened=target) says today
        named = replace(named.as_stored(about), opened=as_target(named))
    with opened_target(named, progress) as opened:
        aims: dict[str, Any] = {field.name: getattr(aim, field.name) for field in fields(aim)}
        aims |= {"seed": seed, "labels": named.labels, "only": limits.only, "keep": keep}
        job = Job.of(opened, dataset, attack, settings, **aims)
        # Some targets are known only by what they answer, and may hang as soon as they are asked.
        within(limits.watchdog, lambda: job.fixed)
        path = _path_of(job, folder, name, limits.budget, warn)
        limits = with_first_limit(limits, path, len(job.dataset), new, warn)
        taken = job.dataset.take(limits.limit, seed)
        manifest = job.manifest(taken, limits) | {"about_target": named.stored()}
        ids = case_ids(taken.examples)
        if not (new or retry_errors) and is_finished_part(path, manifest, ids):
            return Run(path, ids)
        workforce = Workforce(workers, replace(named, opened=None), limits)
        with (
            open_store(path, manifest, new, retry_errors, uses_budget(job.attack)) as store,
            closing(_open_broker(job, store, limits, session)) as broker,
            reporting(progress, "attacking") as report,
        ):
            try:
                _attack_cases(_Start(store, broker, job, taken, workforce, warn, report))
            except RunStopped as stopped:
                stopped.path = path
                raise
        return Run(path)


def for_data(target: Target, dataset: Dataset, attack: str | Attack) -> Target:
    """Return a target that reads these data, and a masked word as the attack wants it read."""
    fields = tuple(name for name, _ in dataset.examples[0].fields)
    target = replace(target, fields=fields, shape=dataset.shape, data_labels=dataset.labels)
    # A target that is open already stays as it is, also where workers open it again.
    is_live = not target.is_named and isinstance(target.model, HasScores | Translates)
    if is_live and not declared_by(target.model, "reads_zero_vectors"):
        return target
    return replace(target, wanted_mask=wanted_mask(attack))


@contextmanager
def opened_target(target: Target, progress: Progress[Any] | None = None) -> Iterator[Any]:
    """Open a target and close it in the end; one that is open already stays open.

    A model that is trained first shows that where the run shows a bar.
    """
    is_shown: Progress[Any] = progress is True and target.progress is None
    with reporting(is_shown, "training") as report:
        opened: Any = as_target(replace(target, progress=report or target.progress))
    try:
        yield opened
    finally:
        if opened is not target.opened and opened is not target.model:
            close(opened)


def _open_broker(
    job: Job,
    store: Store,
    limits: Limits,
    session: Session,
) -> Broker:
    """Return the broker of a run, which goes on counting where the last start stopped."""
    stored = store.totals
    totals = Totals(**{k: stored.get(k, v) for k, v in asdict(Totals()).items()})
    totals.sent = max(totals.sent, store.journalled())
    read, written = store.tokens
    totals.tokens_read = max(totals.tokens_read, read)
    totals.tokens_written = max(totals.tokens_written, written)
    shared = SharedAnswers() if session.shared is None else session.shared
    return Broker(
        job.desks,
        journal=store if shared.journal is None else JointJournal(store, shared.journal),
        watchdog=limits.watchdog,
        most_sent=limits.max_sent,
        most_tokens=limits.max_tokens,
        batch=limits.batch,
        caches={} if session.shared is None else shared.caches_of(job),
        totals=totals,
        stopping=session.stopping or threading.Event(),
    )


def _path_of(
    job: Job, folder: Path, name: str | None, budget: int | None, warn: Callable[[str], None]
) -> Path:
    """Return the file of a run; say so if answers that were paid for are in a file beside it."""
    if name is not None:
        return folder / f"{name}.sqlite"
    path = default_path(folder, job.default_name(), budget)
    other = same_but_budget(path, job.default_name())
    if other is not None and declared_by(job.target, "costly"):
        warn(
            f"The run {other!r} has the same settings with another budget. To resume it "
            f"with a larger budget, use --name {other}: its answers are used again."
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
            f"The goal {job.goal_name!r} draws a keyword from the translations of other "
            "texts, but there is only one text. Give the word yourself: keyword:WORD."
        )
    broker = Broker(job.desks, caches={} if shared is None else shared.caches_of(job))
    classes = edit_classes(job.attack)
    if classes and isinstance(job.target, HasCanonicalKeys):  # answers on one text show too little
        probed = probe_classes(job.target, classes, [case], broker)
        case = replace(case, normalised=[name for name, one in probed.items() if one.is_normalised])
    try:
        return next(build_engine(job, broker, budget).run([case]))[0]
    finally:
        broker.close()


@dataclass
class _Start:
    """One start of a run: what is attacked, where it is stored, who works, and who hears of it.

    `done` are the cases that have a result when the first case begins. The `job` gets the keywords
    of its cases after the workers have started.
    """

    store: Store
    broker: Broker
    job: Job
    taken: Dataset
    workforce: Workforce
    warn: Callable[[str], None]
    progress: Callable[[RunProgress], None] | None

    def __post_init__(self) -> None:
        self.ids = case_ids(self.taken.examples)
        self.store.plan(self.taken.examples, self.ids)
        self.done = self.store.finished()
        self.under_way = UnderWay(self.store.path, str(self.store.manifest.get("started")))
        self._seconds_before = float(self.store.totals.get("seconds", 0.0))
        self._begun = time.perf_counter()

    @property
    def left(self) -> int:
        """How many planned cases have no result yet."""
        return len(set(self.ids) - self.done)

    def cases(self) -> Iterator[Case[Any]]:
        """Yield the cases that have no result yet; begun when the keywords are drawn."""
        yield from self.job.cases(self.taken, self.ids, self.done)

    def totals(self) -> dict[str, float]:
        """Return what was computed for the run until now."""
        seconds = self._seconds_before + time.perf_counter() - self._begun
        counted: dict[str, float] = asdict(self.broker.totals) | {"seconds": seconds}
        if (repeats := declared_by(self.job.target, "repeats")) > 1:
            counted["repeats"] = repeats
        if not self.broker.totals.tokens:
            return {name: n for name, n in counted.items() if not name.startswith("tokens")}
        price = declared_by(self.job.target, "price")
        if price is not None:
            used = (counted["tokens_read"], counted["tokens_written"])
            counted["money"] = money(used, price)
        return counted

    def keep_warnings(self, messages: Sequence[str], former: Sequence[str] = ()) -> None:
        """Store warnings with the run, after the former ones, and say them."""
        self.store.amend(warnings=list(dict.fromkeys([*former, *messages])))
        for message in messages:
            self.warn(message)


def _attack_cases(start: _Start) -> None:
    """Attack the cases that have no result yet, and store every case as it ends."""
    store, under_way = start.store, start.under_way
    try:
        if not start.left:
            under_way.path.unlink(missing_ok=True)
            return
        suspects = suspects_of(under_way, start.cases())
        start.workforce = react(under_way, suspects, start.workforce, start.job, start.warn)
        if under_way.is_careful and len(suspects) == 1:
            ended = Outcome(suspects[0], "error", ENDS_PROCESS, 1)
            store.add([result_of(ended, start.job)], [], start.totals())
            start.done = store.finished()
        with _working(start) as (asker, finished):
            if under_way.is_careful and len(suspects) > 1:
                ask_one_by_one(under_way, suspects, start.broker, start.warn)
            with under_way.asking(start.ids):
                start.job = with_keywords(start.job, store, asker, start.taken, start.ids)
            if not start.done:
                _diagnose(start, asker)
            start.job = _with_normalised(start, asker)
            _store_rows(start, finished)
        message = ask_again(store, start.broker, start.job)
        if message is not None:
            start.keep_warnings([message], store.manifest.get("warnings", []))
    finally:
        if start.left:
            store.add([], [], start.totals())


def _store_rows(start: _Start, finished: Iterator[FinishedRows]) -> None:
    """Store the rows of cases as they end, and report how far the run is."""
    counts = start.store.counts()
    for results, steps in finished:
        start.store.add(results, steps, start.totals())
        for result in results:
            counts[result.status] = counts.get(result.status, 0) + 1
        if start.progress is not None:
            done, seconds = sum(counts.values()), start.totals()["seconds"]
            sent = start.broker.totals.sent
            start.progress(RunProgress(done, len(start.ids), counts, sent, seconds))


@contextmanager
def _working(start: _Start) -> Iterator[tuple[Asker, Iterator[FinishedRows]]]:
    """Attack cases in this process or in workers, which live as long as the `with` block.

    Yield who answers questions before the first case begins, and the rows of cases as they end.
    """
    workforce, job, broker = start.workforce, start.job, start.broker
    asks_here = workforce.is_one_process or is_asked_by_driver(job.target)
    with start.under_way.noted(asks_here and declared_by(job.target, "in_process")):
        if workforce.is_one_process:
            yield broker, _attack_here(start)
            return
        driver = start_driver(workforce, job, broker, start.cases(), start.left, start.warn)
        try:
            # What ends a process must not end this one.
            yield broker if asks_here else WorkerAsker(driver), driver.rows()
        finally:
            driver.group.close()


def _attack_here(start: _Start) -> Iterator[FinishedRows]:
    """Yield the rows of finished cases, round by round."""
    under_way = start.under_way
    engine = build_engine(start.job, start.broker, start.workforce.limits.budget)
    engine.window = 1 if under_way.is_careful else engine.window
    for ended in engine.run(under_way.begun(start.cases())):
        yield rows_of(ended, start.job, start.broker.answer)
        under_way.end(outcome.case.id for outcome in ended)


def _silent(message: str) -> None:
    """Warn nobody."""


def _diagnose(start: _Start, asker: Asker) -> None:
    """Look at the target's first answers, which the run needs anyway, and at a few repeats."""
    job = start.job
    # Only the sides of pairs need the larger sample.
    is_pair = any(len(example.fields) == 2 for example in start.taken.examples[:1])
    cases = list(islice(start.cases(), MAX_SAMPLE_SIZE if is_pair else SAMPLE_SIZE))
    first = [*job.dataset.warnings, *job.notes, *_doubts_of_attack(job, cases)]
    start.keep_warnings(first)  # said before anything is asked, which may cost something
    keywords = named_keywords(job.goal)
    with start.under_way.asking(case.id for case in cases):
        doubts = diagnose(job.target, cases, asker, data_labels=job.index, keywords=keywords)
    texts = [case.item for case in cases[:SAMPLE_SIZE] if isinstance(case.item, Text)]
    foreign = language_warning(job.attack_name, job.attack, texts)
    messages = [warning.message for warning in doubts] + ([foreign] if foreign else [])
    start.keep_warnings(messages, first)


def _with_normalised(start: _Start, asker: Asker) -> Job:
    """Return the job with the classes of edits that the target undoes; they are measured once."""
    job, measured = start.job, start.store.manifest.get("normalisation")
    classes = edit_classes(job.attack)
    if classes and measured is None:
        cases = list(islice(start.cases(), SAMPLE_SIZE))
        with start.under_way.asking(case.id for case in cases):
            probed = probe_classes(job.target, classes, cases, asker)
        measured = {
            name: asdict(one) | {"is_normalised": one.is_normalised} for name, one in probed.items()
        }
        start.store.amend(normalisation=measured)
    undone = [name for name, one in (measured or {}).items() if one["is_normalised"]]
    return replace(job, normalised=tuple(undone))


def _doubts_of_attack(job: Job, cases: Sequence[Case[Any]]) -> list[str]:
    """Ask an attack that can tell, such as one with a generator, whether the data fit it."""
    doubt = declared(job.attack, "doubt")
    message = doubt([case.item for case in cases[:SAMPLE_SIZE]]) if doubt and cases else None
    return [message] if message else []
