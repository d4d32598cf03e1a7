"""A folder that holds a data set: a file for each of its splits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from brittle.data import files
from brittle.data.catalogue import SPLITS
from brittle.data.dataset import Dataset
from brittle.errors import UsageError


def split_files(folder: str | Path) -> dict[str, Path]:
    """Return the files of a folder that are named train, dev or test, by split; {} if none is."""
    path = Path(folder).expanduser()
    found: dict[str, Path] = {}
    for file in sorted(path.iterdir()) if path.is_dir() else ():
        suffix = files.ending(file.name)
        split = file.name[: -len(suffix)] if suffix else ""
        if split in found:
            raise UsageError(
                f"The folder {folder} has two files of the {split} split: {found[split].name} and "
                f"{file.name}. Leave one."
            )
        if split in SPLITS:
            found[split] = file
    return {split: found[split] for split in SPLITS if split in found}


def load(
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
            f"({files.ENDINGS_TEXT}); there is {', '.join(file.name for file in there.values())}."
        )
    dataset = files.load(str(there[wanted]), text, label, locked)
    return replace(dataset, name=folder, split=wanted)
