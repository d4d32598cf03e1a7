"""The key of a sample: which item is what. It stays with the owner of the run, beside its file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from brittle.errors import UsageError
from brittle.files import DAMAGED, write_whole
from brittle.validity.sampling import Role, Sample

LAYOUT = 1
ENDING = ".key.json"


@dataclass(frozen=True)
class KeyItem:
    """One item of a sample: its case, and the roles of its panels."""

    case: str
    roles: tuple[Role, ...]
    digest: str


@dataclass(frozen=True)
class Key:
    """What is needed to read the answers of people."""

    sample: str
    preset: str
    seed: int
    runs: tuple[str, ...]
    labels: tuple[str, ...]
    people: int
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


def save_key(sample: Sample, path: Path) -> None:
    """Write the key of a sample, whole or not at all."""
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
    write_whole(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def load_key(path: Path) -> Key:
    """Load a key; one that is damaged or of another layout is refused by name."""
    try:
        content = json.loads(path.read_text("utf-8"))
        reason = f"its layout is {content['layout']!r}, expected {LAYOUT}"
        if content["layout"] == LAYOUT:
            return _parse(content)
    except DAMAGED:
        reason = "it is damaged"
    raise UsageError(
        f"Cannot read the key {path}: {reason}. Write it again with the same brittle annotate as "
        "before; it draws the same sample."
    )


def _parse(content: Mapping[str, Any]) -> Key:
    items = {
        str(number): KeyItem(str(case), tuple(roles), str(digest))
        for number, (case, roles, digest) in content["items"].items()
    }
    return Key(
        sample=str(content["sample"]),
        preset=str(content["preset"]),
        seed=int(content["seed"]),
        runs=tuple(map(str, content["runs"])),
        labels=tuple(map(str, content["labels"])),
        people=int(content["people"]),
        items=items,
    )
