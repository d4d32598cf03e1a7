"""Mend models that break: the ladder before and after training on variants of a level.

    nice python benchmarks/mend.py     measures what is missing, prints the tables, and writes them
                                       to docs/how-to/harden.md
    python benchmarks/mend.py --table  only prints what was measured

Two models on movie reviews (mr): the zoo's LSTM by `brittle train --adversarial LEVEL`, and a model
of one's own, TF-IDF and logistic regression of scikit-learn, fitted to what `brittle.augment`
returns. The LSTM is trained three times with `rewrite` (seeds 0, 1 and 2), once with other levels.

The number of variants (`copies`) is chosen on the dev split: of those that lose at most one point
of accuracy there, on average, the one with the lowest success at the trained levels. The test split
is attacked with that choice only. Every level is attacked by itself (`auto` with one level), on all
texts, before and after; so the ladder follows, and cases are compared in pairs.

Writes benchmarks/mend.json. A stopped benchmark goes on where it was. If rules, candidates or the
search have changed since, everything is measured again.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from statistics import mean
from typing import Any

import brittle
from brittle.data import Dataset
from brittle.levels import LEVELS
from brittle.metrics.paired import contrast
from brittle.safety.files import versions

OUT = Path(__file__).with_suffix(".json")
PAGE = Path(__file__).parent.parent / "docs" / "how-to" / "harden.md"
OPENING = "<!-- mend: python benchmarks/mend.py writes what stands below -->"
CLOSING = "<!-- end of mend -->"
SOURCES = Path(brittle.__file__).parent
LSTM, OWN = "LSTM-W-Random-1", "TF-IDF + logistic regression"
SEEDS = (f"{LSTM}#1", f"{LSTM}#2")
"""Two more trainings of the LSTM, for the first method: one training alone says little."""
MODELS = (LSTM, *SEEDS, OWN)
PLAIN = "plain"
METHODS = ("rewrite", "careful", "rewrite,careful", "typo")
COPIES = (2, 4, 8)
MOST_LOST = 0.01
WRONG, STANDS, BROKEN = "-", ".", "x"
"""How a text ends, as one character: wrong before any attack, right after it, or broken."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", default=MODELS, choices=MODELS)
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--limit", type=int, help="texts of each split (default: all)")
    parser.add_argument("--runs", type=Path, default=Path("runs") / "mend")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--table", action="store_true", help="print what was measured")
    args = parser.parse_args()
    content: dict[str, Any] = json.loads(args.out.read_text()) if args.out.exists() else {}
    if not args.table:
        made_by = edits_digest()
        if (content.get("made_by"), content.get("limit")) != (made_by, args.limit):
            content = {"data": "mr", "limit": args.limit, "made_by": made_by, "outcomes": {}}
        content["versions"] = versions("brittle", "numpy", "scikit-learn", "torch")
        families = [[LSTM, *SEEDS], [OWN]]
        for family in families:
            measure_family([name for name in family if name in args.models], args, content)
        if args.out == OUT:
            write_page(content)
    print("\n".join([*tables(content), *paired_lines(content)]))


def write_page(content: Mapping[str, Any]) -> None:
    """Put the tables between the two marks of the page."""
    page = PAGE.read_text("utf-8")
    before, after = page.split(OPENING)[0], page.split(CLOSING)[1]
    parts = (before + OPENING, *tables(content))
    PAGE.write_text("\n".join(parts).rstrip() + "\n" + CLOSING + after, "utf-8")


def edits_digest() -> str:
    """Return a digest of the edits that the levels offer, and of the search among them."""
    found = brittle.augment(brittle.data.load("mr", split="dev"), ",".join(LEVELS), copies=4)
    total = sha256("\n".join(f"{one.level} {one.text}" for one in found).encode())
    for name in ("auto.py", "climbing.py"):
        total.update((SOURCES / "attacks" / name).read_bytes())
    return total.hexdigest()[:16]


