"""`brittle runs delete` and `brittle runs rename`: stored runs and studies."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from brittle.cli import console
from brittle.cli.command import Command, add_output_flags
from brittle.cli.console import shown
from brittle.errors import UsageError, unknown

RUN, STUDY = ".sqlite", ".study.json"
OTHERS = ("other file", "other files")


def _add_delete_flags(parser: argparse.ArgumentParser) -> None:
    names = "the full names of runs or studies, or their files"
    parser.add_argument("runs_to_delete", metavar="RUN", nargs="+", help=names)
    parser.add_argument("--yes", action="store_true", help="delete without asking")
    add_output_flags(parser)


def _delete(args: argparse.Namespace) -> None:
    from brittle.runs.resuming import delete_run
    from brittle.studies.study_files import delete_study

    # All names are checked before the first is deleted.
    paths = list(dict.fromkeys(_find(name, Path(args.runs)) for name in args.runs_to_delete))
    left = [line for path in paths for line in _left(path)]
    if not args.yes and not _confirmed(paths):
        console.tell("Nothing was deleted.")
        return
    deleted: list[Path] = []
    for path in paths:
        deleted += delete_study(path) if _is_study(path) else delete_run(path)
    names = [shown(path) for path in deleted]
    console.print_result(args, lambda: {"deleted": names}, lambda: _lines("Deleted", names))
    _tell_left(args, left)


def _add_rename_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", metavar="RUN", help="the full name of a run or a study, or its file")
    parser.add_argument("name", metavar="NAME", help="its new name")
    add_output_flags(parser)


def _rename(args: argparse.Namespace) -> None:
    from brittle.runs.resuming import rename_run
    from brittle.studies.study_files import rename_study

    path = _find(args.run, Path(args.runs))
    left = _left(path)
    new = rename_study(path, args.name) if _is_study(path) else rename_run(path, args.name)
    console.print_path(args, new)
    _tell_left(args, left)
    if not args.quiet:
        console.tell(f"The command that made it goes on with it by --name {args.name}.")


def _left(path: Path) -> list[str]:
    """Say which folder of a study's name is not its own, and stays."""
    from brittle.studies.study_files import others_folder

    folder = others_folder(path) if _is_study(path) else None
    if folder is None:
        return []
    return [
        f"{shown(folder)} stays as it is: it does not carry the marker of the study {_name(path)}."
    ]


def _tell_left(args: argparse.Namespace, lines: list[str]) -> None:
    for line in lines if not args.quiet else ():
        console.tell(line)


def _find(name: str, folder: Path) -> Path:
    """Return the file of a run or a study by its whole name; nothing is deleted by a beginning."""
    if name.endswith((RUN, STUDY)) and Path(name).is_file():
        return Path(name)
    paths = [folder / f"{name}{ending}" for ending in (RUN, STUDY)]
    there = [path for path in paths if path.is_file()]
    if len(there) > 1:
        listed = " and ".join(map(str, there))
        raise UsageError(f"{name!r} is a run and a study. Name the file you mean: {listed}.")
    if there:
        return there[0]
    known = [_name(path) for ending in (RUN, STUDY) for path in sorted(folder.glob(f"*{ending}"))]
    raise unknown("run or study", name, known, "Its whole name is needed here.")


def _confirmed(paths: list[Path]) -> bool:
    """Ask whether these are to be deleted; without a terminal nobody can answer."""
    if not sys.stdin.isatty():
        raise UsageError(
            "brittle runs delete asks before it deletes, and there is no terminal to ask. Add "
            "--yes."
        )
    console.tell(_lines("To be deleted", [_describe(path) for path in paths]))
    print("Delete for good? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _describe(path: Path) -> str:
    """Say what would be lost."""
    from brittle.errors import BrittleError
    from brittle.formatting import plural
    from brittle.reports.summary_lines import describe_run
    from brittle.runs.run import Run
    from brittle.studies.study_files import own_folder

    if _is_study(path):
        folder = own_folder(path)
        if folder is None:
            return " ".join([f"study {_name(path)}, the file alone.", *_left(path)])
        entries = [entry for entry in folder.rglob("*") if entry.is_file()]
        runs = sum(entry.suffix == RUN for entry in entries)
        counts = f"{plural(runs, ('run', 'runs'))} and {plural(len(entries) - runs, OTHERS)}"
        return f"study {_name(path)} and its folder {shown(folder)} with {counts}"
    try:
        run = Run(path)
        cases = plural(sum(run.counts().values()), ("case", "cases"))
        return f"run {run.name}: {describe_run(run.manifest)}, {cases}"
    except BrittleError:
        return f"run {_name(path)}, which cannot be read"


def _lines(head: str, items: list[str]) -> str:
    return f"{head}: {items[0]}" if len(items) == 1 else "\n  ".join([f"{head}:", *items])


def _is_study(path: Path) -> bool:
    return path.name.endswith(STUDY)


def _name(path: Path) -> str:
    return path.name.removesuffix(STUDY if _is_study(path) else RUN)


DELETE = Command(
    "examples:\n  brittle runs delete demo\n  brittle runs delete first second --yes\n"
    "  brittle runs delete small.study.json\n\n"
    "A run that another process writes is not deleted. A study is deleted with its folder, if that "
    "carries the study's marker.",
    _add_delete_flags,
    _delete,
)
RENAME = Command(
    "examples:\n  brittle runs rename zoo-naive-bayes-mr-0-pwws-mr-4f2a1c baseline\n"
    "  brittle runs rename baseline before-hardening",
    _add_rename_flags,
    _rename,
)
