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
from brittle.data.rows import read_rows, unused_labels
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
) -> Dataset:
    """Load a file; `also_known` are names to suggest besides the files nearby.

    Labels become strings, whatever the file holds. A label of "" takes the data as unlabelled.
    """
    path = Path(source).expanduser()
    if path.is_dir():
        raise _is_folder(path)
    if not path.exists():
        raise _is_missing(path, also_known)
    check_is_file(path)
    kind = ending(path.name)
    if kind is None:
        raise UsageError(f"{path}: the ending is not known. Expected a file named {ENDINGS_TEXT}.")
    try:
        return _load_table(source, path, TABLE_READERS[kind](path), text, label, locked)
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror or error}).") from error


def _load_table(
    source: str,
    path: Path,
    table: FileTable,
    text: Sequence[str] | None,
    label: str | None,
    locked: Sequence[str],
) -> Dataset:
    if not table.columns:
        raise UsageError(
            f"{path} is empty. Expected a first line that names the columns, and rows."
        )
    columns = choose(str(path), table.columns, text, label, locked)
    if next(table.rows(), None) is None:
        raise UsageError(f"{path} has column names and no rows. Expected at least one example.")
    read = read_rows(str(path), table.rows(), columns)
    warnings = read.warnings
    if label is None:
        warnings += unused_labels(str(path), columns, table.columns, table.column)
    return Dataset(source, "all", read.examples, read.labels, warnings, table_columns=columns)


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
                f"The folder {folder} has two files of the {split} split: {found[split].name} and "
                f"{file.name}. Leave one."
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
) -> Dataset:
    """Load one split of a folder, by default test; the data set has the name of the folder."""
    there = split_files(folder)
    wanted = split or "test"
    if wanted not in there:
        raise UsageError(
            f"The folder {folder} has no {wanted} split. Expected a file named {wanted} "
            f"({ENDINGS_TEXT}); there is {', '.join(file.name for file in there.values())}."
        )
    dataset = load(str(there[wanted]), text, label, locked)
    return replace(dataset, name=folder, split=wanted)
