"""Measure success against the budget of queries: auto, PWWS, salient-swap, and TextAttack's PWWS.

    python benchmarks/budget.py [--limit 100] [--minilm 50] [--only LSTM-W-Random-1] [--ours]

Writes benchmarks/budget.json, BUDGET.md and a plot for each target. With --only the other targets
stay as they were measured before, with --ours TextAttack's figures and the number of sentences.

A budget is the queries of one case, the original included, on both sides; a text that is asked
again counts again. Sentences and candidates are those of run.py; auto has its own, level by level.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import brittle
import workload
from brittle.levels import LEVELS
from brittle.metrics.intervals import wilson
from brittle.opening import load_zoo
from brittle.reports import standalone_svg
from brittle.reports.axes import PERCENT_TICKS, PlotArea, draw, tone
from brittle.training import find
from compare import HERE, PEER

BUDGETS = (10, 20, 30, 50, 100, 200)
TARGETS = {"naive-bayes": "zoo", "LSTM-W-Random-1": "lstm", "MiniLM": "minilm"}
ATTACKS = ("auto", "pwws", "salient-swap")
SERIES = {
    "auto": "auto",
    "pwws": "pwws",
    "salient-swap": "salient-swap",
    "peer": "TextAttack's PWWS",
}
Rows = Sequence[Mapping[str, Any]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=int, default=100)
    parser.add_argument("--minilm", type=int, default=50, help="sentences for MiniLM")
    parser.add_argument("--only", default=",".join(TARGETS), help="targets, with commas between")
    parser.add_argument("--ours", action="store_true", help="keep TextAttack's figures")
    parser.add_argument("--out", type=Path, default=HERE / "budget.json")
    given = parser.parse_args()
    names = [name.strip() for name in given.only.split(",")]
    strange = [name for name in names if name not in TARGETS]
    if strange:
        parser.error(f"unknown target {strange[0]!r}; known: {', '.join(TARGETS)}")
    content = json.loads(given.out.read_text()) if given.out.exists() else {}
    if given.ours and not set(names) <= set(content):
        parser.error("--ours keeps what was measured before, and some target was not")
    if not given.ours:
        subprocess.run(["bash", str(HERE / "peers" / "setup.sh"), str(PEER)], check=True)
    for name in names:
        former = content[name] if given.ours else None
        count = given.minilm if name == "MiniLM" else given.limit
        content[name] = measure(name, former["sentences"] if former else count, former)
        ordered = {target: content[target] for target in TARGETS if target in content}
        given.out.write_text(json.dumps(ordered, indent=1) + "\n")
        given.out.with_name("BUDGET.md").write_text(page(ordered))
        given.out.with_name(f"budget-{name}.svg").write_text(standalone_svg(plot(content[name])))
    print(page(ordered))


def measure(name: str, count: int, former: Mapping[str, Any] | None) -> dict[str, Any]:
    """Attack one target on both sides, under every budget; a former result keeps its peer."""
    dataset = workload.sentences(count)
    words = workload.candidates(dataset)
    result: dict[str, Any] = {"sentences": count}
    with tempfile.TemporaryDirectory() as folder:
        table = workload.write(Path(folder) / "candidates.json", words)
        target = load_zoo(f"zoo:{name}@mr")
        for attack in ATTACKS:
            print(f"{name} {attack} …", file=sys.stderr, flush=True)
            result[attack] = {
                budget: counted(ours(target, dataset, attack, budget, str(table)))
                for budget in map(str, BUDGETS)
            }
        target.close()
        if former is not None:
            return result | {"peer": former["peer"], "versions": former["versions"]}
        print(f"{name}, TextAttack …", file=sys.stderr, flush=True)
        theirs = peer(name, dataset, words, Path(folder))
    result["peer"] = {budget: counted(rows) for budget, rows in theirs["results"].items()}
    return result | {"versions": theirs["versions"]}


def ours(target: Any, dataset: Any, attack: str, budget: str, table: str) -> Rows:
    """Run an attack of brittle's under one budget."""
    with tempfile.TemporaryDirectory() as folder:
        run = brittle.attack(
            target,
            dataset,
            attack,
            budget=int(budget),
            measures="none",
            folder=folder,
            **({} if attack == "auto" else {"candidates": table}),
        )
        rows = run.results()
    # A sentence without candidates is skipped here and attacked there: it counts as not broken.
    return [
        {"status": row.status, "queries": row.queries, "level": row.level}
        for row in rows
        if row.predicted == row.label
    ]


