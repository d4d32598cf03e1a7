"""Stored studies by name, as commands take them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brittle.errors import BrittleError, UsageError, unknown
from brittle.runs.run import list_runs
from brittle.studies import SUFFIX

if TYPE_CHECKING:
    # Imported where one is loaded: the name that is looked up is mostly that of a run.
    from brittle.studies.study import Study

COMPARED = "transfer"
"""The kind that `brittle compare` expects unless all studies are of another kind it can compare."""


def list_studies(folder: str | Path) -> list[Path]:
    """List the files of the studies in a folder, newest last."""
    paths = [path for path in Path(folder).glob(f"*{SUFFIX}") if path.is_file()]
    return sorted(paths, key=lambda path: (path.stat().st_mtime, path.name))


def readable_studies(
    folder: str | Path, report: Callable[[str], None]
) -> Iterator[tuple[str, Study[Any, Any]]]:
    """Load the studies of a folder by their names; files that cannot be read are reported."""
    from brittle.studies.study import load_study

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
        raise unknown("study", stem, studies, "See `brittle list studies`.")
    hits = [path for known, path in studies.items() if known.startswith(stem)]
    if not hits or any(run.startswith(name) for run in runs):
        return None
    if len(hits) > 1:
        listed = ", ".join(path.name for path in hits)
        raise UsageError(f"{name!r} is the start of several names of studies: {listed}.")
    return hits[0]


def named_study(name: str, folder: str | Path) -> tuple[Study[Any, Any], Path] | None:
    """Load a study by its name, with its path; None if the name is no study's."""
    path = find_study(name, folder)
    if path is None:
        return None
    from brittle.studies.study import load_study

    return load_study(path), path


def of_kind(study: Study[Any, Any], kind: str) -> Study[Any, Any]:
    """Return a study of a kind as it is; any other study is an error."""
    from brittle.studies.study import kind_named

    if study.kind == kind:
        return study
    own, wanted = kind_named(study.kind), kind_named(kind)
    raise UsageError(f"{study.name!r} is a {own.noun}; expected a {wanted.noun}. {own.commands}")


def compare_studies(studies: Sequence[Study[Any, Any]]) -> tuple[Any, Any]:
    """Return the compared figures of studies of one kind, as plain values and for the terminal."""
    from brittle.studies.study import kind_named

    kind = kind_named(studies[0].kind)
    if kind.compared is None or any(study.kind != kind.name for study in studies):
        kind = kind_named(COMPARED)
    comparable = [of_kind(study, kind.name) for study in studies]
    assert kind.compared is not None
    return kind.compared(comparable)


def listed_row(name: str, study: Study[Any, Any]) -> dict[str, Any]:
    """Return a study as it stands in a list of studies."""
    from brittle.studies.pools import named_pool
    from brittle.studies.study import kind_named

    listed = kind_named(study.kind).listed(study)
    return {
        "study": name,
        "kind": study.kind,
        "pool": named_pool(study.facts.pool) or "-",
        "attack": listed.attack,
        "data": study.facts.data,
        "sources": listed.sources,
        "targets": listed.targets,
        "texts": listed.texts,
        "failures": len(study.failures),
    }
