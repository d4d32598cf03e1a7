"""Measure brittle against TextAttack and against the bare models, in one run.

    python benchmarks/run.py [--limit 100] [--repeats 3] [--skip-minilm]

Writes benchmarks/results.json and benchmarks/RESULTS.md. Only ratios are to be compared: both
sides and the bare model run on the same machine, one after another, with the same threads.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import ours
import workload
from brittle.metrics.intervals import wilson
from brittle.targets.zoo import load
from brittle.training import find

HERE = Path(__file__).parent
ROOT = HERE.parent
PEER = ROOT / ".venvs" / "textattack"
SIZES = {"LSTM-W-Random-1": (64, 128, 256, 512), "MiniLM": (16, 32)}
GOALS = {
    "lstm pwws": 8.0,
    "lstm genetic": 20.0,
    "minilm pwws": 15.0,
    "minilm pwws, padding set by hand": 2.0,
}
"""How many times TextAttack's examples per second are asked for."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=5, help="of the quick measurements")
    parser.add_argument(
        "--default-padding", type=int, default=20, help="sentences for TextAttack's own padding"
    )
    parser.add_argument("--skip-minilm", action="store_true")
    parser.add_argument("--out", type=Path, default=HERE / "results.json")
    given = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):  # both sides have the same cores
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: workload.THREADS])
    subprocess.run(["bash", str(HERE / "peers" / "setup.sh"), str(PEER)], check=True)
    dataset = workload.sentences(given.limit)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), dataset, given.repeats)
        lstm = {"kind": "lstm"}
        rows = [bench.compare("lstm pwws", "LSTM-W-Random-1", "pwws", lstm)]
        if not given.skip_minilm:
            hand = {"kind": "minilm", "padding": "longest", "batch": 32}
            name = "minilm pwws, padding set by hand"
            rows.append(bench.compare(name, "MiniLM", "pwws", hand))
            # To the encoder's own limit; the zoo's copy of its tokenizer states a lower one.
            default = {"kind": "minilm", "padding": "max_length", "max_length": 512}
            few = given.default_padding
            rows.append(bench.compare("minilm pwws", "MiniLM", "pwws", default, few))
        rows.append(bench.compare("lstm genetic", "LSTM-W-Random-1", "genetic", lstm))
        startup = bench.startup()
    content = {"sentences": len(dataset.examples), "threads": workload.THREADS, "rows": rows}
    content |= {"startup": startup, "versions": rows[0]["peer"]["versions"]}
    given.out.write_text(json.dumps(content, indent=1) + "\n")
    text = table(content)
    given.out.with_name("RESULTS.md").write_text(text)
    print(text)


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
        theirs = self._peer(attack, peer | {"folder": str(find(model, "mr"))}, dataset)
        target.close()
        intervals = [wilson(side["won"], side["attacked"]) for side in (mine, theirs)]
        overlap = max(low for low, _ in intervals) <= min(high for _, high in intervals)
        told = {"name": name, "model": model, "sentences": len(dataset.examples)}
        told |= {"ratio": theirs["seconds"] / mine["seconds"], "overlap": overlap}
        print(f"  {told['ratio']:.1f}×", file=sys.stderr, flush=True)
        return told | {"ours": mine, "peer": theirs}

    def _ours(self, target: Any, model: str, attack: str, dataset: Any) -> dict[str, Any]:
        few = replace(dataset, examples=dataset.examples[:4])
        ours.attack(target, few, attack, self.table)  # imports and first calls are not timed
        recorded = ours.Recorded(target)
        ours.attack(recorded, dataset, attack, self.table)
        keys, sizes, threads = list(recorded.answers), SIZES[model], target.parallel
        runs, bare, scorer = [], [], []
        for _ in range(self.repeats if model != "MiniLM" else 1):
            runs.append(ours.attack(target, dataset, attack, self.table))
            bare.append(ours.bare(ours.plain(target), keys, sizes, threads))
            scorer.append(ours.bare(target.canonical_scores, keys, sizes, threads))
        replay = [
            ours.attack(ours.Replayed(recorded), dataset, attack, self.table)
            for _ in range(self.repeats)
        ]
        mine = runs[0] | {"all_seconds": [run["seconds"] for run in runs]}
        mine["seconds"] = statistics.median(mine["all_seconds"])
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

    def _peer(self, attack: str, target: dict[str, Any], dataset: Any) -> dict[str, Any]:
        job = workload.write(
            self.folder / "job.json", workload.job(attack, target, dataset, self.words)
        )
        out = self.folder / "out.json"
        script = HERE / "peers" / "textattack_run.py"
        command = [PEER / "bin" / "python", script, "--job", job, "--out", out]
        subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
        told = json.loads(out.read_text())
        attacked = [row for row in told["results"] if row["status"] != "skipped"]
        return {
            "seconds": told["seconds"],
            "model_seconds": told["model_seconds"],
            "rows": told["rows"],
            "won": sum(row["status"] == "won" for row in attacked),
            "attacked": len(attacked),
            "queries": statistics.mean(row["queries"] for row in attacked),
            "versions": told["versions"],
        }

    def startup(self) -> dict[str, float]:
        """Time, in new processes, until an attack is built, and until WordNet is open as well."""
        peer = [PEER / "bin" / "python", HERE / "peers" / "textattack_run.py", "--startup", "pwws"]
        mine = [sys.executable, HERE / "startup.py", self.table]
        took: dict[str, float] = {}
        for name, command in (("peer", peer), ("ours", mine)):
            words = [str(word) for word in command]
            told = [json.loads(subprocess.check_output(words)) for _ in range(3)]
            took[name] = statistics.median(row["seconds"] for row in told)
            both = (row["seconds"] + row["wordnet_seconds"] for row in told)
            took[f"{name}_with_wordnet"] = statistics.median(both)
        took["ratio_with_wordnet"] = took["peer_with_wordnet"] / took["ours_with_wordnet"]
        return took | {"ratio": took["peer"] / took["ours"]}


