"""Run one of TextAttack's attacks on one job, offline, and time it.

    python textattack_run.py --job job.json --out out.json
    python textattack_run.py --startup pwws

To be run by the environment that `setup.sh` made. The job's form is in README.md.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

# Read by TextAttack and by what it imports, so they stand before the first of these imports.
OFFLINE = {
    "TA_CACHE_DIR": str(Path(sys.prefix, "textattack")),
    "FLAIR_CACHE_ROOT": str(Path(sys.prefix, "textattack")),
    "MPLCONFIGDIR": str(Path(sys.prefix, "textattack")),
    "HF_HUB_OFFLINE": "1",
}
PACKAGES = ("textattack", "torch", "transformers", "tokenizers", "flair", "nltk", "numpy")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--job", type=Path, help="what to attack, and how")
    parser.add_argument("--out", type=Path, help="where the results go")
    parser.add_argument("--startup", choices=("pwws", "genetic"), help="only time the start")
    given = parser.parse_args()
    os.environ.update(OFFLINE)
    if given.startup:
        print(json.dumps(time_startup(given.startup)))
    elif given.job and given.out:
        given.out.write_text(json.dumps(run_job(json.loads(given.job.read_text())), indent=1))
    else:
        parser.error("give --job and --out, or --startup")


def run_job(job: dict[str, Any]) -> dict[str, Any]:
    limit_threads(job["threads"])
    began = time.perf_counter()
    import textattack
    from peer_attacks import build_attack, word_table

    import_seconds = time.perf_counter() - began

    import torch
    from peer_targets import Counted, load_target

    torch.set_num_threads(job["threads"])
    textattack.shared.utils.set_seed(job["seed"])
    target = Counted(load_target(job["target"], job))
    if job.get("torch_threads"):  # a network of the zoo sets one when it is opened
        torch.set_num_threads(job["torch_threads"])
    words, dropped = word_table(job["candidates"])

    began = time.perf_counter()
    attack = build_attack(
        job["attack"],
        target,
        words,
        job.get("query_budget"),
        job["target"].get("batch"),
        job.get("settings"),
    )
    import_seconds += time.perf_counter() - began

    # Once more: what loading the target drew must not shift the attack's draws.
    textattack.shared.utils.set_seed(job["seed"])
    results = []
    began = time.perf_counter()
    for example in job["examples"]:
        results.append(attack_one(attack, example["text"], example["label"]))
    seconds = time.perf_counter() - began
    return {
        "seconds": seconds,
        "model_seconds": target.seconds,
        "rows": target.rows,
        "gradients": target.gradients,
        "import_seconds": import_seconds,
        "results": results,
        "dropped_candidates": dropped,
        "attack": repr(attack),
        "versions": versions(),
    }


def attack_one(attack: Any, text: str, label: int) -> dict[str, Any]:
    from textattack.attack_results import SkippedAttackResult, SuccessfulAttackResult

    began = time.perf_counter()
    result = attack.attack(text, label)
    seconds = time.perf_counter() - began
    if isinstance(result, SkippedAttackResult):
        status = "skipped"
    else:
        status = "broken" if isinstance(result, SuccessfulAttackResult) else "held"
    return {
        "status": status,
        "queries": result.num_queries,
        "text": result.perturbed_text() if status == "broken" else text,
        "seconds": seconds,
    }


def time_startup(name: str) -> dict[str, Any]:
    """Measure the CPU seconds of importing TextAttack and building an attack.

    The model costs nothing. `seconds` is both together. `wordnet_seconds` is what its own recipe
    would pay on top, to open WordNet through nltk instead of taking a table of candidates.
    """
    began = time.process_time()
    from peer_attacks import build_attack, own_wordnet

    imported = time.process_time()
    import torch
    from textattack.models.wrappers import PyTorchModelWrapper

    build_attack(name, PyTorchModelWrapper(torch.nn.Identity(), list), {})
    built = time.process_time()
    own_wordnet()
    return {
        "seconds": built - began,
        "import_seconds": imported - began,
        "build_seconds": built - imported,
        "wordnet_seconds": time.process_time() - built,
        "versions": versions(),
    }


def limit_threads(threads: int) -> None:
    """Hold the arithmetic and the tokenizer's own thread pool to the same number."""
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"):
        os.environ[name] = str(threads)


def versions() -> dict[str, str]:
    return {"python": sys.version.split()[0]} | {name: version(name) for name in PACKAGES}


if __name__ == "__main__":
    main()
