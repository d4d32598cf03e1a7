"""What is promised of valid and bounded figures, read from the files that benchmarks wrote.

`benchmarks/acceptance.py` prints it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
Row = tuple[str, str, str]
MORE_VALID = 3
"""Careful candidates keep label, meaning and grammar so many times as often as published ones."""
MAX_QUERIES = 1.5
MAX_COST = 0.15
COVERED = (0.93, 0.97)
TARGETS_OF_AUTO = 5


def candidates() -> Iterator[Row]:
    """Read what one reader said of broken cases of each preset."""
    command = "python benchmarks/judged_sample.py FOLDER VERDICTS"
    if (content := load("judged_sample.json")) is None:
        yield "no verdicts are there", command, "not done"
        return
    presets = content["presets"]
    for name, one in presets.items():
        kept, success = one["all"], one["success"]
        line = f"{name}: {kept['count']} of {kept['of']} keep label, meaning and grammar"
        yield f"{line}, success {success['value']:.1%}", command, "yes"
    ratio = presets["careful"]["all"]["value"] / presets["paper"]["all"]["value"]
    line = f"careful keeps all three {ratio:.1f} times as often (asked for ≥ {MORE_VALID})"
    yield line, command, yes(ratio >= MORE_VALID)


def proofs() -> Iterator[Row]:
    """Read how closed form, bounds and attacks stand to exhaustive search."""
    command = "python benchmarks/proofs.py"
    if (content := load("proofs.json")) is None:
        yield "not measured", command, "not done"
        return
    parts = {"closed form, naive Bayes": content["closed_form"]}
    parts |= {f"bounds, {name}": one for name, one in content["bounds"].items()}
    for name, part in parts.items():
        for words, one in part["by_words"].items():
            line = f"{name}, words {words}: {one['agree']} of {one['cases']} cases agree"
            yield line, command, yes(one["agree"] == one["cases"])
    for name, target in content["attacks"].items():
        for attack, one in target["attacks"].items():
            line = f"{name}, {attack}: {one['broken']} of {target['can_be_broken']} broken, "
            line += f"{one['beyond_the_proof']} of them beyond the proof"
            yield line, command, yes(not one["beyond_the_proof"])


def auto() -> Iterator[Row]:
    """Read how auto stands to the best single attack."""
    command = "python benchmarks/auto.py"
    if (content := load("auto.json")) is None:
        yield "not measured", command, "not done"
        return
    for share, targets in content["by_share"].items():
        for name, one in targets.items():
            against, best = one["auto_against"][one["best_single"]], one["best_single"]
            line = f"{name}, share {share}: {against['only_auto']} more and "
            line += f"{against['only_single']} fewer than {best}, {against['queries_ratio']:.2f} "
            yield f"{line}of its queries (asked for ≤ {MAX_QUERIES})", command, yes(one["holds"])
        line = f"share {share}: {len(targets)} targets (asked for {TARGETS_OF_AUTO})"
        yield line, command, yes(len(targets) >= TARGETS_OF_AUTO)


def estimators() -> Iterator[Row]:
    """Read how often the intervals cover the truth of simulated studies."""
    command = "python benchmarks/validity_simulation.py"
    if (content := load("validity_simulation.json")) is None:
        yield "not measured", command, "not done"
        return
    low, high = content["lowest"], content["highest"]
    line = f"{len(content['kinds'])} kinds, {content['studies_of_each_kind']} studies each: "
    line += f"{low:.1%} to {high:.1%} covered (asked for {COVERED[0]:.0%} to {COVERED[1]:.0%})"
    yield line, command, yes(COVERED[0] <= low and high <= COVERED[1])


def measures() -> Iterator[Row]:
    """Read what similarity and fluency of every step cost."""
    command = "python benchmarks/measure_cost.py"
    if (content := load("measure_cost.json")) is None:
        yield "not measured", command, "not done"
        return
    for preset, one in content["presets"].items():
        line = f"{preset}: {one['cost']:+.1%} processor time (asked for ≤ {MAX_COST:.0%})"
        yield line, command, yes(one["cost"] <= MAX_COST)


def load(name: str) -> dict[str, Any] | None:
    """Return what a benchmark wrote, None if it did not run."""
    file = HERE / name
    return json.loads(file.read_text("utf-8")) if file.exists() else None


def yes(holds: bool) -> str:
    return "yes" if holds else "no"
