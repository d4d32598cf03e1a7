"""What it costs to measure similarity and fluency of winners: on a large target and a small one.

    python benchmarks/measure_cost.py [--only TARGET,TARGET] [--repeats 3]

The same command is run with and without measures, in turn, after one that is not counted; the cost
is the processor time of the whole command (other processes of the machine do not count). Similarity
is measured when rows are first read, so a run does not wait for it, unless it has to keep so much
(`strict`). `reading` is what that costs once: `brittle show --all` for the first time, less the
same for the second time. MiniLM is as large as the encoder that compares meanings; beside naive
Bayes, which answers in microseconds, a pass of the encoder for every winner is most of the work.
Writes benchmarks/measure_cost.json; targets that are not measured keep their figures there.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

PRESETS = ("paper", "careful", "strict")
AUTO = "auto"
"""In place of a preset: the attack that climbs the levels, instead of pwws."""
TARGETS = {
    "zoo:MiniLM@mr": ("mr", 80, PRESETS),
    "zoo:naive-bayes@mr": ("mr", 80, PRESETS),
    "zoo:naive-bayes@imdb": ("imdb", 20, ("careful",)),
    "zoo:naive-bayes@mr auto": ("mr", 300, (AUTO,)),
}
"""By target: the data, how many texts of it are attacked, and with which candidates."""
OUT = Path(__file__).with_suffix(".json")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default=",".join(TARGETS), help="targets, with commas between")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args()
    content = json.loads(args.out.read_text("utf-8")) if args.out.exists() else {"targets": {}}
    for name in args.only.split(","):
        content["targets"][name] = measure(name, args.repeats)
        args.out.write_text(json.dumps(content, indent=1) + "\n", "utf-8")


def measure(name: str, repeats: int) -> dict[str, Any]:
    """Return, for every preset, the median processor time without and with measures."""
    data, texts, presets = TARGETS[name]
    seconds(name, data, 1, "careful", True)  # trains the target, and fills the caches
    report = {}
    for preset in presets:
        # Strict candidates need their measures: what they cost is beside careful ones without.
        plain = "careful" if preset == "strict" else preset
        rows = [
            (
                *seconds(name, data, texts, plain, False)[:1],
                *seconds(name, data, texts, preset, True),
            )
            for _ in range(repeats)
        ]
        without, measured, reading = (statistics.median(column) for column in zip(*rows))
        cost = measured / without - 1
        report[preset] = {"without": without, "measured": measured, "cost": cost}
        report[preset]["reading"] = reading
        print(
            f"{name} {preset}: {without:.2f} s, measured {measured:.2f} s, read {reading:.2f} s",
            flush=True,
        )
    return {"data": data, "texts": texts, "repeats": repeats, "presets": report}


def seconds(name: str, data: str, texts: int, preset: str, measures: bool) -> tuple[float, float]:
    """Attack texts of a data set; return the processor time of that, and of the first reading."""
    attack = [AUTO] if preset == AUTO else ["pwws", "--candidates", preset]
    spec, _, _ = name.partition(" ")
    command = ["attack", spec, *attack, "--data", data]
    command += ["--limit", str(texts), "--name", "cost", "--quiet"]
    command += [] if measures else ["--no-measures"]
    show = ["show", "cost", "--all"]
    with tempfile.TemporaryDirectory() as folder:
        run, *shown = (processor_time(one, folder) for one in (command, show, show))
    return run, shown[0] - shown[1]


def processor_time(command: list[str], folder: str) -> float:
    """Run a command of brittle in a folder; return its processor time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = [sys.executable, "-m", "brittle", *command]
    subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
