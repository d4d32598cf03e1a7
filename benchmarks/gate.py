"""How often the gate fails, passes, or cannot tell: planted drops, and pairs without any.

Rows are drawn, not attacked: two versions of a model share how hard a case is, and differ by chance
on about a tenth of the cases. A planted drop changes so many points of the cases more: right ones
become wrong without edits (clean accuracy), or cases that held break (robustness). The last check
plants a drop of 5 points in as many cases as the gate asked for when it could not tell.

`--models` adds real pairs: classifiers of film reviews, fitted on two halves of the texts, and on
few of them.

    python benchmarks/gate.py [--pairs 60] [--many 2000] [--models]
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from brittle.metrics.regression import cases_for, paired_questions, worst
from brittle.metrics.samples import sample_results
from brittle.results import Result

CASES = 200
CLEAN, STANDING = 0.9, 0.5
NOISE = 0.1
DROPS = (0.05, 0.10, 0.20)
BROKEN, HELD, WRONG = (sample_results()[number] for number in (0, 3, 5))


def drawn_pair(random: Random, cases: int, drop: float, plant: str) -> tuple[list[Result], ...]:
    """Draw the rows of two versions; `plant` is where the second one loses `drop` of the cases."""
    ease = [(random.random(), random.random()) for _ in range(cases)]
    old, new = ([_outcome(random, *it) for it in ease] for _ in range(2))
    planted = random.sample(range(cases), cases)
    left = round(drop * cases)
    for number in planted:
        if left and new[number] != "wrong" and (plant == "clean" or new[number] == "held"):
            new[number] = "wrong" if plant == "clean" else "broken"
            left -= 1
    return _rows(old), _rows(new)


def _outcome(random: Random, clean: float, standing: float) -> str:
    """Draw how a case ends: with a small chance a version does not go by the ease of the case."""
    clean, standing = (
        random.random() if random.random() < 2 * NOISE else x for x in (clean, standing)
    )
    if clean > CLEAN:
        return "wrong"
    return "held" if standing < STANDING else "broken"


def _rows(outcomes: list[str]) -> list[Result]:
    rows = {"wrong": WRONG, "held": HELD, "broken": BROKEN}
    return [replace(rows[it], case=f"{n:016x}") for n, it in enumerate(outcomes)]


def shares(pairs: int, cases: int, drop: float, plant: str, seed: int) -> dict[str, Any]:
    """Return how often each outcome is the verdict, over so many drawn pairs."""
    random = Random(f"{seed}:{cases}:{drop}:{plant}")
    counts: Counter[str] = Counter()
    named: Counter[str] = Counter()
    for _ in range(pairs):
        asked = paired_questions(*drawn_pair(random, cases, drop, plant))
        counts[worst([one.outcome for one in asked])] += 1
        named.update(one.name for one in asked if one.outcome == "fail")
    return {
        "planted": plant,
        "drop": drop,
        "cases": cases,
        "pairs": pairs,
        **{name: round(counts[name] / pairs, 4) for name in ("fail", "pass", "cannot tell")},
        "fail by question": {name: round(n / pairs, 4) for name, n in sorted(named.items())},
    }


def needed(pairs: int, seed: int) -> dict[str, Any]:
    """Plant 5 points in as many cases as are said to find them with a probability of 80 %."""
    random = Random(seed)
    rows = [drawn_pair(random, 2000, 0, "robustness") for _ in range(5)]
    discordant = [
        (one.worse + one.better) / one.cases for pair in rows for one in paired_questions(*pair)[2:]
    ]
    cases = cases_for(sum(discordant) / len(discordant), 0.05, 0.025)
    return {"said to suffice": cases} | shares(pairs, cases, 0.05, "robustness", seed)


def real_pair() -> Iterator[dict[str, Any]]:
    """Attack three classifiers of film reviews: of two halves of the texts, and of few of them."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    import brittle

    train = brittle.data.load("mr", split="train").take(6800, 0).examples
    texts, labels = [dict(e.fields)["text"] for e in train], [str(e.label) for e in train]
    test = brittle.data.load("mr")
    with tempfile.TemporaryDirectory() as folder:

        def run(name: str, first: int, last: int) -> Any:
            model = make_pipeline(TfidfVectorizer(), LogisticRegression())
            model.fit(texts[first:last], labels[first:last])
            return brittle.attack(
                *(model, test, "pwws"),
                limit=CASES,
                name=name,
                folder=folder,
                progress=False,
                measures=False,
            )

        old = run("first-half", 0, 3400)
        for new in (run("second-half", 3400, 6800), run("few-texts", 3400, 3600)):
            verdict = brittle.gate(old, new)
            print(verdict)
            yield {"new": verdict.new, **{k: verdict.plain()[k] for k in ("outcome", "reason")}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=60)
    parser.add_argument("--many", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--models", action="store_true")
    args = parser.parse_args()
    rows = [shares(args.pairs, CASES, 0, "nothing", args.seed)]
    rows += [
        shares(args.pairs, CASES, d, p, args.seed) for p in ("robustness", "clean") for d in DROPS
    ]
    found: dict[str, Any] = {
        "pairs": rows,
        "false alarms, many pairs": [
            shares(args.many, n, 0, "nothing", args.seed + 1) for n in (50, CASES, 1000)
        ],
        "cases said to be needed": needed(args.many // 4, args.seed + 2),
    }
    out = Path(__file__).with_suffix(".json")
    before = json.loads(out.read_text()) if out.exists() else {}
    found["real pairs"] = list(real_pair()) if args.models else before.get("real pairs", [])
    out.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
