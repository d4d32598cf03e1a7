"""Try to break brittle: kills, lying endpoints, damaged files, scripts, malformed command lines.

    python benchmarks/torture.py [--quick] [--only kills,files] [--seed 0] [--json FILE]

A hundred kills over attack, train, transfer, report and export, 8 targets that a text kills, 40
endpoints on loopback that lie, 15 proxies that lie or drip, 200 names of runs to complete, 60
damaged files, 660 mutations of what brittle stores, 27 files made to fill the memory, to hang or to
start a program, 58 scripts in the pages (seen in headless Chromium, if it is installed) and 300
malformed command lines. Nothing finished may be lost or torn, nothing may hang, run a script, leak
a password, or end in a traceback; a malformed file is named, and hides no others. --quick tries a
part of each.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path

from hostile.bombs import BOMBS, hostile_files
from hostile.command_lines import command_lines
from hostile.damage import damaged_files
from hostile.endpoints import LIES, lying_endpoints
from hostile.killed import COMMANDS, DEATHS, attack_kills, command_kills, deadly_texts
from hostile.names import hostile_names
from hostile.part import Part
from hostile.payloads import FORMS, script_payloads
from hostile.proxies import hostile_proxies
from hostile.stored import stored_files

Trial = Callable[[Path, int, int], Part]
PARTS: Mapping[str, tuple[Trial, int, int]] = {
    "kills-attack": (attack_kills, 20, 5),
    **{
        f"kills-{name}": (
            partial(lambda name, folder, n, seed: command_kills(folder, name, n, seed), name),
            20,
            2,
        )
        for name in COMMANDS
    },
    "deaths": (deadly_texts, len(DEATHS), 1),
    "endpoints": (lying_endpoints, len(LIES), 8),
    "proxies": (hostile_proxies, 15, 5),
    "names": (hostile_names, 200, 40),
    "files": (damaged_files, 60, 26),
    "stored": (stored_files, 660, 66),
    "files-hostile": (hostile_files, len(BOMBS), 7),
    "scripts": (script_payloads, len(FORMS), len(FORMS)),
    "lines": (command_lines, 300, 60),
}
"""The parts by name: the function, how many trials the whole torture has, and the quick one."""


def main() -> int:
    """Run the parts, print a table, and say by the exit code whether all holds."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a part of every trial")
    parser.add_argument("--only", default="", help=f"parts, of {', '.join(PARTS)}, by their start")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", metavar="FILE", help="also write what was found as JSON")
    args = parser.parse_args()
    os.environ.setdefault("BRITTLE_MEASURES", "fluency")  # MiniLM takes seconds to load
    only = tuple(args.only.split(",")) if args.only else ("",)
    found: list[Part] = []
    with tempfile.TemporaryDirectory(prefix="brittle-torture-") as folder:
        print(f"{'part':<26}{'tried':>7}{'failed':>8}{'seconds':>9}", flush=True)
        for name, (trial, whole, quick) in PARTS.items():
            if name.startswith(only):
                place = Path(folder) / name
                os.environ["BRITTLE_CACHE"] = str(place / "cache")
                found.append(_tried(trial, name, place, quick if args.quick else whole, args.seed))
                print(_line(found[-1]), flush=True)
    for part in found:
        for failure in part.failures:
            print(f"  {part.name}: {failure}")
    if args.json:
        Path(args.json).write_text(json.dumps([asdict(p) for p in found], indent=1) + "\n", "utf-8")
    held, tried = all(part.holds for part in found), sum(part.tried for part in found)
    skipped = "".join(f", {part.name} skipped: {part.skipped}" for part in found if part.skipped)
    seconds = sum(part.seconds for part in found)
    word = "all hold" if held else "NOT ALL HOLD"
    print(f"{tried} trials in {seconds:.0f} s{skipped}: {word}")
    return 0 if held else 1


def _tried(trial: Trial, name: str, place: Path, count: int, seed: int) -> Part:
    """Run a part; one that cannot be run at all has failed."""
    try:
        return trial(place, count, seed)
    except Exception as error:  # whatever it is, the other parts are still of use
        return Part(name, count, failures=[f"{type(error).__name__}: {error}"])


def _line(part: Part) -> str:
    word = "  skipped" if part.skipped else "" if part.holds else "  FAILED"
    return f"{part.name:<26}{part.tried:>7}{len(part.failures):>8}{part.seconds:>9.1f}{word}"


if __name__ == "__main__":
    sys.exit(main())
