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
GENTLE_SHARES = {"LSTM-W-Random-1 on mr": 0.35}
MEAN_GENTLE_SHARE = 0.30
MAX_COST = 0.15
MEASURED_ON = "zoo:MiniLM@mr"
"""The target for which `MAX_COST` is promised: as large as the encoder that measures."""
COVERED = (0.93, 0.97)
VALID_GENTLE, VALID_REWRITES = 0.85, 0.95
MIN_READ = 200
"""Broken cases of each preset that are read."""


def candidates() -> Iterator[Row]:
    """Read what a language model said of broken cases of each preset."""
    command = "python benchmarks/judged_sample.py FOLDER VERDICTS"
    if (content := load("judged_sample.json")) is None:
        yield "no verdicts are there", command, "not done"
        return
    presets = content["presets"]
    for name, one in presets.items():
        kept, success = one["all"], one["success"]
        line = f"{name}: {kept['count']} of {kept['of']} keep label, meaning and grammar"
        line += f", success {success['value']:.1%} (asked for {MIN_READ} that are read)"
        yield line, command, yes(kept["of"] >= MIN_READ)
    careful, paper = (presets[name]["all"]["value"] for name in ("careful", "paper"))
    ratio = careful / paper if paper else float("inf")
    line = f"careful keeps all three {ratio:.1f} times as often (asked for ≥ {MORE_VALID})"
    yield line, command, yes(careful > 0 and ratio >= MORE_VALID)


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
            # Cases that nothing was asked about agree whatever is computed.
            yield line, command, yes(one["texts_asked"] > 0 and one["agree"] == one["cases"])
    for name, target in content["attacks"].items():
        for attack, one in target["attacks"].items():
            line = f"{name}, {attack}: {one['broken']} of {target['can_be_broken']} broken, "
            line += f"{one['beyond_the_proof']} of them beyond the proof"
            yield line, command, yes(one["broken"] > 0 and not one["beyond_the_proof"])


def ladder() -> Iterator[Row]:
    """Read how much gentle edits break, and how much of it a blind reader calls valid."""
    command = "python benchmarks/ladder.py run --out FOLDER"
    if (content := load("ladder.json")) is None:
        yield "not measured", command, "not done"
        return
    shares = {}
    for name, one in content.items():
        own = one["ladder"]
        gentle = sum(r["broken"] for r in own["rungs"] if r["level"] in ("rewrite", "careful"))
        shares[name] = gentle / own["attacked"]
    for name, least in GENTLE_SHARES.items():
        line = f"{name}: {shares[name]:.1%} break under gentle edits (asked for {least:.0%})"
        yield line, command, yes(shares[name] >= least)
    films = [share for name, share in shares.items() if name.endswith(" on mr")]
    mean = sum(films) / len(films)
    line = f"mean of {len(films)} models on film reviews: {mean:.1%} "
    line += f"(asked for {MEAN_GENTLE_SHARE:.0%} of four)"
    yield line, command, yes(len(films) >= 4 and mean >= MEAN_GENTLE_SHARE)
    yield from readings()


def readings() -> Iterator[Row]:
    """Read what a blind reader called valid."""
    command = "python benchmarks/ladder.py read FOLDER VERDICTS"
    for texts, one in (load("read_ladder.json") or {}).items():
        kinds = one["kinds"]
        own = [kinds[level]["kept"] for level in ("rewrite", "careful") if level in kinds]
        count, of = (sum(row[name] for row in own) for name in ("count", "of"))
        line = f"{texts}: {count} of {of} gentle texts lose nothing (asked for {VALID_GENTLE:.0%})"
        yield line, command, yes(of > 0 and count / of >= VALID_GENTLE)
        rewrites = kinds["rewrite"]["kept"]
        line = f"{texts}: {rewrites['count']} of {rewrites['of']} rewrites lose nothing "
        yield (
            f"{line}(asked for {VALID_REWRITES:.0%})",
            command,
            yes(rewrites["count"] / rewrites["of"] >= VALID_REWRITES),
        )


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
    for preset, one in content["targets"][MEASURED_ON]["presets"].items():
        line = f"{MEASURED_ON}, {preset}: {one['cost']:+.1%} processor time"
        yield f"{line} (asked for ≤ {MAX_COST:.0%})", command, yes(one["cost"] <= MAX_COST)


def load(name: str) -> dict[str, Any] | None:
    """Return what a benchmark wrote, None if it did not run."""
    file = HERE / name
    return json.loads(file.read_text("utf-8")) if file.exists() else None


def yes(holds: bool) -> str:
    return "yes" if holds else "no"
