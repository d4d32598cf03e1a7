"""People and runs: write the pages that people read, and read the files they send back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from brittle.errors import UsageError
from brittle.files import write_whole
from brittle.results import Result
from brittle.validity.answers import AnswerFile, Person, check_answers, load_answers
from brittle.validity.figures import Reading, Thresholds
from brittle.validity.key import ENDING, SampleKey, key_path, key_paths, load_key, save_key
from brittle.validity.presets import preset
from brittle.validity.questionnaire import Questionnaire
from brittle.validity.sampling import DrawnSample, Source, draw_sample
from brittle.validity.stored import MeasuredRun
from brittle.validity.tables import TableRow, answer_table
from brittle.validity.verdicts import check_standard, read_sample

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
        raise UsageError("Got no file of answers; expected at least one.")
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
            f"{file} is of the sample {sample}, and no run in {folder} has its key. Name the "
            "folder of its run with --runs."
        )
    return there[0]


def _source(run: MeasuredRun) -> Source:
    return Source(run.name, run.manifest, run.results())


def _no_key(run: MeasuredRun, file: AnswerFile) -> UsageError:
    known = [path.name.removesuffix(ENDING).rpartition(".")[2] for path in key_paths(run.path)]
    listed = f"it has {', '.join(known)}" if known else "it has none"
    return UsageError(
        f"{file.path} is of the sample {file.sample}, which is not one of the run {run.name!r} "
        f"({listed}). Name the run that it was drawn from; if only the key is lost, the same "
        "brittle annotate writes it again."
    )
