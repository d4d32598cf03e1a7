"""Models that scikit-learn users keep as pickles: `.joblib` and `.pkl` files, opened only if named.

To load a pickle is to run the code in it. So a file is loaded only if the user names this very file
a second time, `--trust-pickle FILE` (in Python `trust_pickle="FILE"`). A run does not store that it
was trusted: whoever opens the target of a stored run says it again.
"""

from __future__ import annotations

import io
import logging
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

from brittle.errors import UsageError, message_of, require
from brittle.safety.files import check_is_file
from brittle.targets import fingerprints
from brittle.targets.options import PICKLED, TargetOptions
from brittle.targets.protocols import Classifies
from brittle.targets.sklearn import open_estimator
from brittle.values import add_working_folder

log = logging.getLogger(__name__)
JOBLIB = ".joblib"


def open_pickled(spec: str, options: TargetOptions) -> Classifies:
    """Open a pickled scikit-learn pipeline, if the user trusts this file by its name."""
    path = Path(spec)
    if options.trust_pickle is None:
        raise not_trusted(spec)
    if not isinstance(options.trust_pickle, str | Path):
        raise UsageError(
            f"Got trust_pickle={options.trust_pickle!r}. Expected the name of the file: "
            f"trust_pickle={spec!r}"
        )
    if Path(options.trust_pickle).resolve() != path.resolve():
        raise UsageError(
            f"Got --trust-pickle {options.trust_pickle}, but the target is {spec}. Expected the "
            f"same file: --trust-pickle {spec}"
        )
    check_is_file(path)
    if not path.is_file():
        raise UsageError(f"There is no file {spec!r}.")
    log.warning(
        "%s is a pickle: loading it runs the code in it. You trusted it with --trust-pickle.", spec
    )
    content = path.read_bytes()
    model = _load(path, content)
    if not (hasattr(model, "predict") and hasattr(model, "classes_")):
        raise UsageError(
            f"{spec!r} holds a {type(model).__name__}. Expected a fitted scikit-learn "
            "pipeline or classifier that takes a list of strings. Load other objects in "
            "your own module and use python:module:name."
        )
    options = replace(options, name=options.name or path.stem)
    return open_estimator(model, options, fingerprints.hash_parts(content))


def not_trusted(spec: str) -> UsageError:
    """Build the error for a pickled file that the user has not named as trusted."""
    suffix = Path(spec).suffix
    trust = (
        f"If you made the file, or trust its author: --trust-pickle {spec} (in Python "
        f"trust_pickle={spec!r}). Or write"
    )
    ways = trust if suffix in PICKLED else "Write"
    return UsageError(
        f"{spec!r} is a pickled file. Loading it runs any code in it, so brittle does not load it "
        f"without your permission. {ways} it in another format where it was made, "
        "skops.io.dump(model, 'model.skops'), or load it in your own module and use "
        "python:module:name."
    )


def refuse_trust(spec: str, options: TargetOptions) -> None:
    """Refuse trust in a pickle where the target is none."""
    if options.trust_pickle is not None:
        raise UsageError(
            f"Got --trust-pickle {options.trust_pickle}, but the target {spec!r} is not a "
            f"pickled file ({', '.join(PICKLED)}). Leave it out."
        )


def _load(path: Path, content: bytes) -> Any:
    """Load the object from the content that was read; modules of the working folder are found."""
    add_working_folder()
    require("sklearn", "sklearn", f"Loading {path.name}")
    try:
        if path.suffix == JOBLIB:
            return require("joblib", "sklearn", f"Loading {path.name}").load(io.BytesIO(content))
        return pickle.loads(content)
    except (Exception, SystemExit) as error:  # a pickle may raise anything
        remedy = "Load it with the versions of Python and scikit-learn that it was saved with"
        if isinstance(error, AttributeError | ModuleNotFoundError):
            remedy += ", in the folder of the modules that it needs"
        name = message_of(error) if isinstance(error, Exception) else "it exits the program"
        raise UsageError(f"{str(path)!r} cannot be loaded ({name}). {remedy}.") from error
