"""Draw broken cases of three presets of candidates, blinded, for a reader to judge.

    python benchmarks/validity_sample.py --out FOLDER [--count 200] [--seed 0]

PWWS attacks three targets on MR with the candidates paper, careful and strict: as many texts of the
test split, then of the dev split, as give enough broken cases. FOLDER then holds

    sheet.jsonl   the cases in random order, without preset and target: id, label, original,
                  adversarial, and the adversarial text with its edits marked as [old→new]
    key.json      by id: preset, target, split, case id, words changed, similarity, fluency
    success.json  success of every target and preset, with its interval, as measured

The table of the last one in docs/explanation/ladder.md is printed. `--success FILE` also
writes it to FILE: benchmarks/validity_success.json was written so.

A sheet is drawn by the seed alone: the same runs give the same sheet. It holds sentences of MR, so
it is not for publication; the key is.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from random import Random

import brittle
from brittle.edits import Edit
from brittle.metrics.summary import summary
from brittle.results import Result
from brittle.training import find
from judged_sample import success_table

TARGETS = ("zoo:LSTM-W-Random-1@mr", "zoo:naive-bayes@mr")
THIRD = ("zoo:MiniLM@mr", "zoo:CNN-W-Random-1@mr")
"""The first of these if it is trained already, else the second."""
PRESETS = ("paper", "careful", "strict")
SPLITS = ("test", "dev")
TEXTS = {"paper": 200}
"""How many texts are attacked of a split; all of it, if nothing is said."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--count", type=int, default=200, help="cases of each preset")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--success", type=Path, metavar="FILE")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    targets = (*TARGETS, third_target())
    drawn, success = [], {}
    for preset in PRESETS:
        pools = {}
        for target in targets:
            share = -(-args.count // len(targets))
            rows, figures = broken_cases(target, preset, share, args.out / "runs")
            success[f"{target} {preset}"] = figures
            pools[target] = rows
        chosen = draw(pools, args.count, Random(f"{args.seed}:{preset}"))
        print(f"{preset}: {len(chosen)} of {sum(map(len, pools.values()))} broken cases")
        drawn += [(preset, target, split, row) for target, split, row in chosen]
    Random(args.seed).shuffle(drawn)
    write(args.out, drawn, success)
    print("\n".join(success_table(success)))
    if args.success is not None:
        args.success.write_text(json.dumps(success, indent=1) + "\n", "utf-8")


def third_target() -> str:
    """Return the target that is trained already, else the one that is trained in a minute."""
    return THIRD[0] if find("MiniLM", "mr") is not None else THIRD[-1]


def broken_cases(
    target: str, preset: str, enough: int, folder: Path
) -> tuple[list[tuple[str, Result]], dict[str, object]]:
    """Attack splits until there are enough broken cases; return them, and the success on test."""
    rows: list[tuple[str, Result]] = []
    figures: dict[str, object] = {}
    for split in SPLITS:
        if len(rows) >= enough:
            break
        run = brittle.attack(
            target,
            brittle.data.load("mr", split=split),
            "pwws",
            candidates=preset,
            limit=TEXTS.get(preset),
            name=f"{target.partition(':')[2].partition('@')[0]}-{preset}-{split}",
            folder=folder,
        )
        results = run.results()
        figures = figures or {
            name: asdict(getattr(summary(results), name)) for name in ("success", "after", "words")
        }
        rows += [(split, row) for row in results if row.status == "broken"]
        count = sum(row.status == "broken" for row in results)
        print(f"{target} {preset} {split}: {count} broken", flush=True)
    return rows, figures


def draw(
    pools: dict[str, list[tuple[str, Result]]], count: int, rng: Random
) -> list[tuple[str, str, Result]]:
    """Draw cases from the targets in turn, so that each has its share as long as it has cases."""
    for rows in pools.values():
        rng.shuffle(rows)
    chosen: list[tuple[str, str, Result]] = []
    for turn in range(max(map(len, pools.values()))):
        for target, rows in pools.items():
            if turn < len(rows) and len(chosen) < count:
                chosen.append((target, *rows[turn]))
    return chosen


def write(
    folder: Path, drawn: list[tuple[str, str, str, Result]], success: dict[str, object]
) -> None:
    """Write the sheet, its key, and the success of every run."""
    key = {}
    with (folder / "sheet.jsonl").open("w", encoding="utf-8") as sheet:
        for number, (preset, target, split, row) in enumerate(drawn, 1):
            name = f"s{number:03}"
            shown = {"id": name, "label": row.label, "original": row.original}
            shown |= {"adversarial": row.adversarial, "marked": marked(row.original, row.edits)}
            sheet.write(json.dumps(shown, ensure_ascii=False) + "\n")
            key[name] = {"preset": preset, "target": target, "split": split, "case": row.case}
            key[name] |= {"words_changed": row.words_changed}
            key[name] |= {"similarity": row.similarity, "fluency": row.fluency}
    for file, content in (("key.json", key), ("success.json", success)):
        (folder / file).write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    print(f"{folder / 'sheet.jsonl'}: {len(drawn)} cases")


def marked(original: str, edits: tuple[Edit, ...]) -> str:
    """Write the original with every edit as [old→new]."""
    parts, end = [], 0
    for edit in sorted(edits, key=lambda edit: edit.start):
        parts += [original[end : edit.start], f"[{edit.old}→{edit.new}]"]
        end = edit.stop
    return "".join([*parts, original[end:]])


if __name__ == "__main__":
    main()
