"""The commands that belong to a stored run, from its manifest: make it again, try a sentence.

To show a run imports this, so attacks and goals are imported only where a whole command is written.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from brittle.targets.options import PICKLED, TargetOptions

KEEP_FLAGS = {"similarity": "keep_meaning", "fluency": "keep_fluent"}
RUN_FLAGS = ("only", "limit", "seed", "budget", "toward", "confidence")


def command_of(manifest: Mapping[str, Any]) -> str | None:
    """Write the command of a run; None if its target, attack or data has no name to write."""
    from brittle.attacks import ATTACKS, default_settings, is_own, with_present_names
    from brittle.goals import is_class_goal

    about = dict(manifest.get("about_target") or {})
    attack, data = str(manifest["attack"]), str(manifest["data"])
    is_named = attack in ATTACKS or attack.startswith("python:")
    if "spec" not in about or not is_named or data in ("", "examples"):
        return None
    # The user's own code is not imported to show a run: all settings of such an attack are written.
    defaults = default_settings(attack) if is_own(attack) else {}
    spec = about.pop("spec")
    words = ["brittle", "attack", spec, attack, "--data", data]
    words += _flags(_about_data(manifest) | {name: manifest.get(name) for name in RUN_FLAGS})
    if not is_class_goal(str(manifest.get("goal", "untargeted"))):
        words += ["--goal", str(manifest["goal"])]
    words += _about_target(about, spec)
    settings = with_present_names(manifest["settings"])
    words += _flags(_constraints(manifest.get("keep") or {}, settings.get("candidates")))
    changed = {n: value for n, value in settings.items() if value != defaults.get(n)}
    return shlex.join([*words, *_flags(changed)])


def try_command_of(manifest: Mapping[str, Any]) -> str | None:
    """Write the command that attacks a sentence of the user; None if the target has no name."""
    about = dict(manifest.get("about_target") or {})
    if "spec" not in about:
        return None
    spec = about.pop("spec")
    start = f'brittle try {shlex.quote(spec)} "your sentence"'
    return " ".join([start, *map(shlex.quote, _about_target(about, spec))])


def _about_target(about: Mapping[str, Any], spec: str) -> Iterator[str]:
    """Yield the flags of a target; that a pickle is trusted is not stored, but has to be said."""
    asked = {
        name: value for name, value in about.items() if value != getattr(TargetOptions, name, None)
    }
    yield from _flags({name: value for name, value in asked.items() if name != "wanted_mask"})
    if spec.endswith(PICKLED):
        yield from ("--trust-pickle", spec)


def _about_data(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the flags that say how the data was read."""
    columns = manifest.get("columns") or {}
    split = manifest.get("split")
    return {
        "split": split if split in ("train", "dev") else None,
        "text": ",".join(columns.get("text", ())) or None,
        "label": columns.get("label"),
        "locked": ",".join(manifest.get("locked") or ()) or None,
        "skip_bad": True if manifest.get("left_out") else None,
    }


def _constraints(kept: Mapping[str, Any], candidates: Any) -> dict[str, float]:
    """Return the flags of constraints that the candidates do not bring themselves."""
    if not kept:
        return {}
    from brittle.candidates.choice import STRICT
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
