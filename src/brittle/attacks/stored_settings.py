"""The settings of an attack in stored runs and studies, as they are called now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brittle.attacks import default_settings, is_own
from brittle.candidates.choice import PAPER

CANDIDATES = "candidates"


def changed_settings(name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of an attack that differ from its defaults.

    The user's own code is not imported to tell what its defaults are.

    >>> changed_settings("pwws", {"candidates": "paper", "share": 0.2})
    {'share': 0.2}
    """
    defaults = default_settings(name) if is_own(name) else {}
    return {key: v for key, v in settings.items() if (key, v) not in defaults.items()}


def with_present_names(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a stored run as they are called now.

    Before there were presets, no table of candidates meant the published ones.
    """
    is_former = CANDIDATES in settings and settings[CANDIDATES] is None
    return dict(settings) | ({CANDIDATES: PAPER} if is_former else {})