def measure_family(names: Sequence[str], args: argparse.Namespace, content: dict[str, Any]) -> None:
    """Measure trainings of one model: the plain ones, and those of each method at its best.

    The copies of a method are the same for all trainings, chosen by their means on the dev split.
    """

    def measure(
        name: str, method: str, copies: int, split: str, levels: Sequence[str]
    ) -> Mapping[str, str]:
        key = method if method == PLAIN else f"{method},copies={copies}"
        outcomes = content["outcomes"].setdefault(name, {})
        known = outcomes.setdefault(split, {}).setdefault(key, {})
        missing = [level for level in levels if level not in known]
        if missing:
            target = train(name, method, copies, is_new=(split, known) == ("dev", {}))
            data = brittle.data.load("mr", split=split, limit=args.limit)
            for level in missing:
                known[level] = attack(target, data, level, args.runs)
                args.out.write_text(json.dumps(content, indent=1) + "\n")
            print(name, key, split, {level: success(known[level]) for level in missing}, flush=True)
        return {level: known[level] for level in levels}

    for name in names:
        measure(name, PLAIN, 0, "test", list(LEVELS))
    for method in args.methods:
        trained = method.split(",")
        own = [name for name in names if name not in SEEDS or method == METHODS[0]]
        plain = [measure(name, PLAIN, 0, "dev", trained) for name in own]
        tried = {
            copies: [measure(name, method, copies, "dev", trained) for name in own]
            for copies in COPIES
        }
        best = choose(plain, tried)
        for name in own:
            content.setdefault("copies", {}).setdefault(name, {})[method] = best
            measure(name, method, best, "test", list(LEVELS))
    for name in names:
        content.setdefault("figures", {})[name] = figures(content, name)
    args.out.write_text(json.dumps(content, indent=1) + "\n")


def train(name: str, method: str, copies: int, is_new: bool) -> Any:
    """Train a model; one that another version of the rules may have trained is trained again."""
    is_plain = method == PLAIN
    if name.startswith(LSTM):
        how = None if is_plain else f"{method},copies={copies}"
        seed = int(name.partition("#")[2] or 0)
        return str(brittle.train(LSTM, "mr", seed, adversarial=how, new=is_new and not is_plain))
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    data = brittle.data.load("mr", split="train")
    rows = [(example.fields[0][1], example.label) for example in data]
    if not is_plain:
        rows = [(str(one.text), one.label) for one in brittle.augment("mr", method, copies=copies)]
    return make_pipeline(TfidfVectorizer(), LogisticRegression(max_iter=1000)).fit(*zip(*rows))


def attack(target: Any, data: Dataset, level: str, runs: Path) -> str:
    """Attack all texts at one level; return one character for each."""
    about: dict[str, Any] = {"levels": level, "random_edits": 0, "measures": "none"}
    name = f"{data.split}-{level}-{time.time_ns()}"
    rows = brittle.attack(target, data, "auto", folder=runs, name=name, **about).results()
    order = {case: n for n, case in enumerate(brittle.data.case_ids(data.examples))}
    ends = [WRONG] * len(order)
    for row in rows:
        if row.predicted == row.label:
            ends[order[row.case]] = BROKEN if row.status == "broken" else STANDS
    return "".join(ends)


def accuracy(ends: str) -> float:
    return 1 - ends.count(WRONG) / len(ends)


def success(ends: str) -> float:
    """Return the share of the texts that the model has right which an attack breaks."""
    return round(ends.count(BROKEN) / (len(ends) - ends.count(WRONG)), 4)


def choose(
    plain: Sequence[Mapping[str, str]], tried: Mapping[int, Sequence[Mapping[str, str]]]
) -> int:
    """Return the number of copies that is best on the dev split; the fewest of equal ones.

    Each has one entry for every training: how the texts ended, by trained level.
    """

    def mean_accuracy(trainings: Sequence[Mapping[str, str]]) -> float:
        return mean(accuracy(next(iter(ends.values()))) for ends in trainings)

    def mean_success(trainings: Sequence[Mapping[str, str]]) -> float:
        return mean(success(ends) for own in trainings for ends in own.values())

    least = mean_accuracy(plain) - MOST_LOST - 1e-9
    fair = [copies for copies, own in tried.items() if mean_accuracy(own) >= least]
    if not fair:
        return max(tried, key=lambda copies: mean_accuracy(tried[copies]))
    return min(fair, key=lambda copies: (mean_success(tried[copies]), copies))


