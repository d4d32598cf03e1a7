"""Data sets in the user's files and folders.

Data sets in the user's files. A folder that holds a data set: a file for each of its splits.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from brittle.data.catalogue import SPLITS
from brittle.data.columns import choose
from brittle.data.dataset import Dataset
from brittle.data.parquet import read_parquet
from brittle.data.problems import BadTable, bad_table
from brittle.data.rows import guess_columns, read_rows, unused_labels
from brittle.data.tables import FileTable, read_csv, read_jsonl, read_tsv
from brittle.errors import UsageError
from brittle.safety.files import check_is_file

TABLE_READERS: dict[str, Callable[[Path], FileTable]] = {
    ".csv": read_csv,
    ".tsv": read_tsv,
    ".jsonl": read_jsonl,
    ".ndjson": read_jsonl,
    ".csv.gz": read_csv,
    ".tsv.gz": read_tsv,
    ".jsonl.gz": read_jsonl,
    ".ndjson.gz": read_jsonl,
    ".parquet": read_parquet,
}
ENDINGS = tuple(TABLE_READERS)
ENDINGS_TEXT = ".csv, .tsv, .jsonl (each also with .gz) or .parquet"


def ending(name: str) -> str | None:
    """Return the known ending of a file's name (the longest that fits), or None."""
    matches = [known for known in ENDINGS if name.lower().endswith(known)]
    return max(matches, key=len, default=None)


def load(
    source: str,
    text: Sequence[str] | None = None,
    label: str | None = None,
    locked: Sequence[str] = (),
    also_known: Iterable[str] = (),
    skip_bad: bool = False,
) -> Dataset:
    """Load a file; `also_known` are names to suggest besides the files nearby.

    Labels become strings, whatever the file holds. A label of "" takes the data as unlabelled. All
    problems of a file are one error; with `skip_bad`, bad rows are left out and counted instead.
    """
    path = Path(source).expanduser()
    if path.is_dir():
        raise _is_folder(path)
    if not path.exists():
        raise _is_missing(path, also_known)
    check_is_file(path)
    kind = ending(path.name)
    if kind is None:
        raise UsageError(f"{path}: unknown file ending. Expected a file named {ENDINGS_TEXT}.")
    try:
        return _load_table(source, path, TABLE_READERS[kind](path), text, label, locked, skip_bad)
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror or error}).") from error


def _load_table(
    source: str,
    path: Path,
    table: FileTable,
    text: Sequence[str] | None,
    label: str | None,
    locked: Sequence[str],
    skip_bad: bool,
) -> Dataset:
    if not table.columns and table.problems.count:
        raise bad_table(str(path), table.problems, 0, can_skip=False)
    if not table.columns:
        raise UsageError(
            f"{path} is empty. Expected a first line with the column names, then rows."
        )
    where, about = str(path), (list[UsageError](), list[str]())
    try:
        columns = choose(where, table.columns, text, label, locked)
    except UsageError as error:
        guess, errors, flags = guess_columns(where, table.columns, table.column, text, label)
        about = (errors or [error], flags)
        if guess is None:
            raise bad_table(where, table.problems, 0, columns=about[0], can_skip=False) from None
        columns = guess
    try:
        if next(table.rows(), None) is None and not table.problems.count:
            raise UsageError(f"{path} has column names but no rows. Expected at least one example.")
        read = read_rows(
            where,
            table.rows(),
            columns,
            bad=table.problems,
            skip_bad=skip_bad,
            about_columns=about,
        )
    except BadTable as error:
        lines = unused_labels(where, columns, table.columns, table.column) if label is None else ()
        remedy = "\n".join([error.remedy, *lines])
        raise BadTable(error.problems, remedy, error.flags, error.labels) from None
    warnings = read.warnings
    if label is None:
        warnings += unused_labels(where, columns, table.columns, table.column)
    return Dataset(
        source,
        "all",
        read.examples,
        read.labels,
        warnings,
        table_columns=columns,
        left_out=tuple(read.left_out.items()),
        skips_bad=skip_bad,
    )


def _is_folder(path: Path) -> UsageError:
    names = sorted(file.name for file in path.iterdir() if ending(file.name))
    hint = f"Name a file in it ({', '.join(names[:5])})" if names else "Name a file"
    return UsageError(
        f"{path} is a folder. {hint}, or load the folder with the datasets library: hf:{path}"
    )


def _is_missing(path: Path, also_known: Iterable[str]) -> UsageError:
    known = list(also_known)
    if path.parent.is_dir():
        nearby = [file for file in sorted(path.parent.iterdir()) if ending(file.name)]
        names = {file.name: str(file) for file in nearby}
        hint = f" Data files in {path.parent}: {', '.join(names) or 'none'}."
    else:
        names = {}
        hint = f" There is no folder {path.parent} either."
    near = difflib.get_close_matches(path.name, names, n=1)
    if not near:
        near = difflib.get_close_matches(path.name.split(".")[0], known, n=1)
    if near:
        hint = f" Did you mean {names.get(near[0], near[0])!r}?"
    return UsageError(f"There is no file {path}.{hint}")


def split_files(folder: str | Path) -> dict[str, Path]:
    """Return the files of a folder that are named train, dev or test, by split; {} if none is."""
    path = Path(folder).expanduser()
    found: dict[str, Path] = {}
    for file in sorted(path.iterdir()) if path.is_dir() else ():
        suffix = ending(file.name)
        split = file.name[: -len(suffix)] if suffix else ""
        if split in found:
            raise UsageError(
                f"The folder {folder} has two files of the {split} split: "
                f"{found[split].name} and {file.name}. Remove one of them."
            )
        if split in SPLITS:
            found[split] = file
    return {split: found[split] for split in SPLITS if split in found}


def load_folder(
    folder: str,
    split: str | None,
    text: Sequence[str] | None = None,
    label: str | None = None,
    locked: Sequence[str] = (),
    skip_bad: bool = False,
) -> Dataset:
    """Load one split of a folder, by default test; the data set has the name of the folder."""
    there = split_files(folder)
    wanted = split or "test"
    if wanted not in there:
        raise UsageError(
            f"The folder {folder} has no {wanted} split. Expected a file named {wanted} "
            f"({ENDINGS_TEXT}); there is {', '.join(file.name for file in there.values())}."
        )
    dataset = load(str(there[wanted]), text, label, locked, skip_bad=skip_bad)
    return replace(dataset, name=folder, split=wanted)
