"""Builds the task that writes the splits of a source, as the groups of paper.toml do."""

from __future__ import annotations

from typing import Any

from brittle.workflow.tasks import Task
from brittle_papers.data import source_digest, write_splits
from brittle_papers.planning import build_task


def data_task(name: str, source: str, limits: dict[str, int] | None = None, **more: Any) -> Task:
    sizes = {**dict.fromkeys(("train", "dev", "test", "words")), **(limits or {})}
    about = {"source": source, "limits": sizes, "seed": 0, "content": source_digest(source)}
    return build_task(name, write_splits, **about, **more)
