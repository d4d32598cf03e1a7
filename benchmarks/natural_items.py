"""What the natural adversaries' page must show, read from docs/papers/natural.json.

`benchmarks/acceptance.py` prints it; `brittle papers natural --json` writes the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Row = tuple[str, str, str]
COMMAND = "brittle papers natural --json"
MOST_DISTANCE = 1.1
MOST_QUERIES = {"LeNet": 0.4, "forest": 0.7}
MOST_P = 0.0005
LEAST_CLASS, LEAST_KEPT = 0.04, 0.95
MOST_TIME = 6.0
LEAST_RATE = 0.8


def load(papers: Path, paper: str = "natural") -> dict[str, Any]:
    """Load what the command found; {} if it was not run."""
    path = papers / f"{paper}.json"
    content: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return content


def searches(given: Any) -> Iterator[Row]:
    """Hybrid against iterative search on the same digits; uniform search is worse than both."""
    found = load(given.papers).get("searches")
    if not found:
        yield "no figures of the paper 'natural' are there", COMMAND, "not done"
        return
    for target, most in MOST_QUERIES.items():
        own, ratios = found[target], found[f"{target}, hybrid over iterative"]
        cost, queries = ratios["cost"], ratios["queries"]
        line = f"{target}, {own['compared']} digits: hybrid's Δz {cost['value']:.3f} of iterative's"
        yield f"{line} (asked for ≤ {MOST_DISTANCE})", COMMAND, yes(cost["value"] <= MOST_DISTANCE)
        line = f"{target}: {queries['value']:.3f} of its queries (asked for ≤ {most})"
        yield line, COMMAND, yes(queries["value"] <= most)
        for other in ("iterative", "hybrid"):
            worse = found[f"{target}, uniform over {other}"]["cost"]
            line = f"{target}: uniform's Δz is {worse['value']:.2f} times {other}'s"
            yield line, COMMAND, yes(worse["value"] > 1)


def robustness(given: Any) -> Iterator[Row]:
    """The forest against LeNet, and the 80 classifiers."""
    content = load(given.papers)
    if "table 6" not in content:
        yield "no figures of the paper 'natural' are there", COMMAND, "not done"
        return
    test = content["table 6"]["sign test"]
    line = f"the forest's Δz is below LeNet's on {test['smaller']} digits, above on "
    holds = test["smaller"] > test["larger"] and test["p"] < MOST_P
    yield f"{line}{test['larger']}, p = {test['p']:.2g}", COMMAND, yes(holds)
    every = content["figure 4"]["all"]
    line = f"rank correlation of accuracy and Δz over {every['of']} classifiers: "
    line += f"{every['value']:.2f} ({every['low']:.2f} to {every['high']:.2f})"
    yield line, COMMAND, yes(every["of"] == 80 and every["low"] > 0)
    time = content["figure 4"].get("time")
    if time is None:
        yield "the time of all classifiers over that of one: not measured", COMMAND, "not done"
    else:
        line = (
            f"{time['classifiers']} classifiers take {time['all over one']:.1f} times as long as "
        )
        holds = time["all over one"] <= MOST_TIME
        yield f"{line}one (asked for ≤ {MOST_TIME:g})", COMMAND, yes(holds)


def generator(given: Any) -> Iterator[Row]:
    """The samples of the generator of digits, and what it keeps of test digits."""
    content = load(given.papers)
    if "generator" not in content:
        yield "no figures of the paper 'natural' are there", COMMAND, "not done"
        return
    measures = content["generator"]["measures"]
    rarest = min(measures["classes"].values())
    line = f"{measures['samples']:,} samples: the rarest class has {rarest:.1%} (asked for ≥ 4%), "
    line += f"mean confidence {measures['confidence']:.1%}"
    yield line, COMMAND, yes(rarest >= LEAST_CLASS)
    kept = measures["label kept"]
    line = f"G(I(x)) keeps LeNet's label on {kept:.1%} of test digits (asked for ≥ 95%)"
    yield line, COMMAND, yes(kept >= LEAST_KEPT)
    for target, row in content["reconstructions"].items():
        plain, refined = (f for name, f in row.items() if name.startswith("kept"))
        line = f"{target}: {plain['value']:.1%} kept, {refined['value']:.1%} with --refine"
        yield line, COMMAND, yes(refined["value"] > plain["value"])


def rate(file: Path) -> Iterator[Row]:
    """Samples decoded and classified in a run, beside bare networks at their best batch size."""
    command = f"python benchmarks/{file.stem}.py"
    if not file.exists():
        yield "the rate is not measured", command, "not done"
        return
    for target, found in json.loads(file.read_text("utf-8"))["targets"].items():
        line = f"{target}: {found['engine per CPU second']:,} samples a CPU second, "
        line += f"{found['ratio']:.2f} of the bare networks (asked for ≥ {LEAST_RATE})"
        yield line, command, yes(found["ratio"] >= LEAST_RATE)


def page(given: Any) -> Iterator[Row]:
    """The plots and sheets beside the page; that someone has looked at them nobody can compute."""
    file = given.papers / "natural.md"
    if not file.exists():
        yield "the page is not written", "brittle papers natural", "not done"
        return
    plots = re.findall(r"\]\((.+?\.svg)\)", file.read_text("utf-8"))
    there = [file.parent / plot for plot in plots if (file.parent / plot).exists()]
    line = f"{len(there)} of {len(plots)} plots and sheets are beside the page"
    small = all(plot.stat().st_size < 200_000 for plot in there)
    yield line, "brittle papers natural", yes(small and 0 < len(there) == len(plots))


def yes(holds: bool) -> str:
    return "yes" if holds else "no"
