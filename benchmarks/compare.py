"""One attack on one model, measured on both sides: brittle, the bare model, and TextAttack."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import ours
import workload
from brittle.metrics.intervals import wilson
from brittle.opening import load_zoo as load
from brittle.training import find

HERE = Path(__file__).parent
PEER = HERE.parent / ".venvs" / "textattack"
SIZES = {"LSTM-W-Random-1": (64, 128, 256, 512), "MiniLM": (16, 32)}


class Bench:
    """One workload, measured on both sides."""

    def __init__(self, folder: Path, dataset: Any, repeats: int) -> None:
        self.folder, self.dataset, self.repeats = folder, dataset, repeats
        self.words = workload.candidates(dataset)
        self.table = workload.write(folder / "candidates.json", self.words)

    def compare(
        self, name: str, model: str, attack: str, peer: dict[str, Any], limit: int | None = None
    ) -> dict[str, Any]:
        """Measure one attack on one model: ours, the bare model, and the peer."""
        print(f"{name} …", file=sys.stderr, flush=True)
        target = load(f"zoo:{model}@mr")
        dataset = replace(self.dataset, examples=self.dataset.examples[:limit])
        mine = self._ours(target, model, attack, dataset)
        target.close()
        theirs = self.peer(attack, peer | {"folder": str(find(model, "mr"))}, dataset)
        row = {"name": name, "model": model, "sentences": len(dataset.examples)}
        row |= {"ratio": theirs["seconds"] / mine["seconds"], "overlap": overlap(mine, theirs)}
        print(f"  {row['ratio']:.1f}×", file=sys.stderr, flush=True)
        return row | {"ours": mine, "peer": theirs}

    def _ours(self, target: Any, model: str, attack: str, dataset: Any) -> dict[str, Any]:
        table = str(self.table)
        few = replace(dataset, examples=dataset.examples[:4])
        ours.attack(target, few, attack, candidates=table)  # imports and first calls are not timed
        recorded = ours.Recorded(target)
        ours.attack(recorded, dataset, attack, candidates=table)
        keys, sizes, threads = list(recorded.answers), SIZES[model], target.parallel
        runs, bare, scorer = [], [], []
        for _ in range(self.repeats if model != "MiniLM" else 1):
            runs.append(ours.attack(target, dataset, attack, candidates=table))
            bare.append(ours.bare(ours.plain(target), keys, sizes, threads))
            scorer.append(ours.bare(target.canonical_scores, keys, sizes, threads))
        replay = [
            ours.attack(ours.Replayed(recorded), dataset, attack, candidates=table)
            for _ in range(self.repeats)
        ]
        mine = middle(runs)
        mine["distinct_rows"] = bare[-1]["rows"]
        for name, rows in (("bare", bare), ("scorer", scorer)):
            mine[f"{name}_seconds"] = statistics.median(row["seconds"] for row in rows)
            mine[f"{name}_batch"] = rows[-1]["batch"]
            ratios = [run["seconds"] / row["seconds"] for run, row in zip(runs, rows)]
            mine[f"over_{name}"] = statistics.median(ratios)
        seconds = statistics.median(run["seconds"] for run in replay)
        mine["engine_seconds"] = seconds
        mine["engine_microseconds"] = seconds / mine["asked"] * 1e6
        return mine

    def peer(
        self, attack: str, target: dict[str, Any], dataset: Any, **more: Any
    ) -> dict[str, Any]:
        """Let TextAttack attack the sentences, in a process and an environment of its own."""
        content = workload.job(attack, target, dataset, self.words) | more
        job = workload.write(self.folder / "job.json", content)
        out = self.folder / "out.json"
        script = HERE / "peers" / "textattack_run.py"
        command = [PEER / "bin" / "python", script, "--job", job, "--out", out]
        subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
        content = json.loads(out.read_text())
        attacked = [row for row in content["results"] if row["status"] != "skipped"]
        return {
            "seconds": content["seconds"],
            "model_seconds": content["model_seconds"],
            "rows": content["rows"],
            "gradients": content["gradients"],
            "broken": sum(row["status"] == "broken" for row in attacked),
            "attacked": len(attacked),
            "queries": statistics.mean(row["queries"] for row in attacked),
            "versions": content["versions"],
        }

    def startup(self) -> dict[str, float]:
        """Measure CPU seconds, in new processes, until an attack is built, and WordNet is open."""
        peer = [PEER / "bin" / "python", HERE / "peers" / "textattack_run.py", "--startup", "pwws"]
        mine = [sys.executable, HERE / "startup.py", self.table]
        took: dict[str, float] = {}
        for name, command in (("peer", peer), ("ours", mine)):
            words = [str(word) for word in command]
            runs = [json.loads(subprocess.check_output(words)) for _ in range(3)]
            took[name] = statistics.median(row["seconds"] for row in runs)
            both = (row["seconds"] + row["wordnet_seconds"] for row in runs)
            took[f"{name}_with_wordnet"] = statistics.median(both)
        took["ratio_with_wordnet"] = took["peer_with_wordnet"] / took["ours_with_wordnet"]
        return took | {"ratio": took["peer"] / took["ours"]}


def middle(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Give the first of equal runs with the median of their seconds, and all of them."""
    every = [run["seconds"] for run in runs]
    return runs[0] | {"seconds": statistics.median(every), "all_seconds": every}


def overlap(mine: dict[str, Any], theirs: dict[str, Any]) -> bool:
    """Say whether the intervals of both success rates overlap."""
    intervals = [wilson(side["broken"], side["attacked"]) for side in (mine, theirs)]
    return max(low for low, _ in intervals) <= min(high for _, high in intervals)
