"""What a run becomes outside: a file of its rows, and the command that makes it again.

The rows of a run as a file: .csv, .jsonl, .parquet, and pictures as .npz. The command line that
makes a stored run again, from its manifest.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from brittle.attacks import ATTACKS, default_settings, is_own, with_present_names
from brittle.candidates.choice import STRICT
from brittle.errors import UsageError, require
from brittle.goals import is_class_goal
from brittle.picture import Picture, stack
from brittle.safety.files import replacing, write_csv
from brittle.targets.options import TargetOptions

if TYPE_CHECKING:
    from brittle.runs.run import Run


def write_rows(run: Run, out: Path, exact: bool = False) -> Path:
    """Write the rows of a run in the format that the ending of the file names."""
    writers: dict[str, Callable[[Run, Path], None]]
    writers = {".csv": partial(_csv, exact=exact), ".jsonl": _jsonl, ".parquet": _parquet}
    if run.shape is not None:
        writers[".npz"] = _npz
    writer = writers.get(out.suffix)
    if writer is None:
        *others, last = writers
        raise UsageError(
            f"Got {out.name!r} to export to; expected a name that ends in "
            f"{', '.join(others)} or {last}."
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    with replacing(out) as new:
        writer(run, new)
    return out


def _csv(run: Run, out: Path, exact: bool) -> None:
    with out.open("w", newline="", encoding="utf-8", errors="replace") as file:
        write_csv(file, *run.columns_and_rows(), exact=exact)


def _jsonl(run: Run, out: Path) -> None:
    results = run.results()
    names = {*run.columns_of(results), "fields", "edits"}
    names |= {"kept"} if any(result.kept for result in results) else set()
    with out.open("w", encoding="utf-8") as file:
        for result in results:
            row = {name: value for name, value in asdict(result).items() if name in names}
            file.write(json.dumps(row) + "\n")


def _parquet(run: Run, out: Path) -> None:
    arrow = require("pyarrow", "frames", "Exporting to parquet")
    parquet = require("pyarrow.parquet", "frames", "Exporting to parquet")
    parquet.write_table(arrow.Table.from_pylist(run.rows()), out)


def _npz(run: Run, out: Path) -> None:
    """Write a picture and its adversary for every case; without an adversary, the picture again."""
    rows = run.results()
    assert run.shape is not None
    originals, adversaries = (
        stack([Picture.decode(text) for text in column], run.shape, f"The run {run.name!r}")
        for column in ([r.original for r in rows], [r.adversarial or r.original for r in rows])
    )
    names = ("case", "status", "label", "predicted", "adversarial_label")
    columns: dict[str, Any] = {
        name: np.array([str(getattr(r, name) or "") for r in rows]) for name in names
    }
    with out.open("wb") as file:  # to a path, numpy adds an ending
        np.savez_compressed(file, originals=originals, adversaries=adversaries, **columns)


KEEP_FLAGS = {"similarity": "keep_meaning", "fluency": "keep_fluent"}
RUN_FLAGS = ("only", "limit", "seed", "budget", "toward", "confidence")


def command_of(manifest: Mapping[str, Any]) -> str | None:
    """Write the command of a run; None if its target, attack or data has no name to write."""
    about = dict(manifest.get("about_target") or {})
    attack, data = str(manifest["attack"]), str(manifest["data"])
    is_named = attack in ATTACKS or attack.startswith("python:")
    if "spec" not in about or not is_named or data in ("", "examples"):
        return None
    # The user's own code is not imported to show a run: all settings of such an attack are written.
    defaults = default_settings(attack) if is_own(attack) else {}
    words = ["brittle", "attack", about.pop("spec"), attack, "--data", data]
    words += _flags(_about_data(manifest) | {name: manifest.get(name) for name in RUN_FLAGS})
    if not is_class_goal(str(manifest.get("goal", "untargeted"))):
        words += ["--goal", str(manifest["goal"])]
    asked = {
        name: value for name, value in about.items() if value != getattr(TargetOptions, name, None)
    }
    words += _flags({name: value for name, value in asked.items() if name != "wanted_mask"})
    settings = with_present_names(manifest["settings"])
    words += _flags(_constraints(manifest.get("keep") or {}, settings.get("candidates")))
    changed = {n: value for n, value in settings.items() if value != defaults.get(n)}
    return shlex.join([*words, *_flags(changed)])


def _about_data(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the flags that say how the data was read."""
    columns = manifest.get("columns") or {}
    split = manifest.get("split")
    return {
        "split": split if split in ("train", "dev") else None,
        "text": ",".join(columns.get("text", ())) or None,
        "label": columns.get("label"),
        "locked": ",".join(manifest.get("locked") or ()) or None,
    }


def _constraints(kept: Mapping[str, Any], candidates: Any) -> dict[str, float]:
    """Return the flags of constraints that the candidates do not bring themselves."""
    if not kept:
        return {}
    from brittle.goals.constraints import strict

    brought = {(own.measure.name, own.least) for own in strict(()) if candidates == STRICT}
    least = {name: float(value[0]) for name, value in kept.items()}
    return {KEEP_FLAGS[n]: value for n, value in least.items() if (n, value) not in brought}


def _flags(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield flags with their values; what is None, or an empty list, is left out."""
    for name, value in values.items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            yield f"--{flag}" if value else f"--no-{flag}"
        elif isinstance(value, Mapping):
            yield from (f"--{flag}", ",".join(f"{key}={one}" for key, one in value.items()))
        elif isinstance(value, list | tuple):
            for one in value:
                yield from (f"--{flag}", str(one))
        elif value is not None:
            yield from (f"--{flag}", f"{value:g}" if isinstance(value, float) else str(value))
