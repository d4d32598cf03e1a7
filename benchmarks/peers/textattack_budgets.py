"""Run one of TextAttack's attacks on one job once for each budget of queries, and count.

    python textattack_budgets.py --job job.json --out out.json

To be run by the environment that `setup.sh` made. The job is that of `textattack_run.py`, with
`budgets`, a list of queries a case, instead of one budget. Nothing is timed.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

from textattack_run import OFFLINE, attack_one, limit_threads, versions


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--job", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    os.environ.update(OFFLINE)
    given.out.write_text(json.dumps(run_job(json.loads(given.job.read_text())), indent=1))


def run_job(job: dict[str, Any]) -> dict[str, Any]:
    """Attack every example under every budget; the target is loaded once."""
    limit_threads(job["threads"])
    import textattack
    from peer_attacks import build_attack, word_table
    from peer_targets import load_target

    target = load_target(job["target"], job)
    words, dropped = word_table(job["candidates"])
    results = {}
    for budget in job["budgets"]:
        attack = build_attack(job["attack"], target, words, budget, job["target"].get("batch"))
        textattack.shared.utils.set_seed(job["seed"])
        results[str(budget)] = [
            attack_one(attack, example["text"], example["label"]) for example in job["examples"]
        ]
    return {"results": results, "dropped_candidates": dropped, "versions": versions()}


if __name__ == "__main__":
    main()
