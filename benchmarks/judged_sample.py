"""Count what a judge said of the blinded sample: how much each preset of candidates keeps.

    python benchmarks/judged_sample.py FOLDER VERDICTS

FOLDER is what benchmarks/validity_sample.py wrote. VERDICTS has one line of JSON for every case of
its sheet: {"id": "s001", "label": true, "meaning": true, "grammar": false}. The guidelines stand in
docs/explanation/ladder.md. Writes benchmarks/judged_sample.json, without the sentences, and
prints the tables of that page. The verdicts that are committed are a language model's; no people
have judged the sample.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from brittle.formatting import percent
from brittle.metrics import product_of_rates
from brittle.metrics.summary import Figure, rate

OUT = Path(__file__).with_suffix(".json")
PARTS = ("label", "meaning", "grammar")
PRESETS = ("paper", "careful", "strict")
Verdicts = Mapping[str, Mapping[str, bool]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("verdicts", type=Path, metavar="VERDICTS")
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args()
    key = json.loads((args.folder / "key.json").read_text("utf-8"))
    success = json.loads((args.folder / "success.json").read_text("utf-8"))
    verdicts = load(args.verdicts, key)
    kept = {preset: shares(key, verdicts, preset) for preset in PRESETS}
    pooled = {preset: pooled_success(success, preset) for preset in PRESETS}
    valid = {p: product_of_rates(pooled[p], kept[p]["all"], "attacked cases") for p in PRESETS}
    content: dict[str, Any] = {
        "presets": {
            preset: {
                **{name: asdict(figure) for name, figure in kept[preset].items()},
                "success": asdict(pooled[preset]),
                "valid_success": asdict(valid[preset]),
            }
            for preset in PRESETS
        },
        "success": success,
        "cases": {name: entry | dict(verdicts[name]) for name, entry in key.items()},
    }
    args.out.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    print("\n".join([*kept_table(kept, pooled, valid), "", *success_table(success)]))


def load(file: Path, key: Mapping[str, Any]) -> Verdicts:
    """Read the verdicts; each case of the sheet must have one, and nothing else may."""
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip()]
    verdicts = {row["id"]: {part: bool(row[part]) for part in PARTS} for row in rows}
    if set(verdicts) != set(key) or len(rows) != len(key):
        missing, other = sorted(set(key) - set(verdicts)), sorted(set(verdicts) - set(key))
        sys.exit(f"Got {len(rows)} verdicts on {len(key)} cases; missing {missing}, other {other}.")
    return verdicts


def shares(key: Mapping[str, Any], verdicts: Verdicts, preset: str) -> dict[str, Figure]:
    """Return how many cases of a preset keep each part, and all of them."""
    own = [verdicts[name] for name, entry in key.items() if entry["preset"] == preset]
    over = "broken cases read"
    kept = {part: rate(sum(one[part] for one in own), len(own), over) for part in PARTS}
    return kept | {"all": rate(sum(all(one.values()) for one in own), len(own), over)}


def pooled_success(success: Mapping[str, Any], preset: str) -> Figure:
    """Return the success over the cases of all targets."""
    own = [one["success"] for name, one in success.items() if name.endswith(f" {preset}")]
    return rate(sum(one["count"] for one in own), sum(one["of"] for one in own), "attacked cases")


def kept_table(
    kept: Mapping[str, Mapping[str, Figure]],
    pooled: Mapping[str, Figure],
    valid: Mapping[str, Figure],
) -> list[str]:
    head = ("candidates", "read", *(f"{part} kept" for part in PARTS), "all three", "success")
    rows = [
        [
            f"`{preset}`",
            str(kept[preset]["all"].of),
            *(percent(kept[preset][part].value) for part in PARTS),
            shown(kept[preset]["all"]),
            shown(pooled[preset]),
            shown(valid[preset]),
        ]
        for preset in PRESETS
    ]
    return table((*head, "success × all three"), rows)


def success_table(success: Mapping[str, Any]) -> list[str]:
    targets = dict.fromkeys(name.rpartition(" ")[0] for name in success)
    rows = [
        [
            target.removeprefix("zoo:"),
            *(shown(Figure(**success[f"{target} {preset}"]["success"])) for preset in PRESETS),
        ]
        for target in targets
    ]
    return table(("target", *(f"`{preset}`" for preset in PRESETS)), rows)


def shown(figure: Figure) -> str:
    interval = f"{percent(figure.low).removesuffix('%')}–{percent(figure.high)}"
    return f"{percent(figure.value)} ({interval})"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(cells)} |" for cells in lines]


if __name__ == "__main__":
    main()
