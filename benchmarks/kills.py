"""Kill runs at random moments, resume them, and compare with a run nobody disturbed.

    python benchmarks/kills.py [--kills 100] [--seed 0] [--json FILE]

An HTTP server on loopback, a process of its own, writes down every text it is asked. `brittle
attack` runs against it once undisturbed, and once, against a second server and in another folder,
killed with SIGKILL and started again until it completes. Then: the same rows and steps, nothing
stored is ever lost, and at most the requests under way at each kill are asked twice. A second part
does the same with a function in the process: what it had finished is not done again.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import counting
from counting import DELAY, Log, scores

CONCURRENCY, BATCH = 2, 8

WORDS = re.findall(
    r"\w+",
    """
    good bad great poor fine dull bright dark happy sad quick slow clever stupid warm cold strong
    weak fresh stale film story plot actor scene music picture moment idea ending war love money
    house child woman man city night day watch make see think find show give take tell keep begin
    really very rather almost never always quite often
    """,
)


def main() -> int:
    """Run both parts, print what was measured, and say by the exit code whether it holds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", metavar="FILE", help="also write what was measured as JSON")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="brittle-kills-") as folder:
        found = {
            "http": endpoint_part(Path(folder), args.kills, args.seed),
            "function": function_part(Path(folder), max(5, args.kills // 5), args.seed),
        }
    if args.json:
        Path(args.json).write_text(json.dumps(found, indent=2) + "\n")
    print(json.dumps(found, indent=2))
    held = all(value for part in found.values() for key, value in part.items() if key in CHECKS)
    print("all checks hold" if held else "SOME CHECKS FAILED")
    return 0 if held else 1


CHECKS = (
    "same_rows",
    "same_steps",
    "nothing_lost",
    "within_bound",
    "finished_asks_nothing",
    "finished_not_redone",
)


@contextmanager
def serving(folder: Path) -> Iterator[Log]:
    """Start a server in a process of its own, with its log and endpoint.toml in the folder."""
    folder.mkdir()
    log = Log(folder / "asked.jsonl")
    command = [sys.executable, counting.__file__, str(log.path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            port = int(server.stdout.readline())
            (folder / "endpoint.toml").write_text(
                f'url = "http://127.0.0.1:{port}/"\nlabels = ["negative", "positive"]\n'
                f'path = "scores"\nconcurrency = {CONCURRENCY}\nbatch = {BATCH}\n'
                '[json]\ntexts = "{texts}"\n'
            )
            yield log
        finally:
            server.kill()


def examples(path: Path, count: int, seed: int, longest: int = 12) -> None:
    """Write labelled sentences; one in ten is labelled wrongly, so that it is skipped."""
    rng = Random(f"examples:{seed}")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("text", "label"))
        for _ in range(count):
            text = " ".join(rng.choices(WORDS, k=rng.randint(3, longest)))
            right = scores(text)[1] > 0.5
            writer.writerow((text, "positive" if right != (rng.random() < 0.1) else "negative"))


def command(target: str, data: Path, runs: Path) -> list[str]:
    """Write the command line of an attack."""
    brittle = [sys.executable, "-m", "brittle.cli"]
    rest = ["--data", str(data), "--name", "run", "--runs", str(runs), "--quiet"]
    return [*brittle, "attack", target, "pwws", "--candidates", "paper", "--no-measures", *rest]


def stored(run: Path) -> tuple[list[Any], list[Any]]:
    """Read all columns of all results and steps of a run; none if there is no run yet."""
    if not run.exists():
        return [], []
    db = sqlite3.connect(f"{run.as_uri()}?mode=ro", uri=True)
    try:
        if not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            return [], []
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        results = "SELECT * FROM results JOIN examples USING (case_id) ORDER BY number"
        steps = "SELECT * FROM steps ORDER BY case_id, number"
        return db.execute(results).fetchall(), db.execute(steps).fetchall()
    finally:
        db.close()


def finished(run: Path) -> int:
    """Count the finished cases of a run that may be under way, or not yet begun."""
    with (
        suppress(sqlite3.Error),
        closing(sqlite3.connect(f"{run.as_uri()}?mode=ro", uri=True)) as db,
    ):
        return int(db.execute("SELECT count(*) FROM results").fetchone()[0])
    return 0


@dataclass
class Disturbed:
    """A run that is killed and started again, and what was seen on the way."""

    argv: list[str]
    run: Path
    log: Log
    cwd: Path
    kills: int = 0
    lives: int = 0
    finished_at_kills: list[int] = field(default_factory=list)
    nothing_lost: bool = True
    finished_not_redone: bool = True
    _rows: list[Any] = field(default_factory=list)

    def life(self, moment: Moment | None) -> bool:
        """Start the command and kill it at the moment, if one is given; say whether it ended."""
        self.lives += 1
        before = len(self.log.read().asked)
        known = {row[-2] for row in self._rows}
        with subprocess.Popen(self.argv, cwd=self.cwd, stderr=subprocess.PIPE) as process:
            if moment is not None and moment.comes(process, self.log, self.run):
                os.kill(process.pid, signal.SIGKILL)
            stderr = process.communicate()[1].decode()
        rows, _ = stored(self.run)
        if process.returncode == -signal.SIGKILL:
            self.kills += 1
            self.finished_at_kills.append(len(rows))
        elif process.returncode != 0:
            raise RuntimeError(f"exit code {process.returncode}: {stderr}")
        self.nothing_lost &= set(self._rows) <= set(rows)
        asked = set(self.log.read().asked[before:])
        done = {json.loads(fields)[0][1] for fields in known}
        self.finished_not_redone &= not (asked & done)
        self._rows = rows
        return bool(process.returncode == 0)

    def lives_through(self, moments: Sequence[Moment]) -> tuple[int, int]:
        """Kill it at each moment, let it end, start it once more; count what was asked."""
        ended = False
        for moment in moments:
            ended = ended or self.life(moment)
        while not ended:
            ended = self.life(None)
        asked = len(self.log.asked)
        self.life(None)
        return asked, len(self.log.asked) - asked


@dataclass(frozen=True)
class Moment:
    """When to kill: some seconds after the start, after a number of texts, or after a case ends.

    `texts` counts distinct ones over all lives; if there were as many before, the next one counts.
    """

    seconds: float
    texts: int | None = None
    of: int = 0
    case_ends: bool = False

    def comes(self, process: subprocess.Popen[bytes], log: Log, run: Path) -> bool:
        """Wait for the moment; False if the process ended before."""
        rows, texts = finished(run), 0
        if self.texts is not None:
            texts = min(self.of, max(self.texts, len(log.read().distinct) + 1))
        while len(log.read().distinct) < texts or (self.case_ends and finished(run) == rows):
            if process.poll() is not None:
                return False
            time.sleep(0.002)
        time.sleep(self.seconds)
        return process.poll() is None


def moments(count: int, texts: int, took: float, seed: int) -> list[Moment]:
    """Draw moments over the whole life of a run of so many texts and seconds.

    A fifth falls into start-up, a tenth just after cases were written; of the others one on the
    first batch, one when the last text has been asked, the rest anywhere between.
    """
    rng = Random(f"moments:{seed}")
    early, after_cases = count // 5, min(4, max(1, count // 10))
    positions = [1, texts, *(rng.randint(1, texts) for _ in range(count - early - after_cases - 2))]
    drawn = [Moment(rng.uniform(0, 4 * DELAY), position, texts) for position in sorted(positions)]
    for _ in range(early):
        drawn.insert(rng.randint(0, len(drawn) // 2), Moment(rng.uniform(0, took / 4)))
    for _ in range(after_cases):
        drawn.insert(rng.randint(0, len(drawn) // 2), Moment(0.0, case_ends=True))
    return drawn


def endpoint_part(folder: Path, kills: int, seed: int) -> dict[str, Any]:
    """Compare a killed and an undisturbed run against an endpoint that counts."""
    data = folder / "examples.csv"
    examples(data, 100, seed, longest=5)
    with serving(folder / "calm") as calm:
        run = folder / "calm" / "runs" / "run.sqlite"
        argv = command(f"http:{folder / 'calm' / 'endpoint.toml'}", data, run.parent)
        start = time.perf_counter()
        subprocess.run(argv, check=True, cwd=folder)
        took = time.perf_counter() - start
        rows, steps = stored(run)
        calm.read()
    with serving(folder / "wild") as log:
        run = folder / "wild" / "runs" / "run.sqlite"
        argv = command(f"http:{folder / 'wild' / 'endpoint.toml'}", data, run.parent)
        wild = Disturbed(argv, run, log, folder)
        asked, again = wild.lives_through(moments(kills, len(calm.distinct), took, seed))
    extra, bound = asked - len(calm.asked), wild.kills * CONCURRENCY * BATCH
    same = [now == was for now, was in zip(stored(run), (rows, steps))]
    return {
        "cases": len(rows),
        "steps": len(steps),
        "seconds_undisturbed": round(took, 2),
        "kills": wild.kills,
        "finished_at_kills": wild.finished_at_kills,
        "lives": wild.lives - 1,
        "asked_undisturbed": len(calm.asked),
        "asked": asked,
        "asked_twice": extra,
        "bound": bound,
        "same_rows": same[0] and bool(rows),
        "same_steps": same[1] and bool(steps),
        "nothing_lost": wild.nothing_lost and log.distinct == calm.distinct,
        "within_bound": 0 <= extra <= bound,
        "finished_asks_nothing": again == 0,
    }


FUNCTION = """
import json, sys, time
sys.path.insert(0, {here!r})
from counting import scores

def classify(texts):
    with open({log!r}, "a", encoding="utf-8") as out:
        out.writelines(json.dumps(text) + "\\n" for text in texts)
    time.sleep(0.0001 * len(texts))
    return [scores(text) for text in texts]

classify.labels = ["negative", "positive"]
"""


def function_part(folder: Path, kills: int, seed: int) -> dict[str, Any]:
    """Do the same with a function in the process: finished cases are not done again."""
    data = folder / "many.csv"
    examples(data, 200, seed)
    runs = {}
    for name in ("calm", "wild"):
        position = folder / f"function-{name}"
        position.mkdir()
        source = FUNCTION.format(here=str(Path(__file__).parent), log=str(position / "asked.jsonl"))
        (position / "counted.py").write_text(source)
        argv = command("python:counted:classify", data, position / "runs")
        log = Log(position / "asked.jsonl")
        runs[name] = Disturbed(argv, position / "runs" / "run.sqlite", log, position)
    calm, wild = runs["calm"], runs["wild"]
    start = time.perf_counter()
    calm.life(None)
    took = time.perf_counter() - start
    asked, probes = wild.lives_through(moments(kills, len(calm.log.distinct), took, seed))
    (rows, steps), (wild_rows, wild_steps) = stored(calm.run), stored(wild.run)
    return {
        "cases": len(rows),
        "kills": wild.kills,
        "finished_at_kills": wild.finished_at_kills,
        "lives": wild.lives - 1,
        "asked_undisturbed": len(calm.log.asked),
        "asked": asked,
        # A function is known by its answers to a dozen fixed sentences, asked at every start.
        "asked_by_a_finished_run": probes,
        "same_rows": rows == wild_rows and bool(rows),
        "same_steps": steps == wild_steps and bool(steps),
        "nothing_lost": wild.nothing_lost,
        "finished_not_redone": wild.finished_not_redone,
        # A function is known by its answers to 12 fixed sentences, asked twice at every start.
        "finished_asks_nothing": probes <= 24,
    }


if __name__ == "__main__":
    sys.exit(main())
