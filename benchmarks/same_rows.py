"""Attack real models at several batch sizes and through kills, and compare the stored rows.

    python benchmarks/same_rows.py [--limit 24] [--kills 4] [--models A,B] [--attacks X,Y]

Every attack runs on every model by the command line: with the batch size found while it runs, with
`--batch` 1, 7 and 512, and killed with SIGKILL as cases end, and started again. Texts, statuses
and queries of all rows must be equal. Writes same_rows.json; the models are trained if they are
missing.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import brittle
from kills import finished

MODELS = ("LSTM-W-Random-1", "CharCNN-LSTM", "MiniLM")
ATTACKS = {
    "hotflip": [],
    "hotflip-words": ["--cosine", "0", "--no-same-tag", "--stop-words", "--no-other-lexeme"],
    "jsma": [],
    "pwws": ["--candidates", "paper"],
    "genetic": ["--candidates", "paper", "--population", "10", "--generations", "5"],
}
BATCHES = (None, 1, 7, 512)


def main() -> int:
    """Compare the rows of all runs, and tell by the exit code whether they are equal."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--limit", type=int, default=24)
    parser.add_argument("--kills", type=int, default=4)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--attacks", default=",".join(ATTACKS))
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("same_rows.json"))
    args = parser.parse_args()
    compared: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="brittle-rows-") as folder:
        for model in args.models.split(","):
            for attack in args.attacks.split(","):
                compared.append(compare(model, attack, args.limit, args.kills, Path(folder)))
                args.out.write_text(json.dumps(compared, indent=1) + "\n")
                print(compared[-1], flush=True)
    are_equal = all(row["different"] == 0 for row in compared)
    print("all rows are equal" if are_equal else "SOME ROWS DIFFER")
    return 0 if are_equal else 1


def compare(model: str, attack: str, limit: int, kills: int, folder: Path) -> dict[str, Any]:
    """Run one attack on one model in every way; count the rows that differ from the first."""
    spec = f"zoo:{model}@mr"
    command = [sys.executable, "-m", "brittle", "attack", spec, attack, "--data", "mr", "--quiet"]
    command += ["--limit", str(limit), "--runs", str(folder), *ATTACKS[attack]]
    runs = {}
    for batch in BATCHES:
        name = f"{model}-{attack}-{batch or 'automatic'}"
        subprocess.run(
            [*command, "--name", name, *(["--batch", str(batch)] if batch else [])], check=True
        )
        runs[name] = rows(folder, name)
    name = f"{model}-{attack}-killed"
    killed = run_killed([*command, "--name", name], folder / f"{name}.sqlite", kills, limit)
    runs[name] = rows(folder, name)
    first, *others = runs.values()
    different = {
        name: sum(row != other[case] for case, row in first.items())
        for name, other in zip(list(runs)[1:], others)
    }
    attacked = sum(status != "skipped" for status, *_ in first.values())
    return {
        "model": model,
        "attack": attack,
        "cases": len(first),
        "attacked": attacked,
        "runs": len(runs),
        "killed_at": killed,
        "different": sum(different.values()),
        "by_run": different,
    }


def rows(folder: Path, name: str) -> dict[str, tuple[Any, ...]]:
    """Load what must be equal of a run: status, queries and text of every case."""
    run = brittle.open_run(name, folder)
    return {row.case: (row.status, row.queries, row.adversarial) for row in run.results()}


def run_killed(command: list[str], run: Path, kills: int, limit: int) -> list[int]:
    """Kill a run several times as it goes on, then let it end; return the cases finished then."""
    killed: list[int] = []
    for n in range(kills):
        process = subprocess.Popen(command)
        while process.poll() is None:
            if finished(run) > max([n * limit // (kills + 1), *killed]):
                process.kill()
                process.wait()
                killed.append(finished(run))
                break
            time.sleep(0.002)
    subprocess.run(command, check=True)
    return killed


if __name__ == "__main__":
    sys.exit(main())
