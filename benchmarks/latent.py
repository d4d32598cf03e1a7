"""Search in a generator's latent space: its rate beside bare networks.

    python benchmarks/latent.py [--generator WGAN@mnist] [--targets LeNet@mnist,forest@mnist]

Samples decoded and classified per second by the attack natural, with everything that a run does,
beside the bare generator and classifier on random points at their best batch size. Both are timed
by turns in one process and over as many samples, in seconds of the processor, of all threads
together, so that other programs on the machine count little, and by the clock, by which a run may
win: it decodes in as many threads as there are cores. The best times count. The ratio of CPU times
should be 0.8 or more. The run looks for one class, so that hardly any case is skipped for its
reconstruction. Writes latent.json; the targets are trained if they are missing, the generator is
not. The searches are compared by `brittle papers natural`.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from brittle import data
from brittle.data import Dataset
from brittle.generators import open_generator
from brittle.opening import load_zoo
from brittle.runs.runner import attack
from brittle_papers.natural.searches import of_each_class

RESULTS = Path(__file__).with_suffix(".json")
TARGETS = ("LeNet@mnist", "forest@mnist")
BATCHES = (64, 128, 256, 512, 1024)
CASES, SHELLS, SAMPLES = 8, 10, 512


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--generator", default="WGAN@mnist")
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--data", default="mnist")
    parser.add_argument("--repeats", type=int, default=5, help="times that each rate is measured")
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    pictures = of_each_class(data.load(args.data), 1)
    done: dict[str, Any] = {"generator": args.generator, "targets": {}}
    for name in args.targets.split(","):
        done["targets"][name] = measure_rate(args, name, pictures)
        print(name, json.dumps(done["targets"][name]), flush=True)
        args.out.write_text(json.dumps(done, indent=1) + "\n", "utf-8")


def measure_rate(args: argparse.Namespace, name: str, pictures: Dataset) -> dict[str, Any]:
    """Time the run and the bare networks by turns."""
    generator: Any = open_generator(args.generator)
    target = load_zoo(f"zoo:{name}")
    cases = replace(pictures, examples=pictures.examples[:CASES])
    in_engine(args, target, cases)  # what is done once is not measured
    cpu: dict[str, float] = {}
    clock: dict[str, float] = {}
    for _ in range(args.repeats):
        count = time_samples("engine", lambda: in_engine(args, target, cases), cpu, clock)
        for batch in BATCHES:
            call = partial(bare, generator, target, batch, count)
            time_samples(f"bare {batch}", call, cpu, clock)
    generator.close()
    target.close()
    fastest = min(BATCHES, key=lambda batch: cpu[f"bare {batch}"])
    by_clock = min(BATCHES, key=lambda batch: clock[f"bare {batch}"])
    return {
        "engine per CPU second": round(1 / cpu["engine"]),
        "bare per CPU second": round(1 / cpu[f"bare {fastest}"]),
        "bare batch": fastest,
        "ratio": round(cpu[f"bare {fastest}"] / cpu["engine"], 3),
        "engine per second": round(1 / clock["engine"]),
        "bare per second": round(1 / clock[f"bare {by_clock}"]),
        "ratio by the clock": round(clock[f"bare {by_clock}"] / clock["engine"], 3),
    }


def time_samples(
    way: str, call: Callable[[], int], cpu: dict[str, float], clock: dict[str, float]
) -> int:
    """Note the seconds for each sample, if they are the fewest so far; return the samples."""
    start, start_clock = time.process_time(), time.perf_counter()
    count = call()
    cpu[way] = min(cpu.get(way, math.inf), (time.process_time() - start) / count)
    clock[way] = min(clock.get(way, math.inf), (time.perf_counter() - start_clock) / count)
    return count


def bare(generator: Any, target: Any, batch: int, count: int) -> int:
    """Decode random points and classify the pictures, as plainly as it can be done."""
    import torch

    network = getattr(target.model, "network", None)
    with torch.no_grad():
        for start in range(0, count, batch):
            pictures = generator.decoder(torch.randn(min(batch, count - start), generator.size))
            if network is not None:
                network(pictures).double().softmax(dim=1).numpy()
            else:
                flat = pictures.permute(0, 2, 3, 1).reshape(len(pictures), -1)
                target.model.probabilities(flat.numpy())
    return count


def in_engine(args: argparse.Namespace, target: Any, cases: Dataset) -> int:
    """Attack cases by uniform search, which asks the same number of queries about every one."""
    with tempfile.TemporaryDirectory() as folder:
        run = attack(
            target,
            cases,
            "natural",
            generator=args.generator,
            search="uniform",
            samples=SAMPLES,
            shells=SHELLS,
            radius=1.0,
            toward=target.labels[0],
            folder=folder,
        )
        return sum(row.queries for row in run.results())


if __name__ == "__main__":
    main()
