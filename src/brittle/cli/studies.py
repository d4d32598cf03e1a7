"""Studies in the folder of the runs, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from brittle.errors import BrittleError, UsageError, unknown
from brittle.runs.run import list_runs
from brittle.studies.study_format import SUFFIX, stored_kind

if TYPE_CHECKING:
    from brittle.studies.grid.study import GridStudy
    from brittle.studies.robustness.study import RobustnessStudy
    from brittle.studies.transfer.study import TransferStudy

    Study = TransferStudy | GridStudy | RobustnessStudy

CLASSES = {
    "transfer": ("brittle.studies.transfer.study", "TransferStudy"),
    "grid": ("brittle.studies.grid.study", "GridStudy"),
    "robustness": ("brittle.studies.robustness.study", "RobustnessStudy"),
}
"""The module and the class of a study, by the kind that its file names."""


def list_studies(folder: str | Path) -> list[Path]:
    """List the files of the studies in a folder, newest last."""
    paths = [path for path in Path(folder).glob(f"*{SUFFIX}") if path.is_file()]
    return sorted(paths, key=lambda path: (path.stat().st_mtime, path.name))


def readable_studies(
    folder: str | Path, report: Callable[[str], None]
) -> Iterator[tuple[str, Study]]:
    """Load the studies of a folder by their names; files that cannot be read are reported."""
    for path in list_studies(folder):
        try:
            yield path.name.removesuffix(SUFFIX), load_study(path)
        except BrittleError as error:
            report(f"Left out: {error}")


def find_study(name: str, folder: str | Path) -> Path | None:
    """Return the file of a study by its path, its name, or the start of its name.

    None if there is none: the name may be that of a run. A run of the same name comes first.
    """
    if name.endswith(SUFFIX) and Path(name).is_file():
        return Path(name)
    studies = {path.name.removesuffix(SUFFIX): path for path in list_studies(folder)}
    stem = name.removesuffix(SUFFIX)
    if not name.endswith(SUFFIX) and not any(known.startswith(stem) for known in studies):
        return None  # no run needs to be opened to know that
    runs = [path.stem for path in list_runs(folder)]
    if name in runs:
        return None
    if stem in studies:
        return studies[stem]
    if name.endswith(SUFFIX):
        raise unknown("study", stem, studies, "`brittle list studies` shows those there are.")
    hits = [path for known, path in studies.items() if known.startswith(stem)]
    if not hits or any(run.startswith(name) for run in runs):
        return None
    if len(hits) > 1:
        listed = ", ".join(path.name for path in hits)
        raise UsageError(f"{name!r} begins several studies: {listed}.")
    return hits[0]


def load_study(path: Path) -> Study:
    """Load a study of any kind; its file says which it is."""
    kind = stored_kind(path)
    if kind not in CLASSES:
        raise unknown("kind of study", kind, CLASSES, f"({path})")
    module, name = CLASSES[kind]
    study: Study = getattr(import_module(module), name).load(path)
    return study


def named_study(name: str, folder: str | Path) -> tuple[Study, Path] | None:
    """Load a study by its name, with its path; None if the name is no study's."""
    path = find_study(name, folder)
    return None if path is None else (load_study(path), path)


def as_transfer(study: Study) -> TransferStudy:
    """Return a transfer study as it is; any other study is an error."""
    from brittle.studies.grid.study import GridStudy
    from brittle.studies.transfer.study import TransferStudy

    if isinstance(study, TransferStudy):
        return study
    if isinstance(study, GridStudy):
        raise UsageError(
            f"{study.name!r} is a grid; expected a transfer study. brittle show and brittle report "
            "take grids, and brittle compare takes their runs."
        )
    raise UsageError(
        f"{study.name!r} is a robustness study; expected a transfer study. brittle show, report, "
        "export and compare take it."
    )