def figures(content: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Compute what the tables show of one model, from how every text ended."""
    test = content["outcomes"][name]["test"]
    found = {PLAIN: own_figures(test[PLAIN])}
    for method, copies in content["copies"][name].items():
        own = test[f"{method},copies={copies}"]
        found[method] = {"copies": copies} | own_figures(own) | compared(test[PLAIN], own)
    return found


def own_figures(ends: Mapping[str, str]) -> dict[str, Any]:
    first = next(iter(ends.values()))
    gentler: list[str] = []
    standing = {}
    for level in LEVELS:
        gentler.append(ends[level])
        still = sum(all(end == STANDS for end in text) for text in zip(*gentler))
        standing[level] = round(still / len(first), 4)
    return {
        "texts": len(first),
        "accuracy": round(accuracy(first), 4),
        "success": {level: success(ends[level]) for level in LEVELS},
        "broken": {level: ends[level].count(BROKEN) for level in LEVELS},
        "accuracy_under_attack_up_to": standing,
    }


def compared(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, Any]:
    """Compare two models text by text: which are right, and of those right in both which break."""
    level = next(iter(LEVELS))
    right = contrast([(a != WRONG, b != WRONG) for a, b in zip(before[level], after[level])])
    broken = {}
    for level in LEVELS:
        pairs = [p for p in zip(before[level], after[level]) if WRONG not in p]
        broken[level] = asdict(contrast([(a == BROKEN, b == BROKEN) for a, b in pairs]))
    return {"accuracy_against_plain": asdict(right), "broken_against_plain": broken}


def tables(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield a Markdown table of every model."""
    for name, rows in content.get("figures", {}).items():
        head = ["trained on", "copies", "accuracy", *LEVELS, "after all levels"]
        texts = rows[PLAIN]["texts"]
        yield f"**{name}** ({texts} test sentences): accuracy, the share of the right ones that"
        yield "each level breaks by itself, and the accuracy that is left after all levels."
        yield ""
        yield from lines(head, [table_row(method, row) for method, row in rows.items()])
    yield from mean_lines(content)


def paired_lines(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield a Markdown table of what changed at the trained levels, case by case."""
    yield "At the levels that were trained, on the same sentences (right in both models; McNemar's"
    yield "exact test):"
    yield ""
    head = ["model", "trained on", "level", "broken before → after", "fall"]
    yield from lines([*head, "only before / after", "p"], list(trained_rows(content)))


def mean_lines(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield the means of the trainings of the LSTM, plain and with the first method."""
    trainings = [rows for name, rows in content.get("figures", {}).items() if name != OWN]
    if len(trainings) <= 1:
        return
    means = {
        kind: (
            mean(rows[kind]["accuracy"] for rows in trainings),
            mean(rows[kind]["success"][METHODS[0]] for rows in trainings),
        )
        for kind in (PLAIN, METHODS[0])
    }
    (before, broken), (after, still) = means.values()
    yield f"Means of the {len(trainings)} trainings of the LSTM (seeds 0, 1 and 2), the texts alone"
    yield f"and `{METHODS[0]}`: accuracy {percent(before)} → {percent(after)}, broken by rewrites"
    yield f"{percent(broken)} → {percent(still)}."
    yield ""


def table_row(method: str, row: Mapping[str, Any]) -> list[str]:
    cells = [f"`{method}`" if method != PLAIN else "the texts alone", str(row.get("copies", ""))]
    cells += [percent(row["accuracy"])]
    cells += [percent(row["success"][level]) for level in LEVELS]
    return [*cells, percent(row["accuracy_under_attack_up_to"][list(LEVELS)[-1]])]


def trained_rows(content: Mapping[str, Any]) -> Iterator[list[str]]:
    for name, rows in content.get("figures", {}).items():
        for method, row in rows.items():
            for level in method.split(",") if method != PLAIN else ():
                before, after = rows[PLAIN]["success"][level], row["success"][level]
                pairs = row["broken_against_plain"][level]
                fall = f"{100 * (1 - after / before):.0f}%".replace("-", "−")
                own = f"{percent(before)} → {percent(after)}"
                only = f"{pairs['only_a']} / {pairs['only_b']}"
                yield [name, f"`{method}`", f"`{level}`", own, fall, only, f"{pairs['p']:.1g}"]


def lines(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for cells in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(cells)} |"
    yield ""


def percent(value: float) -> str:
    return f"{100 * value:.1f}%"


if __name__ == "__main__":
    main()
