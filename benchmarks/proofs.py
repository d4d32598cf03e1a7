"""Hold closed form and interval bounds against exhaustive search, and attacks against the proof.

    nice python benchmarks/proofs.py [--limit 200] [--runs FOLDER]

Writes benchmarks/proofs.json, in three parts. `closed_form`: verdicts of the closed form and of
plain exhaustive search with 1, 2 and 3 words on naive Bayes, case by case. `attacks`: on additive
models, how many of the cases that can be broken at all, by any number of swaps, PWWS and the
genetic algorithm break, how many with at most 1, 2 or 3 words, and with how many words more than
are needed. `bounds`: how far interval bounds decide the cases of networks without asking.
Candidates are those of the papers. A run that is there is not made again.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

import brittle
from brittle.attacks.exhaustive import BY_BOUNDS
from brittle.metrics.summary import ATTACKED, rate, robust_to_words
from brittle.results import Result
from brittle.safety.files import versions

OUT = Path(__file__).with_suffix(".json")
ADDITIVE = ("naive-bayes", "linear-svm")
NETWORKS = ("CNN-W-Random-1", "LSTM-W-Random-1")
SINGLE = ("pwws", "genetic")
ANY_NUMBER = 1000
"""More words than any sentence has."""
MAX_SPACE = 3_000_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=int, default=200)
    parser.add_argument("--exhaustive", type=int, default=60, help="examples of plain search")
    parser.add_argument("--runs", type=Path, default=Path("runs") / "proofs-benchmark")
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args()
    content: dict[str, Any] = {
        "data": "mr",
        "split": "test",
        "versions": versions("brittle", "numpy", "torch"),
    }
    parts = (
        ("closed_form", lambda: closed_form(args.exhaustive, args.runs)),
        ("attacks", lambda: {n: attacks(n, args.limit, args.runs) for n in ADDITIVE}),
        ("bounds", lambda: {n: bounds(n, args.exhaustive, args.runs) for n in NETWORKS}),
    )
    for name, measure in parts:
        content[name] = measure()
        args.out.write_text(json.dumps(content, indent=1) + "\n")
        print(name, json.dumps(content[name], indent=1), flush=True)


def search(target: str, limit: int, runs: Path, words: int, **settings: Any) -> list[Result]:
    """Run the exhaustive attack, or return the rows of a run that is there."""
    with_bounds = "bounds" if settings.get("bounds", True) else "plain"
    name = f"{target}-{with_bounds}-{words}-{limit}"
    about = {"limit": limit, "folder": runs, "name": name, "words": words, "candidates": "paper"}
    return brittle.attack(f"zoo:{target}@mr", "mr", "exhaustive", **about, **settings).results()


def closed_form(limit: int, runs: Path) -> dict[str, Any]:
    """Compare the verdicts on naive Bayes; of broken cases the words that are needed, too."""
    compared = {}
    for words in (1, 2, 3):
        exact = search("naive-bayes", limit, runs, words)
        plain = search("naive-bayes", limit, runs, words, bounds=False, max_space=MAX_SPACE)
        compared[words] = {
            "cases": len(plain),
            "attacked": sum(row.status in ATTACKED for row in plain),
            "agree": sum(verdict(a) == verdict(b) for a, b in zip(exact, plain, strict=True)),
            "verdicts": dict(Counter(row.status for row in plain)),
            "texts_asked": sum(row.queries for row in plain),
            "texts_asked_by_closed_form": sum(row.queries for row in exact),
        }
    return {"target": "naive-bayes", "limit": limit, "by_words": compared}


def verdict(row: Result) -> tuple[str, str, int]:
    return row.case, row.status, row.words_changed if row.status == "broken" else 0


def attacks(target: str, limit: int, runs: Path) -> dict[str, Any]:
    """Measure how near attacks come to the proof: what can be broken, and with how few words."""
    proof = {row.case: row for row in search(target, limit, runs, ANY_NUMBER)}
    breakable = [row for row in proof.values() if row.status == "broken"]
    found: dict[str, Any] = {}
    for attack in SINGLE:
        about: dict[str, Any] = {"limit": limit, "share": 1.0, "folder": runs}
        about |= {"candidates": "paper"}
        run = brittle.attack(f"zoo:{target}@mr", "mr", attack, name=f"{target}-{attack}", **about)
        found[attack] = against_proof(run.results(), proof)
    return {
        "limit": limit,
        "attacked": sum(row.status in ATTACKED for row in proof.values()),
        "can_be_broken": len(breakable),
        "proved": sum(row.status == "proved" for row in proof.values()),
        "words_needed": round(mean(row.words_changed for row in breakable), 2),
        "queries_of_proof": round(mean(row.queries for row in breakable), 2),
        "attacks": found,
    }


def against_proof(rows: Sequence[Result], proof: dict[str, Result]) -> dict[str, Any]:
    broken = [row for row in rows if row.status == "broken"]
    breakable = [row for row in rows if proof[row.case].status == "broken"]
    share = rate(len(broken), len(breakable), "cases that can be broken")
    more = [row.words_changed - proof[row.case].words_changed for row in broken]
    return {
        "broken": len(broken),
        "share_of_breakable": round(share.value or 0.0, 4),
        "interval": [round(share.low or 0.0, 4), round(share.high or 0.0, 4)],
        "beyond_the_proof": sum(proof[row.case].status == "proved" for row in broken),
        "words_more_than_needed": round(mean(more), 2),
        "with_fewest_words": sum(extra == 0 for extra in more),
        "fewer_words_than_possible": sum(extra < 0 for extra in more),
        "within_words": {
            words: [sum(row.words_changed <= words for row in broken), count]
            for words, count in breakable_within(proof).items()
        },
        "queries": round(mean(row.queries for row in rows if row.status in ATTACKED), 1),
    }


def breakable_within(proof: dict[str, Result]) -> dict[int, int]:
    """Count the cases that can be broken with at most so many words."""
    needed = [row.words_changed for row in proof.values() if row.status == "broken"]
    return {words: sum(count <= words for count in needed) for words in (1, 2, 3)}


def bounds(target: str, limit: int, runs: Path) -> dict[str, Any]:
    """Measure how much of the search interval bounds save, with the same verdicts."""
    compared = {}
    for words in (1, 2):
        bounded = search(target, limit, runs, words)
        plain = search(target, limit, runs, words, bounds=False, max_space=MAX_SPACE)
        proved = [row for row in bounded if row.status == "proved"]
        robust = robust_to_words(plain)[words - 1]
        compared[words] = {
            "cases": len(plain),
            "agree": sum(verdict(a) == verdict(b) for a, b in zip(bounded, plain, strict=True)),
            "robust": [robust.proved.count, robust.unbroken.count, len(plain)],
            "proved": len(proved),
            "proved_without_asking": sum(row.reason == BY_BOUNDS for row in proved),
            "texts_asked": sum(row.queries for row in plain),
            "texts_asked_with_bounds": sum(row.queries for row in bounded),
        }
    return {"limit": limit, "by_words": compared}


if __name__ == "__main__":
    main()
