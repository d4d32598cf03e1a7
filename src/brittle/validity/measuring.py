"""Measure the validity of a run: pages for people, their answers, or a judge they calibrate.

People and runs: write the pages that people read, and read the files they send back. Measure the
validity of a run: from what people said, or from a judge that people calibrate.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from brittle.errors import UsageError
from brittle.metrics.judged import Calibration, poststratified, rogan_gladen
from brittle.metrics.summary import ATTACKED, Figure
from brittle.results import Result, has_adversary
from brittle.safety.files import write_whole
from brittle.validity.answers import (
    ENDING,
    AnswerFile,
    Person,
    SampleKey,
    check_answers,
    key_path,
    key_paths,
    load_answers,
    load_key,
    save_key,
)
from brittle.validity.figures import (
    VALIDITY,
    JudgeFigures,
    MeasuredRun,
    Reading,
    Thresholds,
    Validity,
    as_stored,
    restore_validity,
)
from brittle.validity.judges import ValidityJudge
from brittle.validity.questionnaire import Questionnaire, preset
from brittle.validity.sampling import DrawnSample, Source, draw_sample
from brittle.validity.verdicts import TableRow, answer_table, check_standard, read_sample

PageWriter = Callable[[DrawnSample, Questionnaire, int], str]
"""Draws the page of a person, by number, for a sample and a questionnaire."""


@dataclass(frozen=True)
class Pages:
    """What `annotate` wrote: a page for each person, and the key that stays with the run."""

    pages: tuple[Path, ...]
    key: Path
    sample: DrawnSample


@dataclass(frozen=True)
class Answered:
    """What people said of one sample of a run, with what is needed to count it."""

    run: MeasuredRun
    key: SampleKey
    questionnaire: Questionnaire
    people: tuple[Person, ...]
    rows: Mapping[str, Result]

    def table(self) -> list[TableRow]:
        """Return what people said, question by question."""
        return answer_table(self.people, self.key, self.questionnaire, self.rows)

    def reading(self, thresholds: Thresholds | None = None) -> Reading:
        """Return validity and its parts; only the standard questionnaire gives them."""
        check_standard(self.key)
        return read_sample(self.people, self.key, self.rows, thresholds)


def annotate(
    run: MeasuredRun,
    out: Path,
    page: PageWriter,
    *,
    count: int = 100,
    people: int = 2,
    name: str = "standard",
    seed: int = 0,
    beside: MeasuredRun | None = None,
) -> Pages:
    """Write a page for each person to a folder, as `page` draws it, and the key beside the run."""
    for what, number in (("--count", count), ("--people", people)):
        if number < 1:
            raise UsageError(f"Got {what} {number}; expected a number of at least 1.")
    questionnaire = preset(name)
    other = None if beside is None else _source(beside)
    sample = draw_sample(_source(run), questionnaire, count, people, seed, other)
    path = key_path(run.path, sample.id)
    out.mkdir(parents=True, exist_ok=True)
    save_key(sample, path)
    pages = []
    for person in range(1, people + 1):
        pages.append(out / f"person-{person}.html")
        text = page(sample, questionnaire, person)
        write_whole(pages[-1], text, errors="replace")
    return Pages(tuple(pages), path, sample)


def read_files(run: MeasuredRun, files: Sequence[Path], unfinished: bool = False) -> Answered:
    """Read the files that people sent back about a run, all of one sample, and check them."""
    loaded = [load_answers(file) for file in files]
    if not loaded:
        raise UsageError("Got no files of answers; expected at least one.")
    path = key_path(run.path, loaded[0].sample)
    if not path.is_file():
        raise _no_key(run, loaded[0])
    key = load_key(path)
    questionnaire = preset(key.preset)
    people = check_answers(loaded, key, questionnaire, unfinished)
    rows = {row.case: row for row in run.results()}
    return Answered(run, key, questionnaire, tuple(people), rows)


def read_others(
    folder: Path,
    files: Sequence[Path],
    open_run: Callable[[Path], MeasuredRun],
    unfinished: bool = False,
) -> list[Answered]:
    """Read files that people sent back about other runs of a folder, sample by sample."""
    samples: dict[str, list[Path]] = {}
    for file in files:
        samples.setdefault(load_answers(file).sample, []).append(file)
    return [
        read_files(open_run(_find_run(folder, sample, own[0])), own, unfinished)
        for sample, own in samples.items()
    ]


def _find_run(folder: Path, sample: str, file: Path) -> Path:
    """Return the run, of those in a folder, that a sample was drawn from."""
    ending = f".{sample}{ENDING}"
    keys = sorted(folder.glob(f"*{ending}"))
    runs = [key.with_name(key.name.removesuffix(ending) + ".sqlite") for key in keys]
    there = [run for run in runs if run.is_file()]
    if not there:
        raise UsageError(
            f"{file} belongs to the sample {sample}, but no run in {folder} has its key. "
            "Give the folder of its run with --runs."
        )
    return there[0]


def _source(run: MeasuredRun) -> Source:
    return Source(run.name, run.manifest, run.results())


def _no_key(run: MeasuredRun, file: AnswerFile) -> UsageError:
    known = [path.name.removesuffix(ENDING).rpartition(".")[2] for path in key_paths(run.path)]
    listed = f"it has {', '.join(known)}" if known else "it has none"
    return UsageError(
        f"{file.path} belongs to the sample {file.sample}, which is not a sample of the "
        f"run {run.name!r} ({listed}). Use the run of this sample. If only the key is "
        "lost, repeat the same brittle validity write command to write it again."
    )


POSTSTRATIFIED, ROGAN_GLADEN = "poststratified", "Rogan and Gladen"
"""How a judge was corrected: with cases of the same run, or of other runs."""


def measure_validity(
    run: MeasuredRun,
    files: Sequence[Path],
    thresholds: Thresholds,
    open_run: Callable[[Path], MeasuredRun],
    unfinished: bool = False,
    judge: ValidityJudge | None = None,
    calibration: Sequence[Path] = (),
) -> Validity:
    """Compute the validity of a run from people, or from a judge that people calibrate; keep it.

    `calibration` are files of people who read other runs, which `open_run` opens. Without it the
    judge is held against what people said of this run, in `files` or, without any, before.
    """
    if judge is None and calibration:
        raise UsageError("--calibration needs a judge. Name one with --judge.")
    if files and calibration:
        raise UsageError(
            "Got files of this run and --calibration. If this run has files, brittle "
            "compares the judge with them: leave out one of the two."
        )
    reading = read_files(run, files, unfinished).reading(thresholds) if files else None
    others = read_others(run.path.parent, calibration, open_run, unfinished)
    results, kept = run.results(), restore_validity(run.measured(VALIDITY))
    if not files and not others:
        reading = None if kept is None else kept.reading
    broken = [row for row in results if has_adversary(row)]
    attacked = sum(row.status in ATTACKED for row in results)
    counted = sum(row.status == "broken" for row in results)  # as the run's success counts them
    judged: JudgeFigures | None = None
    if judge is not None:
        if others:
            judged = _judged_elsewhere(run, judge, broken, others, thresholds)
        elif reading is not None:
            judged = _judged_here(run, judge, broken, reading)
        else:
            raise _not_calibrated(run.name, judge)
    validity = Validity(counted, attacked, reading, judged)
    run.keep_measured(VALIDITY, as_stored(validity))
    return validity


def _judged_here(
    run: MeasuredRun, judge: ValidityJudge, broken: Sequence[Result], reading: Reading
) -> JudgeFigures:
    """Correct what the judge says of all broken cases by what people said of some of them."""
    said = judge.verdicts(run, broken)
    people = {case: share for case, share in reading.shares.items() if case in said}
    calibration = Calibration(tuple(people.values()), tuple(said[case] for case in people))
    figure = poststratified(calibration, sum(said.values()), len(said), _over(judge))
    return _judged(judge, said.values(), calibration, [run.name], POSTSTRATIFIED, figure)


def _judged_elsewhere(
    run: MeasuredRun,
    judge: ValidityJudge,
    broken: Sequence[Result],
    others: Sequence[Answered],
    thresholds: Thresholds,
) -> JudgeFigures:
    """Correct what the judge says of all broken cases by its errors on those of other runs."""
    people: list[float] = []
    verdicts: list[bool] = []
    for other in others:
        shares = other.reading(thresholds).shares
        said = judge.verdicts(other.run, [other.rows[case] for case in shares])
        people += shares.values()
        verdicts += [said[case] for case in shares]
    calibration = Calibration(tuple(people), tuple(verdicts))
    said = judge.verdicts(run, broken)
    figure = rogan_gladen(calibration, sum(said.values()), len(said), _over(judge))
    names = [other.run.name for other in others]
    return _judged(judge, said.values(), calibration, names, ROGAN_GLADEN, figure)


def _judged(
    judge: ValidityJudge,
    said: Collection[bool],
    calibration: Calibration,
    names: Sequence[str],
    method: str,
    figure: Figure,
) -> JudgeFigures:
    return JudgeFigures(
        name=str(judge.target.name),
        fingerprint=str(judge.target.fingerprint),
        said_valid=sum(said),
        judged=len(said),
        sensitivity=calibration.sensitivity,
        specificity=calibration.specificity,
        calibrated_on=tuple(names),
        method=method,
        validity=figure,
    )


def _over(judge: ValidityJudge) -> str:
    return f"broken cases judged by {judge.target.name}"


def _not_calibrated(run: str, judge: ValidityJudge) -> UsageError:
    return UsageError(
        f"The judge {judge.target.name!r} needs answers of people first, to estimate its "
        f"error rate. Let people read some cases (brittle validity write {run}), then: "
        f"brittle validity read {run} FILE… --judge …; or use files of another run with "
        "--calibration."
    )
