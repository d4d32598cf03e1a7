"""Measure brittle against TextAttack and against the bare models, in one run.

    python benchmarks/run.py [--limit 100] [--repeats 5] [--only hotflip,startup]

Writes benchmarks/results.json and benchmarks/RESULTS.md; with --only the other parts stay as they
were measured before. Only ratios are to be compared: both sides and the bare model run on the same
machine, one after another, with the same threads.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import hotflip
import page
import workload
from compare import HERE, PEER, Bench
from page import GOALS

PARTS = ("pwws", "minilm", "genetic", "startup", "hotflip", "constrained")
ALONE = {"constrained"}
"""Parts without a peer, which then need not be installed."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=5, help="of the quick measurements")
    parser.add_argument(
        "--default-padding", type=int, default=20, help="sentences for TextAttack's own padding"
    )
    parser.add_argument("--only", default=",".join(PARTS), help="parts, with commas between")
    parser.add_argument("--skip-minilm", action="store_true")
    parser.add_argument("--out", type=Path, default=HERE / "results.json")
    given = parser.parse_args()
    parts = [part.strip() for part in given.only.split(",")]
    strange = [part for part in parts if part not in PARTS]
    if strange:
        parser.error(f"unknown part {strange[0]!r}; known: {', '.join(PARTS)}")
    if given.skip_minilm and "minilm" in parts:
        parts.remove("minilm")
    if hasattr(os, "sched_setaffinity"):  # both sides have the same cores
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: workload.THREADS])
    if set(parts) - ALONE:
        subprocess.run(["bash", str(HERE / "peers" / "setup.sh"), str(PEER)], check=True)
    content: dict[str, Any] = {}
    if set(parts) != set(PARTS) and given.out.exists():
        content = json.loads(given.out.read_text())
    dataset = workload.sentences(given.limit)
    with tempfile.TemporaryDirectory() as folder:
        measures = measured_by(Bench(Path(folder), dataset, given.repeats), given.default_padding)
        for part in parts:
            content = merged(content, measures[part]())
            given.out.write_text(json.dumps(content, indent=1) + "\n")
            given.out.with_name("RESULTS.md").write_text(page.page(content))
    print(page.page(content))


def measured_by(bench: Bench, few: int) -> dict[str, Callable[[], dict[str, Any]]]:
    """Say how each part is measured; each gives what it adds to the results."""

    def rows(*calls: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        return {"threads": workload.THREADS, "rows": [call() for call in calls]}

    lstm = ("LSTM-W-Random-1",)
    hand = {"kind": "minilm", "padding": "longest", "batch": 32}
    # To the encoder's own limit; the zoo's copy of its tokenizer states a lower one.
    own = {"kind": "minilm", "padding": "max_length", "max_length": 512}
    compare = bench.compare
    return {
        "pwws": lambda: rows(partial(compare, "lstm pwws", *lstm, "pwws", {"kind": "lstm"})),
        "minilm": lambda: rows(
            partial(compare, "minilm pwws, padding set by hand", "MiniLM", "pwws", hand),
            partial(compare, "minilm pwws", "MiniLM", "pwws", own, few),
        ),
        "genetic": lambda: rows(
            partial(compare, "lstm genetic", *lstm, "genetic", {"kind": "lstm"})
        ),
        "startup": lambda: {"startup": bench.startup()},
        "hotflip": lambda: {"hotflip": hotflip.measure(bench) | {"threads": workload.THREADS}},
        "constrained": lambda: {"constrained": hotflip.constrained(bench)},
    }


def merged(content: Mapping[str, Any], fresh: Mapping[str, Any]) -> dict[str, Any]:
    """Put fresh measurements in the place of those of the same name, and keep the others."""
    rows = {row["name"]: row for row in content.get("rows", ())}
    rows |= {row["name"]: row for row in fresh.get("rows", ())}
    names = ("threads", "startup", "hotflip", "constrained")
    kept = {key: content[key] for key in names if key in content}
    return {**kept, **fresh, "rows": [rows[name] for name in GOALS if name in rows]}


if __name__ == "__main__":
    main()
