"""The key of a sample: which item is what. It stays with the owner of the run, beside its file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from brittle.errors import UsageError
from brittle.files import write_whole
from brittle.schema import Check, Count, Malformed, load_json, parse
from brittle.validity.presets import PRESETS
from brittle.validity.sampling import ID_DIGITS, ROLES, DrawnSample, Role

LAYOUT = 1
ENDING = ".key.json"
_ID = re.compile(f"[0-9a-f]{{{ID_DIGITS}}}")
SampleId = Annotated[
    str, Check(lambda name: bool(_ID.fullmatch(name)), f"{ID_DIGITS} digits from 0 to f")
]
"""The id of a sample; nothing else becomes a part of the name of a key."""


@dataclass(frozen=True)
class KeyItem:
    """One item of a sample: its case, and the roles of its panels."""

    case: str
    roles: tuple[Role, ...]
    digest: str


@dataclass(frozen=True)
class SampleKey:
    """What is needed to read the answers of people."""

    sample: SampleId
    preset: str
    seed: int
    runs: tuple[str, ...]
    labels: tuple[str, ...]
    people: Count
    items: Mapping[str, KeyItem]


def key_path(run: Path, sample: str) -> Path:
    """Return the path of a key: NAME.SAMPLE.key.json beside the file of the run."""
    return run.with_name(f"{run.stem}.{sample}{ENDING}")


def key_paths(run: Path) -> list[Path]:
    """List the keys that belong to the file of a run."""
    head = f"{run.stem}."
    return [
        path
        for path in sorted(run.parent.glob(f"*{ENDING}"))
        if path.name.startswith(head) and "." not in path.name[len(head) :].removesuffix(ENDING)
    ]


def save_key(sample: DrawnSample, path: Path) -> None:
    """Write the key of a sample, whole or not at all, for its owner alone."""
    content = {
        "layout": LAYOUT,
        "sample": sample.id,
        "preset": sample.preset,
        "seed": sample.seed,
        "runs": sample.runs,
        "labels": sample.labels,
        "people": len(sample.orders),
        "items": {
            item.id: [item.case, [panel.role for panel in item.panels], item.digest]
            for item in sample.items
        },
    }
    write_whole(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n", private=True)


def load_key(path: Path) -> SampleKey:
    """Load a key; one that is damaged or of another layout is refused by name."""
    try:
        content = load_json(path)
        if not isinstance(content, dict) or content.pop("layout", None) != LAYOUT:
            raise Malformed(f"a key of layout {LAYOUT}", content)
        key = parse(SampleKey, content)
        _check(key)
    except (OSError, Malformed) as error:
        raise UsageError(
            f"Cannot read the key {path}: {error}. Write it again with the same brittle annotate "
            "as before; it draws the same sample."
        ) from error
    return key


def _check(key: SampleKey) -> None:
    """Refuse a key whose items do not fit its questionnaire and its runs."""
    if key.preset not in PRESETS:
        raise Malformed(f"one of {', '.join(PRESETS)}", key.preset, "preset")
    questions = PRESETS[key.preset].questions
    panels = {panel for question in questions for panel in question.shows}
    roles = {*ROLES[: 1 + len(key.runs)]}
    for number, item in key.items.items():
        if len(item.roles) <= max(panels) or not roles.issuperset(item.roles):
            expected = f"{max(panels) + 1} of {', '.join(sorted(roles))}"
            raise Malformed(expected, list(item.roles), f"items.{number}.roles")
