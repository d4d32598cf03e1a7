"""Compare auto with every single attack that it runs, on the same cases and in the same space.

    nice python benchmarks/auto.py [--limit 200] [--shares 1,0.2] [--only NAME,NAME] [--runs FOLDER]
    python benchmarks/auto.py --table

Writes benchmarks/auto.json; --table prints the table of docs/auto.md from it. The best single
attack is the one that breaks most cases, of several the one with the fewest queries. Queries are
compared on the cases that both break. Every attack may replace the same share of the words, by the
same candidates, those of the papers: all words, and a fifth of them. A run that is there is not
made again: the same command goes on after a stop.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import brittle
from brittle.files import versions
from brittle.metrics.paired import paired
from brittle.metrics.summary import ATTACKED, rate
from brittle.opening import as_target
from brittle.results import Result
from brittle.targets.protocols import HasGradients

OUT = Path(__file__).with_suffix(".json")
TARGETS = (
    *("naive-bayes", "linear-svm", "LSTM-W-Random-1", "CNN-W-Random-1", "BiLSTM-W-Random-1"),
    "MiniLM",
)
SINGLE = ("salient-swap", "pwws", "genetic", "random-swap")
MOST_QUERIES = 1.5
"""How many times the queries of the best single attack auto may need."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=int, default=200)
    parser.add_argument("--minilm", type=int, default=50, help="examples for MiniLM")
    parser.add_argument("--shares", default="1,0.2", help="shares of words, with commas between")
    parser.add_argument("--only", default=",".join(TARGETS), help="targets, with commas between")
    parser.add_argument("--runs", type=Path, default=Path("runs") / "auto-benchmark")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--table", action="store_true", help="print what was measured")
    args = parser.parse_args()
    content: dict[str, Any] = {"by_share": {}}
    if args.out.exists():
        content = json.loads(args.out.read_text())
    if args.table:
        print("\n".join(table(content["by_share"])))
        return
    content |= {"data": "mr", "split": "test"}
    content |= {"versions": versions("brittle", "numpy", "torch")}
    for share in args.shares.split(","):
        for name in args.only.split(","):
            limit = args.minilm if name == "MiniLM" else args.limit
            measured = {"limit": limit} | measure(name, limit, float(share), args.runs)
            content["by_share"].setdefault(share, {})[name] = measured
            args.out.write_text(json.dumps(content, indent=1) + "\n")
            print(share, name, measured["best_single"], measured["holds"], flush=True)


def measure(name: str, limit: int, share: float, runs: Path) -> dict[str, Any]:
    """Attack one target with auto and with every single attack."""
    target: Any = as_target(f"zoo:{name}@mr")
    gradients = ["gradient-swap"] if isinstance(target, HasGradients) else []
    rows: dict[str, list[Result]] = {}
    for attack in (*gradients, *SINGLE, "auto"):
        about: dict[str, Any] = {"limit": limit, "share": share, "folder": runs}
        about |= {"candidates": "paper"}
        part = "" if share == 1 else f"-{share:g}"
        run = brittle.attack(target, "mr", attack, name=f"{name}-{attack}-{limit}{part}", **about)
        rows[attack] = run.results()
    target.close()
    best = min((a for a in rows if a != "auto"), key=lambda a: (-broken(rows[a]), cost(rows[a])))
    compared = {a: compare(rows["auto"], rows[a]) for a in rows if a != "auto"}
    return {
        "attacks": {attack: figures(own) for attack, own in rows.items()},
        "auto_broke_by": dict(Counter(r.reason for r in rows["auto"] if r.status == "broken")),
        "best_single": best,
        "auto_against": compared,
        "holds": compared[best]["only_single"] <= compared[best]["only_auto"]
        and compared[best]["queries_ratio"] <= MOST_QUERIES,
    }


def figures(rows: Sequence[Result]) -> dict[str, Any]:
    attacked = [row for row in rows if row.status in ATTACKED]
    share = rate(broken(rows), len(attacked), "attacked cases")
    return {
        "broken": share.count,
        "attacked": share.of,
        "success": round(share.value or 0.0, 4),
        "interval": [round(share.low or 0.0, 4), round(share.high or 0.0, 4)],
        "queries": round(cost(rows), 1),
        "queries_of_broken": round(mean(row.queries for row in rows if row.status == "broken"), 1),
    }


def compare(auto: Sequence[Result], single: Sequence[Result]) -> Mapping[str, Any]:
    """Compare success case by case, and queries on the cases that both break."""
    contrast = paired(single, auto).success
    queries = {row.case: row.queries for row in single if row.status == "broken"}
    both = [row for row in auto if row.status == "broken" and row.case in queries]
    ours, theirs = (sum(q) for q in zip(*((row.queries, queries[row.case]) for row in both)))
    return {
        "only_auto": contrast.only_b,
        "only_single": contrast.only_a,
        "both": len(both),
        "p": round(contrast.p, 4),
        "queries_ratio": round(ours / theirs, 3),
    }


def table(by_share: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the lines of a Markdown table: auto beside the best single attack of every target."""
    head = ("share", "target", "best single attack", "it breaks", "`auto` breaks")
    head += ("only `auto`", "only the other", "queries, cases both break")
    for cells in (head, ["---"] * len(head)):
        yield f"| {' | '.join(cells)} |"
    for share, targets in by_share.items():
        for name, one in targets.items():
            best, attacks = one["best_single"], one["attacks"]
            against = one["auto_against"][best]
            cells = [share, name, f"`{best}`"]
            cells += [f"{attacks[a]['broken']} of {attacks[a]['attacked']}" for a in (best, "auto")]
            cells += [str(against["only_auto"]), str(against["only_single"])]
            cells.append(f"{against['queries_ratio']:.2f}×")
            yield f"| {' | '.join(cells)} |"


def broken(rows: Sequence[Result]) -> int:
    return sum(row.status == "broken" for row in rows)


def cost(rows: Sequence[Result]) -> float:
    return mean(row.queries for row in rows if row.status in ATTACKED)


if __name__ == "__main__":
    main()
