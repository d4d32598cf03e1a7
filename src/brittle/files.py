"""Files: the cache folder, an OS lock, whole files or none, digests, and package versions."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import IO, Any


def cache_folder() -> Path:
    """Return the cache folder of brittle: $BRITTLE_CACHE, or one in the user's cache folder."""
    if path := os.environ.get("BRITTLE_CACHE"):
        return Path(path).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "brittle"


def lock(file: IO[bytes], wait: bool) -> None:
    """Lock an open file; the OS unlocks it when the file is closed or the process ends.

    Without `wait`, a lock that another process holds raises OSError.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        mode = msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK  # type: ignore[attr-defined]
        msvcrt.locking(file.fileno(), mode, 1)  # type: ignore[attr-defined]
    else:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


def unfinished(path: Path) -> Path:
    """Return the path that a file is written to before it replaces `path`."""
    return path.with_name(f"{path.name}.new")


def replace_file(path: Path) -> None:
    """Move the file at `unfinished(path)` to `path`, in one step."""
    os.replace(unfinished(path), path)


def write_whole(path: Path, text: str, errors: str = "strict") -> None:
    """Write a file so that at any moment either the old or the new one is there, complete.

    A link at this path is replaced; what it points to stays as it is.
    """
    new = unfinished(path)
    new.unlink(missing_ok=True)
    with new.open("x", encoding="utf-8", errors=errors) as file:
        file.write(text)
    replace_file(path)


def make_private_folder(path: Path) -> None:
    """Make a folder, and those that it lies in, for their owner alone; one that exists stays."""
    if not path.parent.exists():
        make_private_folder(path.parent)
    path.mkdir(mode=0o700, exist_ok=True)


def open_private(path: Path) -> IO[bytes]:
    """Open a file to append to, for its owner alone; a link is refused, wherever it points to."""
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
    return os.fdopen(os.open(path, flags, 0o600), "ab")


def make_private(path: Path) -> None:
    """Create a file if there is none, and have its owner alone read it."""
    open_private(path).close()
    path.chmod(0o600)


def digest(path: Path) -> str:
    """Compute the SHA-256 of a file, in hex; the file is streamed."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_of(paths: Iterable[Path]) -> str:
    """Compute one SHA-256 over the names and the contents of files, in hex."""
    total = hashlib.sha256()
    for path in paths:
        total.update(f"{path.name} {digest(path)}\n".encode())
    return total.hexdigest()


def is_path(name: str) -> bool:
    """Tell whether a name is that of a file or folder; many names are no possible path."""
    try:
        return Path(name).exists()
    except (OSError, ValueError):
        return False


def named_files(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return the digests of the files that settings name: with other contents they differ."""
    values = {value for value in settings.values() if isinstance(value, str)}
    return {
        name: digest(Path(name))[:16]
        for name in sorted(values)
        if is_path(name) and Path(name).is_file()
    }


@cache
def versions(*packages: str) -> Mapping[str, str]:
    """Return the versions of Python and of those packages that are installed."""
    installed = {"python": platform.python_version()}
    for package in packages:
        with suppress(metadata.PackageNotFoundError):
            installed[package] = metadata.version(package)
    return installed
