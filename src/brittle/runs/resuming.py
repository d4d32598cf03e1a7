"""A run that is there already: it is resumed, deleted or renamed.

A run that is there already: what may change when it is resumed, and what is attacked again. The
files of a run as a whole: delete them, or give them another name.

A run is NAME.sqlite; while it is written, or after a kill, -wal and -shm stand beside it, and
NAME.asking notes what it asks. NAME.lock is its lock, NAME.inside.json what was seen inside its
target, and NAME.SAMPLE.key.json the key to what people were shown of it. A report that was written
of it is a document of the user's own and stays.
"""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from brittle.attacks import default_settings, with_present_names
from brittle.candidates.choice import PAPER
from brittle.errors import BrittleError, StoreError, UsageError
from brittle.inside import inside_path
from brittle.runs.options import Limits
from brittle.runs.sqlite_files import damaged_contents
from brittle.runs.store import APPLICATION_ID, Store, sole_writer
from brittle.runs.under_way import asking_path
from brittle.safety.schema import is_file_name
from brittle.statuses import ATTACKED
from brittle.validity.answers import key_paths
from brittle.zoo.names.changes import present_name

FIXED = (
    *("target", "fingerprint", "attack", "settings", "goal", "data", "split", "seed", "content"),
    *("label_map", "files", "only", "helpers", "goal_code", "keep"),
    "precision",
)
"""The entries of a manifest that must not change when a run is resumed."""
HASH = re.compile("[0-9a-f]{64}")

NEEDED = ("attack", "settings", "budget", "examples")
"""Entries of a manifest that resuming needs."""


def default_path(folder: Path, name: str, budget: int | None) -> Path:
    """Return the file of a run that has no name of its own; every budget has its own file.

    A run of before budgets were part of the name goes on in its file.
    """
    path = folder / f"{name}.sqlite"
    if budget is None:
        return path
    own = folder / f"{name}-budget{budget}.sqlite"
    return path if not own.exists() and _manifest_at(path).get("budget") == budget else own


def same_but_budget(path: Path, name: str) -> str | None:
    """Return the name of a run that differs in its budget alone, if there is no run at `path`."""
    others = sorted(path.parent.glob(f"{name}*.sqlite"))
    return others[0].stem if others and not path.exists() else None


def is_finished_part(path: Path, manifest: dict[str, Any], cases: Collection[str]) -> bool:
    """Tell whether these cases are a smaller part of a run that is there, and are all finished."""
    former = _manifest_at(path)
    if not former or former["examples"] <= manifest["examples"]:
        return False
    if former["budget"] != manifest["budget"] or _changed_settings(former, manifest):
        return False
    with Store.read(path) as store:
        return store.finished() >= set(cases)


def with_first_limit(
    limits: Limits, path: Path, count: int, new: bool, warn: Callable[[str], None]
) -> Limits:
    """Return the limits with that of a first try, if none is set and the data are large.

    A run that is resumed and attacks more than that keeps its own limit.
    """
    if limits.limit is not None or limits.first_try is None or count <= 2 * limits.first_try:
        return limits
    former = {} if new else _manifest_at(path)
    if former and former["examples"] > limits.first_try:
        return replace(limits, limit=former.get("limit"))
    warn(
        f"--limit is not set: {limits.first_try:,} of {count:,} examples are attacked, in a random "
        "order. --limit all attacks all of them."
    )
    return replace(limits, limit=limits.first_try)


def _manifest_at(path: Path) -> dict[str, Any]:
    """Return the manifest of a run; empty if there is none that can be read."""
    try:
        if not Store.exists(path):
            return {}
        with Store.read(path) as store:
            return _whole_manifest(store)
    except BrittleError:
        return {}


def open_store(
    path: Path, manifest: dict[str, Any], new: bool, retry_errors: bool, uses_budget: bool = False
) -> Store:
    """Create the run, or resume it after checking that nothing but limit and budget changed.

    With a larger budget, the cases that it can change are attacked again: those that were out of
    budget or, if the attack `uses_budget`, all that were attacked.
    """
    if new or not Store.exists(path):
        return Store.create(path, manifest, new)
    store = Store.resume(path)
    try:
        former = _whole_manifest(store)
        _check_unchanged(path.stem, former, manifest)
        if _is_more(manifest["budget"], former["budget"]):
            store.forget("out of budget")
            store.forget_cut_costs(former["budget"])
            for status in ATTACKED if uses_budget else ():
                store.forget(status)
        if retry_errors:
            store.forget("error")
        store.amend(**{key: manifest[key] for key in ("budget", "limit", "examples")})
    except BaseException:
        store.close()
        raise
    return store


def _whole_manifest(store: Store) -> dict[str, Any]:
    """Return the manifest of a stored run; one that lacks what every run has is damaged."""
    manifest = store.manifest
    with damaged_contents(store.path, "its manifest"):
        for key in NEEDED:
            manifest[key]
        return manifest | {"settings": dict(manifest["settings"])}


