"""The stored transfer study that a selection starts from."""

from __future__ import annotations

from pathlib import Path

from brittle.errors import UsageError
from brittle.studies.pools import PREFIX
from brittle.studies.transfer.study import SUFFIX, TransferStudy


def find_study(pool: str, folder: Path, study: Path | None = None) -> TransferStudy:
    """Load a study: the file that is named, or the newest one of a pool in the folder of runs."""
    if study is not None:
        return TransferStudy.load(study, "transfer")
    if pool.endswith(SUFFIX):
        path = Path(pool)
        return TransferStudy.load(path if path.is_file() else folder / pool, "transfer")
    if not pool.startswith(PREFIX):
        raise UsageError(
            f"Got {pool!r}; expected a pool (pool:small, pool:FILE) with a stored transfer study, "
            f"or a study by its name or its file, NAME{SUFFIX}."
        )
    name = pool.removeprefix(PREFIX)
    names = {name, Path(name).stem}
    files = sorted(folder.glob(f"*{SUFFIX}"), key=lambda path: -path.stat().st_mtime)
    for path in files:
        try:
            found = TransferStudy.load(path, "transfer")
        except UsageError:
            continue  # another study, or a damaged one: it is named when it is asked for
        # A study of ensembles has the pool's targets, but its sources are no members.
        is_of_pool = {source.name for source in found.sources} <= {t.name for t in found.targets}
        if found.pool.removeprefix(PREFIX) in names and is_of_pool:
            return found
    raise UsageError(
        f"There is no transfer study of {pool} in {str(folder)!r}. Make one first: "
        f"brittle transfer {pool} pwws --data DATA"
    )
