"""The settings with which an attack is the one that its paper describes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brittle.attacks import default_settings
from brittle.proposals.choice import PAPER

CANDIDATES = "candidates"


def as_published(name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings for a study that repeats a paper: its candidates, unless others are set.

    >>> as_published("pwws", {"share": 0.2}), as_published("hotflip", {})
    ({'candidates': 'paper', 'share': 0.2}, {})
    """
    has_candidates = CANDIDATES in default_settings(name)
    return ({CANDIDATES: PAPER} if has_candidates else {}) | dict(settings)


def with_present_names(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a stored run as they are called now.

    Before there were presets, no table of candidates meant the published ones.
    """
    is_former = CANDIDATES in settings and settings[CANDIDATES] is None
    return dict(settings) | ({CANDIDATES: PAPER} if is_former else {})
