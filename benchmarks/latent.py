"""Search in a generator's latent space: its rate beside bare networks, and its searches compared.

    python benchmarks/latent.py [--generator WGAN@mnist] [--digits 10] [--runs FOLDER] [--rate-only]

`rate`: samples decoded and classified per second by the attack natural, with everything that a run
does, beside the bare generator and classifier on random points at their best batch size. Both are
timed by turns in one process and over as many samples, in seconds of the processor, of all threads
together, so that other programs on the machine count little, and by the clock, by which a run may
win: it decodes in as many threads as there are cores. The best times count. The ratio of CPU times
should be 0.8 or more. The run looks for one class, so that hardly any case is skipped for its
reconstruction.

`searches`: hybrid, iterative and uniform search on the same digits (10 of each class), N = 500,
Δr = 0.01, without labels: the reference is the target's own prediction. Uniform search has as many
queries as hybrid needs on average. Cases whose reconstruction is seen as another class are counted
apart. The queries of hybrid over those of iterative are also shown for thirds of the cases, by
distance. The runs are in a folder, and the same command resumes them. Writes latent.json; the
targets are trained if they are missing, the generator is not.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from brittle import data
from brittle.data import Dataset
from brittle.generators import open_generator
from brittle.opening import load_zoo
from brittle.runs.runner import attack
from brittle.studies.latent_searches import (
    SearchSettings,
    costs,
    of_each_class,
    rows_of,
    run_searches,
    search_figures,
)

RESULTS = Path(__file__).with_suffix(".json")
TARGETS = ("LeNet@mnist", "forest@mnist")
SAMPLES, STEP, RADIUS = 500, 0.01, 10.0
BATCHES = (64, 128, 256, 512, 1024)
RATE_CASES, RATE_SHELLS, RATE_SAMPLES = 8, 10, 512


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--generator", default="WGAN@mnist")
    parser.add_argument("--targets", default=",".join(TARGETS))
    parser.add_argument("--data", default="mnist")
    parser.add_argument("--digits", type=int, default=10, help="pictures of each class")
    parser.add_argument("--samples", type=int, default=SAMPLES, help="N: points of a shell")
    parser.add_argument("--step", type=float, default=STEP, help="Δr: the width of a shell")
    parser.add_argument("--refine", type=int, default=0, help="steps of descent towards a picture")
    parser.add_argument("--repeats", type=int, default=5, help="times that each rate is measured")
    parser.add_argument("--rate-only", action="store_true", help="print the rates, and no more")
    parser.add_argument("--runs", type=Path, default=Path("runs"), help="the folder of the runs")
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    chosen = of_each_class(data.load(args.data), args.digits)
    done: dict[str, Any] = {"generator": args.generator, "pictures": len(chosen), "targets": {}}
    distances: dict[str, dict[str, float]] = {}
    for name in args.targets.split(","):
        if args.rate_only:
            print(name, json.dumps(measure_rate(args, name, chosen)), flush=True)
            continue
        searches, distances[name] = compare_searches(args, name, chosen)
        done["targets"][name] = {"rate": measure_rate(args, name, chosen), "searches": searches}
        args.out.write_text(json.dumps(done, indent=1, ensure_ascii=False) + "\n", "utf-8")
        print(name, json.dumps(done["targets"][name], ensure_ascii=False), flush=True)
    if len(distances) > 1:
        first, second = list(distances)[:2]
        done["sign test"] = sign_test(first, distances[first], second, distances[second])
        args.out.write_text(json.dumps(done, indent=1, ensure_ascii=False) + "\n", "utf-8")
        print(done["sign test"])


def compare_searches(
    args: argparse.Namespace, name: str, chosen: Dataset
) -> tuple[dict[str, Any], dict[str, float]]:
    """Run the three searches; return their figures, and hybrid's distance of every case."""
    settings = SearchSettings(args.generator, args.samples, args.step, RADIUS, args.refine)
    short = f"latent-{name.partition('@')[0]}"
    rows = rows_of(run_searches(f"zoo:{name}", chosen, settings, args.runs, short))
    return search_figures(rows), costs(rows["hybrid"])


def sign_test(
    first: str, of_first: Mapping[str, float], second: str, of_second: Mapping[str, float]
) -> dict[str, Any]:
    """Count the cases where a target's distance is the smaller; the p-value is one-sided."""
    common = of_first.keys() & of_second.keys()
    smaller = sum(of_second[case] < of_first[case] for case in common)
    untied = sum(of_second[case] != of_first[case] for case in common)
    p = sum(math.comb(untied, n) for n in range(smaller, untied + 1)) / 2**untied
    return {f"{second} below {first}": smaller, "of": untied, "p": p}


def measure_rate(args: argparse.Namespace, name: str, chosen: Dataset) -> dict[str, Any]:
    """Time the run and the bare networks by turns."""
    generator: Any = open_generator(args.generator)
    target = load_zoo(f"zoo:{name}")
    cases = replace(chosen, examples=chosen.examples[:: max(1, len(chosen) // RATE_CASES)])
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
            samples=RATE_SAMPLES,
            shells=RATE_SHELLS,
            radius=1.0,
            toward=target.labels[0],
            folder=folder,
        )
        return sum(row.queries for row in run.results())


if __name__ == "__main__":
    main()
