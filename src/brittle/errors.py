"""The errors, as one tree.

    BrittleError
    ├── UsageError            the call is wrong: a name, a flag, a file, a label (exit code 2)
    │   └── MissingPackage    an optional package is needed and not installed
    ├── TargetError           the target cannot answer one item; only that item's case fails
    ├── Incomplete            the run or task in question is not finished (exit code 3)
    ├── RunStopped            the run ended early and can be resumed (exit code 3)
    │   ├── Interrupted       the user stopped it (exit code 130)
    │   ├── LimitReached      as many items were sent as the user allowed
    │   ├── TargetDown        the target answers nothing at all, or hangs
    │   └── StoreError        the run's file cannot be read or written
    ├── GateFailed            a check asked for by the user did not hold (exit code 1)
    └── CannotTell            there are too few cases to decide a check (exit code 4)

A message tells what happened, what was got, what was expected, and the remedy. Whatever it quotes,
it holds no secret, and nothing that steers a terminal.
"""

from __future__ import annotations

import difflib
import importlib
import shlex
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from brittle.redaction import redact, visible


class BrittleError(Exception):
    """The base class of all errors that brittle raises."""

    exit_code = 2

    def __init__(self, *parts: object) -> None:
        super().__init__(*(visible(redact(p)) if isinstance(p, str) else p for p in parts))


class UsageError(BrittleError):
    """The call is wrong; nothing has been done yet."""


class MissingPackage(UsageError):
    """An optional package is needed and not installed."""


class TargetError(BrittleError):
    """The target cannot answer one item."""

    exit_code = 3


class Incomplete(BrittleError):
    """The run or task in question is not finished."""

    exit_code = 3


class RunStopped(BrittleError):
    """The run ended early; the same command resumes it. `path` is its file, where it is known."""

    exit_code = 3
    path: Path | None = None


class Interrupted(RunStopped):
    """The user stopped the run."""

    exit_code = 130


class LimitReached(RunStopped):
    """As many items, or tokens, were sent to the target as the user allowed by a flag."""

    def __init__(self, message: str = "", flag: str = "--max-sent") -> None:
        super().__init__(message)
        self.flag = flag


class TargetDown(RunStopped):
    """The target answers nothing at all, or hangs."""


class StoreError(RunStopped):
    """The run's file cannot be read or written."""


class GateFailed(BrittleError):
    """A check asked for by the user did not hold."""

    exit_code = 1


class CannotTell(BrittleError):
    """There are too few cases to decide a check asked for by the user."""

    exit_code = 4


def unknown(what: str, got: str, known: Iterable[str], remedy: str = "") -> UsageError:
    """Build the error for an unknown name, with the name that was probably meant.

    >>> str(unknown("attack", "pwsw", ["pwws", "genetic"]))
    "Unknown attack 'pwsw'. Did you mean 'pwws'?"
    """
    known = list(known)
    plain = {name.lower(): name for name in known}
    matches = difflib.get_close_matches(got.lower(), plain, n=1)
    if matches:
        hint = f"Did you mean {plain[matches[0]]!r}?"
    else:
        hint = "Known: " + ", ".join(known) + "." if known else ""
    return UsageError(" ".join(part for part in (f"Unknown {what} {got!r}.", hint, remedy) if part))


def message_of(error: Exception) -> str:
    """Return what an error says; the name of its class comes first, unless it is one of ours.

    Secrets are hidden: what is said here may be stored.
    """
    text = redact(str(error)) or "no message"
    return text if isinstance(error, BrittleError) else f"{type(error).__name__}: {text}"


def require(module: str, extra: str, purpose: str) -> ModuleType:
    """Import an optional module; the error names the packages to install.

    `extra` is the name of one of brittle's extras, or a package to install as it is.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise missing(module, extra, purpose, error) from error


def missing(
    module: str, extra: str, purpose: str, error: ImportError | None = None
) -> MissingPackage:
    """Build the error for a module that is not installed, or cannot be imported."""
    state = "is not installed" if error is None else f"cannot be imported ({error})"
    return MissingPackage(
        f"{purpose} needs the package {module.split('.')[0]!r}, which {state}. Install it with: "
        f"{install_command(extra)}"
    )


def install_command(extra: str) -> str:
    """Return the command that installs what an extra of brittle brings, or a package as it is.

    It names these packages and not brittle, whose name a registry may give to another project.
    """
    if extra not in EXTRAS:
        return f"pip install {extra}"
    from importlib import metadata  # imported late: nearly no command needs it

    try:
        named = metadata.requires("brittle") or []
    except metadata.PackageNotFoundError:  # a copy of the sources that was not installed
        named = []
    split = [requirement.partition(";")[::2] for requirement in named]
    wanted = [name.strip() for name, marker in split if f'extra == "{extra}"' in marker]
    if not wanted:
        return f"pip install -e '.[{extra}]' in the folder of the sources"
    return f"pip install {' '.join(shlex.quote(name) for name in wanted)}"


def setup_command(part: str) -> str:
    """Return the command that installs a part whose packages pip has to install in a special way.

    brittle.safety.parts says which packages these are.
    """
    return f"brittle setup install {part}"


EXTRAS = (
    *("torch", "transformers", "sklearn", "data", "vectors", "similarity", "entities", "hub"),
    *("http", "frames", "trees", "pictures", "figures", "translation", "typos", "ray"),
)