def table(content: dict[str, Any]) -> str:
    """Write the results as a page."""
    return "\n".join(speeds(content) + successes(content) + limits(content))


def speeds(content: dict[str, Any]) -> list[str]:
    """Write what was measured with what, and how many examples a second each side attacks."""
    count = content["sentences"]
    fewest = min(row["sentences"] for row in content["rows"])
    lines = [
        "# Benchmarks",
        "",
        f"The same {count} held-out MR sentences (the first {fewest} of them for TextAttack's "
        f"own padding, which is slow), weights, candidate lists and {content['threads']} "
        "threads, in one run of `make bench`. Versions: "
        + ", ".join(f"{name} {number}" for name, number in content["versions"].items())
        + ".",
        "",
        "| | TextAttack, examples/s | brittle, examples/s | ratio | asked for |",
        "|---|---|---|---|---|",
    ]
    for row in content["rows"]:
        count = row["sentences"]
        goal = GOALS[row["name"]]
        lines.append(
            f"| {row['name']} | {count / row['peer']['seconds']:.2f} "
            f"| {count / row['ours']['seconds']:.2f} | {row['ratio']:.1f}× | ≥ {goal:g}× |"
        )
    start = content["startup"]
    cells = f"{start['peer']:.2f} s | {start['ours']:.2f} s | {start['ratio']:.1f}×"
    lines.append(f"| start-up | {cells} | ≥ 20× |")
    cells = f"{start['peer_with_wordnet']:.2f} s | {start['ours_with_wordnet']:.2f} s"
    cells += f" | {start['ratio_with_wordnet']:.1f}×"
    lines.append(f"| start-up, WordNet opened too | {cells} | |")
    return lines


def successes(content: dict[str, Any]) -> list[str]:
    """Write how often each side wins, and how many rows it computes for it."""
    lines = [
        "",
        "| | success, TextAttack | success, brittle | rows per example, TextAttack | brittle |",
        "|---|---|---|---|---|",
    ]
    for row in content["rows"]:
        cells = []
        for side in ("peer", "ours"):
            won, of = row[side]["won"], row[side]["attacked"]
            low, high = wilson(won, of)
            cells.append(f"{won / of:.1%} of {of} ({low:.1%} to {high:.1%})")
        rows = [row[side]["rows"] / row["sentences"] for side in ("peer", "ours")]
        lines.append(f"| {row['name']} | {' | '.join(cells)} | {rows[0]:.0f} | {rows[1]:.0f} |")
    return lines


def limits(content: dict[str, Any]) -> list[str]:
    """Write how near we come to the bare model, and where the rest of the time goes."""
    lines = [
        "",
        "Against the bare model on the same distinct rows, sorted, in batches of the best size; "
        "*bare* is the model as torch runs it, *scorer* brittle's own pass over the same weights:",
        "",
        "| | rows | bare, s | scorer, s | brittle, s | wall / bare | wall / scorer | engine, µs "
        "per text |",
        "|---|---|---|---|---|---|---|---|",
    ]
    first = {}
    for row in content["rows"]:
        first.setdefault(row["name"].split(",")[0], row["ours"])
    for name, mine in first.items():
        cells = f"{mine['distinct_rows']:.0f} | {mine['bare_seconds']:.2f} | "
        cells += (
            f"{mine['scorer_seconds']:.2f} | {mine['seconds']:.2f} | {mine['over_bare']:.2f} | "
        )
        cells += f"{mine['over_scorer']:.2f} | {mine['engine_microseconds']:.1f}"
        lines.append(f"| {name} | {cells} |")
    lines += [
        "",
        "The engine's cost is a run with all answers known beforehand, divided by the texts asked.",
        "",
        "Where the time goes, in seconds:",
        "",
        "| | wall | scorer, ideal batches | engine, store and report rows | the rest |",
        "|---|---|---|---|---|",
    ]
    for name, mine in first.items():
        rest = mine["seconds"] - mine["scorer_seconds"] - mine["engine_seconds"]
        cells = [mine["seconds"], mine["scorer_seconds"], mine["engine_seconds"], rest]
        lines.append(f"| {name} | " + " | ".join(f"{cell:.2f}" for cell in cells) + " |")
    lines += [
        "",
        "The rest is what real rounds cost beyond ideal batches: smaller and less uniform ones, "
        "winners and a few originals scored alone, threads that wait for each other.",
        "",
    ]
    return lines


if __name__ == "__main__":
    main()