def _changed_settings(former: dict[str, Any], manifest: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that differ between a stored run and one that is to be made, as stored.

    A setting that the attack did not have when the run was made counts as its default: what a new
    setting does must not change what runs did before it.
    """
    added = manifest["settings"].keys() - former["settings"].keys()
    if added and former["attack"] == manifest["attack"]:
        defaults = default_settings(manifest["attack"])
        young = {name: defaults.get(name) for name in added}
        former = former | {"settings": young | former["settings"]}
    former = former | {"settings": with_present_names(former["settings"])}
    if "target" in former:
        former |= {"target": present_name(former["target"])}
    return {key: former.get(key) for key in FIXED if former.get(key) != manifest.get(key)}


def _shortened(value: Any) -> str:
    """Write a value, of a hash its first digits."""
    is_hash = isinstance(value, str) and HASH.fullmatch(value)
    return f"{value[:12]}…" if is_hash else repr(value)


def _check_unchanged(name: str, former: dict[str, Any], manifest: dict[str, Any]) -> None:
    """Refuse to resume a run with other settings, or with less than it has."""
    changed = _changed_settings(former, manifest)
    if changed:
        differences = "; ".join(
            f"{key} was {_shortened(value)}, now {_shortened(manifest.get(key))}"
            for key, value in changed.items()
        )
        hint = "" if "settings" not in changed else _hint(changed["settings"], manifest["settings"])
        raise UsageError(
            f"The run {name!r} exists with other settings: {differences}. Only limit and budget "
            f"may change. {hint}Choose another --name, or start over with --new."
        )
    if _is_more(former["budget"], manifest["budget"]):
        raise UsageError(
            f"The run {name!r} has a budget of {former['budget'] or 'any number of'} "
            f"queries, got {manifest['budget']}. A budget can only grow. Choose another "
            "--name, or start over with --new."
        )
    if _is_more(former["examples"], manifest["examples"]):
        raise UsageError(
            f"The run {name!r} has a plan of {former['examples']} cases, got "
            f"{manifest['examples']}, but it has unfinished cases. A plan can only grow. "
            "Finish the run with its own limit, choose another --name, or start over "
            "with --new."
        )


def _hint(former: dict[str, Any], settings: dict[str, Any]) -> str:
    """Say how a run goes on whose candidates are those that were the default once."""
    own = former.get("candidates")
    is_only = settings | {"candidates": own} == former
    return f"To continue it, add --candidates {own}. " if own == PAPER and is_only else ""


def _is_more(now: int | None, before: int | None) -> bool:
    """Tell whether a limit grew; None is no limit."""
    return before is not None and (now is None or now > before)


LOG_ENDINGS = ("-wal", "-shm", "-journal")
ID_OFFSET_BYTES = 68  # of the application id in the header of an SQLite file


def delete_run(path: Path) -> list[Path]:
    """Delete a run and what belongs to it; return what was deleted.

    A run that another process writes is refused, and so is a file that is no run. One that is
    damaged can be deleted.
    """
    _check_is_run(path)
    with sole_writer(path):
        deleted = [file for file in _files(path) if file.exists()]
        # The log first: of a run half deleted by a kill, the rest can be deleted again.
        for file in deleted:
            file.unlink()
    path.with_suffix(".lock").unlink(missing_ok=True)
    return deleted


def rename_run(path: Path, name: str) -> Path:
    """Give a run another name in the same folder; return its new file."""
    check_name(name)
    new = path.with_name(f"{name}.sqlite")
    _check_is_run(path)
    if new == path:
        raise UsageError(f"The run {name!r} already has this name. Choose another name.")
    with sole_writer(path), sole_writer(new):
        taken = [file for file in _files(new) if file.exists()]
        if taken:
            raise UsageError(f"A run {name!r} already exists ({taken[-1]}). Choose another name.")
        _empty_log(path)
        for file in (asking_path(path), inside_path(path), *key_paths(path), path):
            if file.exists():
                os.rename(file, new.with_name(file.name.replace(path.stem, name, 1)))
    path.with_suffix(".lock").unlink(missing_ok=True)
    return new


def check_name(name: str) -> None:
    """Refuse a name that would not be a file in the folder of the runs."""
    if not is_file_name(name) or name.endswith((".sqlite", ".study.json")):
        raise UsageError(
            f"Got {name!r} as the new name; expected a name without slashes and without a "
            "file ending."
        )


def _files(path: Path) -> list[Path]:
    logs = [path.with_name(path.name + end) for end in LOG_ENDINGS]
    return [*logs, asking_path(path), inside_path(path), *key_paths(path), path]


def _empty_log(path: Path) -> None:
    """Move what is in the log beside a run into its file, so that this one file is all of it."""
    try:
        with contextlib.closing(sqlite3.connect(path)) as db:
            db.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.Error as error:
        raise StoreError(
            f"The run {path.stem!r} cannot be renamed: {error}. Close the program that "
            "reads it, then try again."
        ) from error


def _check_is_run(path: Path) -> None:
    """Refuse a file that is no run: by its header, since the rest may be damaged."""
    if not path.is_file():
        raise UsageError(f"There is no run at {path}. See `brittle list runs`.")
    if not is_marked_run(path) and Store.exists(path):
        Store.read(path).close()


def is_marked_run(path: Path) -> bool:
    """Tell whether the header of a file says that it is a run; the rest may be damaged."""
    with path.open("rb") as file:
        header = file.read(ID_OFFSET_BYTES + 4)
    return header[ID_OFFSET_BYTES:] == APPLICATION_ID.to_bytes(4, "big")
