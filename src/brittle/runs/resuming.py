"""A run that is there already: what may change when it is resumed, and what is attacked again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from brittle.asks import STATUSES
from brittle.attacks import default_settings
from brittle.errors import UsageError
from brittle.runs.store import Store
from brittle.runs.store_errors import damaged_contents

FIXED = (
    *("target", "fingerprint", "attack", "settings", "goal", "data", "split", "seed", "content"),
    *("label_map", "files", "only", "helpers", "goal_code"),
)
"""The entries of a manifest that cannot change when a run is resumed."""


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
            for status in STATUSES if uses_budget else ():
                if status not in ("skipped", "error"):
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
        for key in ("attack", "settings", "budget", "examples"):
            manifest[key]
        return manifest | {"settings": dict(manifest["settings"])}


def _check_unchanged(name: str, former: dict[str, Any], manifest: dict[str, Any]) -> None:
    """Refuse to resume a run with other settings, or with less than it has.

    A setting that the attack did not have when the run was made counts as its default: what a new
    setting does must not change what runs did before it.
    """
    added = manifest["settings"].keys() - former["settings"].keys()
    if added and former["attack"] == manifest["attack"]:
        defaults = default_settings(manifest["attack"])
        young = {name: defaults.get(name) for name in added}
        former = former | {"settings": young | former["settings"]}
    changed = [key for key in FIXED if former.get(key) != manifest.get(key)]
    if changed:
        differences = "; ".join(
            f"{key} was {former.get(key)!r}, now {manifest.get(key)!r}" for key in changed
        )
        raise UsageError(
            f"The run {name!r} exists with other settings: {differences}. Only limit and budget "
            "may change. Choose another --name, or start over with --new."
        )
    for key, words in (("budget", "a budget of {} queries"), ("examples", "a plan of {} cases")):
        if _is_more(former[key], manifest[key]):
            raise UsageError(
                f"The run {name!r} has {words.format(former[key] or 'any number of')}, got "
                f"{manifest[key]}; it can only be extended. Choose another --name, or --new."
            )


def _is_more(now: int | None, before: int | None) -> bool:
    """Tell whether a limit grew; None is no limit."""
    return before is not None and (now is None or now > before)
