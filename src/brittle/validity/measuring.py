"""Measure the validity of a run: from what people said, or from a judge that people calibrate."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from brittle.errors import UsageError
from brittle.metrics.judged import Calibration, poststratified, rogan_gladen
from brittle.metrics.summary import ATTACKED, Figure
from brittle.results import Result, has_adversary
from brittle.validity.figures import JudgeFigures, Reading, Thresholds, Validity
from brittle.validity.judges import ValidityJudge
from brittle.validity.people import Answered, read_files, read_others
from brittle.validity.stored import VALIDITY, MeasuredRun, as_stored, restore_validity

POSTSTRATIFIED, ROGAN_GLADEN = "poststratified", "Rogan and Gladen"
"""How a judge was corrected: by cases of the same run, or by those of others."""


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
        raise UsageError("--calibration is for a judge. Name one with --judge.")
    if files and calibration:
        raise UsageError(
            "Got files of this run and --calibration. The judge is held against the files of this "
            "run if there are any: leave out one of the two."
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
        f"The judge {judge.target.name!r} gives no figure before people have said how often it "
        f"errs. Have some cases read (brittle annotate {run}), then: brittle validity {run} FILE… "
        "--judge …; or name files of another run with --calibration."
    )