def peer(name: str, dataset: Any, words: dict[str, list[str]], folder: Path) -> dict[str, Any]:
    """Let TextAttack's PWWS attack the same sentences, in a process of its own."""
    target = {"kind": TARGETS[name], "folder": str(find(name, "mr")), "padding": "longest"}
    job = workload.job("pwws", target, dataset, words) | {"budgets": BUDGETS}
    path, out = workload.write(folder / "job.json", job), folder / "out.json"
    script = HERE / "peers" / "textattack_budgets.py"
    command = [PEER / "bin" / "python", script, "--job", path, "--out", out]
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
    content: dict[str, Any] = json.loads(out.read_text())
    content["results"] = {
        budget: [row for row in rows if row["status"] != "skipped"]
        for budget, rows in content["results"].items()
    }
    return content


def counted(rows: Rows) -> dict[str, Any]:
    """Count what was broken, of the rows of sentences that the target had right."""
    broken = [row.get("level") for row in rows if row["status"] == "broken"]
    levels = {level: broken.count(level) for level in LEVELS if level in broken}
    return ({"levels": levels} if levels else {}) | {
        "broken": sum(row["status"] == "broken" for row in rows),
        "attacked": len(rows),
        "queries": statistics.mean(row["queries"] for row in rows),
    }


def page(content: Mapping[str, Any]) -> str:
    """Write the results as a page."""
    peer_versions = next(iter(content.values()))["versions"]
    lines = [
        "# Success against the budget of queries",
        "",
        "How many of the attacked MR sentences break with at most so many queries a case, the "
        "original included. Both sides have the same sentences, weights and candidate lists, and "
        "count a text that is asked again as a query again. `python benchmarks/budget.py` measures "
        "it. How many words change is not compared here. `auto` has candidates of its own, from "
        "gentle to rough, and its cells say how many cases broke at which level. "
        f"Versions: textattack {peer_versions['textattack']}, torch {peer_versions['torch']}.",
    ]
    for name, result in content.items():
        lines += ["", f"## {name}", "", f"![success against budget](budget-{name}.svg)", ""]
        lines += [
            f"{result['sentences']} sentences. Success with its 95 % interval, and the mean number "
            "of queries of the attacked ones:",
            "",
            "| budget | " + " | ".join(SERIES.values()) + " |",
            "|---" * (len(SERIES) + 1) + "|",
        ]
        for budget in map(str, BUDGETS):
            cells = (cell(result[series][budget]) if series in result else "" for series in SERIES)
            lines.append(f"| {budget} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


def cell(side: Mapping[str, Any]) -> str:
    """Write one success rate."""
    broken, count = side["broken"], side["attacked"]
    low, high = wilson(broken, count)
    rate = f"{broken / count:.1%} of {count} ({low:.1%} to {high:.1%})"
    levels = ", ".join(f"{level} {count}" for level, count in side.get("levels", {}).items())
    return f"{rate}; {side['queries']:.1f} queries" + (f"; {levels}" if levels else "")


def plot(result: Mapping[str, Any]) -> str:
    """Draw success against the budget, one line for each search; the budgets are equally spaced."""
    labels = ("queries a case, at most", "attacked cases broken")
    area = PlotArea((0, len(BUDGETS) - 1), (0.0, 1.0), *labels, "", tuple(SERIES.values()), "line")
    lines = []
    for n, series in enumerate(SERIES):
        points = []
        for x, budget in enumerate(map(str, BUDGETS)):
            side = result[series][budget]
            y = area.y_at(side["broken"] / side["attacked"])
            points.append(f"{area.x_at(x):.1f} {y:.1f}")
        lines.append(f'<path class="line{tone(n, len(SERIES))}" d="M{"L".join(points)}"/>')
    ticks = [(x, str(budget)) for x, budget in enumerate(BUDGETS)]
    return draw(area, "Success against the budget", ticks, PERCENT_TICKS, "".join(lines))


if __name__ == "__main__":
    main()
