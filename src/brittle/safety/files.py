"""Files: locks, whole files or none, what is checked before one is read, cells without formulas.

Files: the cache folder, an OS lock, whole files or none, digests, and package versions.

What is checked of a file before it is read: that it is one, and how large it may become.

A small packed file must not fill the memory or the disk, and a pipe must not be waited for.

CSV files that spreadsheet programs can open: no cell is a formula.
"""

from __future__ import annotations

import csv
import glob
import hashlib
import lzma
import os
import platform
import secrets
import stat
import struct
import sys
import time
import tokenize
import weakref
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO, Any, TextIO
from zipfile import BadZipFile, ZipFile

from brittle.errors import UsageError

ABANDONED_SECONDS = 3600.0  # an unfinished file of that age is that of a killed process
DAMAGED = (
    *(ValueError, LookupError, TypeError, AttributeError, ArithmeticError),
    RecursionError,  # JSON that is nested too deeply
)
"""Errors of reading a file that is damaged or of another kind."""
_locked: weakref.WeakSet[IO[bytes]] = weakref.WeakSet()


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

    Without `wait`, a lock that another process holds raises OSError. A forked child does not keep
    the lock when this process ends.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        import msvcrt

        mode = msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK  # type: ignore[attr-defined]
        msvcrt.locking(file.fileno(), mode, 1)  # type: ignore[attr-defined]
    else:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        _locked.add(file)


def _close_inherited_locks() -> None:
    """Close the locked files of the parent; it keeps its locks, for they are not unlocked."""
    for file in list(_locked):
        file.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_inherited_locks)


@contextmanager
def replacing(path: str | Path, private: bool = False) -> Iterator[Path]:
    """Yield a path to write to; the file there replaces `path` at the end, in one step.

    At any moment either the old or the new file is at `path`, complete. If the block raises, the
    new file is removed. A device such as /dev/stdout is written to as it is. A `private` file can
    be read by its owner alone, also where one that others could read was there before.
    """
    path = Path(path)
    if _is_device(path):
        yield path
        return
    for other in unfinished(path):
        with suppress(FileNotFoundError):  # another process may have finished it by now
            if other.stat().st_mtime < time.time() - ABANDONED_SECONDS:
                other.unlink()
    new = path.with_name(f"{path.name}.{secrets.token_hex(4)}.new")
    try:
        # A file of this process alone, never what a link points to.
        os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600 if private else 0o666))
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None
    try:
        yield new
        os.replace(new, path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise


def _is_device(path: Path) -> bool:
    in_devices = path.absolute().parts[:2] in (("/", "dev"), ("/", "proc"))
    return in_devices or (path.exists() and not path.is_file() and not path.is_dir())


def unfinished(path: Path) -> list[Path]:
    """List the files that were to replace `path`, of a process under way or of one killed."""
    name = f"{glob.escape(path.name)}.{'[0-9a-f]' * 8}.new"
    return list(path.parent.glob(name)) if path.parent.is_dir() else []


def remove(path: Path) -> None:
    """Remove a file, if it is there, and those that were to replace it."""
    for file in (path, *unfinished(path)):
        file.unlink(missing_ok=True)


def write_whole(path: str | Path, text: str, errors: str = "strict", private: bool = False) -> None:
    """Write a file so that at any moment either the old or the new one is there, complete."""
    with (
        replacing(path, private) as new,
        new.open("w", encoding="utf-8", errors=errors, newline="") as file,
    ):
        file.write(text)


def make_private_folder(path: Path) -> None:
    """Make a folder, and those that it lies in, for their owner alone; one that exists stays."""
    if not path.parent.exists():
        make_private_folder(path.parent)
    path.mkdir(mode=0o700, exist_ok=True)


def open_private(path: Path) -> IO[bytes]:
    """Open a file to append to, for its owner alone; a link is refused, wherever it points to."""
    return _open_no_link(path, 0o600)


def open_lock(path: Path) -> IO[bytes]:
    """Open the lock of what users may share, such as trained models; a link is refused."""
    return _open_no_link(path, 0o666)


def _open_no_link(path: Path, mode: int) -> IO[bytes]:
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    return os.fdopen(os.open(path, flags, mode), "ab")


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
    from importlib import metadata  # takes a while, and most commands need no versions

    installed = {"python": platform.python_version()}
    for package in packages:
        with suppress(metadata.PackageNotFoundError):
            installed[package] = metadata.version(package)
    return installed


DAMAGED_ARCHIVE = (
    *(BadZipFile, EOFError, OSError, RuntimeError, zlib.error, lzma.LZMAError, struct.error),
    *(ValueError, LookupError, TypeError, OverflowError, MemoryError),
    *(SyntaxError, tokenize.TokenError),  # of the header of an array
)
"""Errors of reading a damaged zip file, or arrays in it.

A member may be missing, cut, encrypted, or compressed in a way that Python does not know; an array
may claim to be larger than the memory, or have a damaged header.
"""
MAX_RATIO = 50  # texts are packed to a tenth or more of their size, and weights hardly at all
MIN_LIMIT_BYTES = 1 << 24

SPECIAL_FILES = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def check_is_file(path: Path) -> None:
    """Refuse a pipe, a socket or a device; what is missing or a folder is left to the reader."""
    try:
        kind = SPECIAL_FILES.get(stat.S_IFMT(path.stat().st_mode))
    except (OSError, ValueError):
        return
    if kind is not None:
        raise UsageError(
            f"{path} is {kind}, not a file, and reading it may never end. Write its "
            "content to a file and use that."
        )


def unpacked_limit(packed_bytes: int, least: int = MIN_LIMIT_BYTES) -> int:
    """Return how many bytes a packed file may become; `least` holds for small files."""
    return max(least, MAX_RATIO * packed_bytes)


def too_large(what: str, limit: int, remedy: str) -> UsageError:
    """Build the error for a file that would become too large."""
    return UsageError(
        f"{what} expands to more than {limit:,} bytes, far more than its own size, so it "
        f"may be made to fill the memory. {remedy}"
    )


def check_archive(
    archive: ZipFile, packed_bytes: int, what: str, remedy: str, least: int = MIN_LIMIT_BYTES
) -> None:
    """Refuse a zip file whose members become too large; no more is unpacked than they say."""
    limit = unpacked_limit(packed_bytes, least)
    if sum(info.file_size for info in archive.infolist()) > limit:
        raise too_large(what, limit, remedy)


FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""Spreadsheets compute cells that begin so; such cells could start programs or leak data."""


def as_cell(value: Any) -> Any:
    """Put an apostrophe before a text that a spreadsheet would compute; numbers stay as they are.

    >>> as_cell("=1+1"), as_cell("a=b"), as_cell(-1.5)
    ("'=1+1", 'a=b', -1.5)
    """
    is_formula = isinstance(value, str) and value.startswith(FORMULA_STARTS)
    return f"'{value}" if is_formula else value


def write_csv(
    file: TextIO,
    columns: Sequence[str],
    rows: Iterable[Mapping[str, Any]],
    *,
    exact: bool = False,
    line_end: str = "\r\n",
) -> None:
    """Write rows below the names of their columns; with `exact`, formulas stay what they are."""
    writer = csv.DictWriter(file, columns, lineterminator=line_end)
    writer.writeheader()
    for row in rows:
        writer.writerow(row if exact else {name: as_cell(value) for name, value in row.items()})
