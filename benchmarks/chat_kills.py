"""Kill runs against a chat model on this machine, resume them, and compare with a calm run.

    python benchmarks/chat_kills.py [--model zoo:naive-bayes@mr] [--data mr] [--cases 50]
        [--repeats 3] [--budget 10] [--kills 2] [--json FILE]

A chat server on loopback, a process of its own with a real model behind it (chat_server.py; with
`--model smollm2` a language model), writes down every text it is asked. `brittle attack` asks about
each text `--repeats` times: once undisturbed, and once killed with SIGKILL and started again until
it completes. Then: the same rows and steps, every answer that was stored at a kill is still there,
and at most the requests under way at the kills are asked twice. The figures are written to
benchmarks/chat_kills.json, by the name of the model.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import chat_server
from counting import Log
from kills import CHECKS, Disturbed, Moment, stored

OUT = Path(__file__).with_suffix(".json")
ATTACK = "salient-swap"
MAX_TOKENS = 6  # of an answer: a label and its dot
Answers = Counter[tuple[Any, ...]]


@contextmanager
def serving(log: Path, model: str, port: int) -> Iterator[int]:
    """Start a server in a process of its own; yield its port, a free one for 0."""
    command = [sys.executable, chat_server.__file__, str(log), model, str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            if not line:
                sys.exit(f"The server with {model} did not start.")
            yield int(line)
        finally:
            server.kill()


def stored_answers(run: Path) -> Answers:
    """Count the answers that a run keeps, by all columns."""
    if not run.exists():
        return Counter()
    with closing(sqlite3.connect(f"{run.as_uri()}?mode=ro", uri=True)) as db:
        return Counter(db.execute("SELECT * FROM answers").fetchall())


@dataclass
class Chat(Disturbed):
    """A run against a chat model; no stored answer may change or be lost."""

    answers_at_kills: list[int] = field(default_factory=list)
    answers_lost: int = 0
    _answers: Answers = field(default_factory=Counter)

    def life(self, moment: Moment | None) -> bool:
        """Start the command, and count what it stored before."""
        is_finished = super().life(moment)
        answers = stored_answers(self.run)
        self.answers_lost += (self._answers - answers).total()
        if not is_finished:
            self.answers_at_kills.append(answers.total())
        self._answers = answers
        return is_finished


def measure(folder: Path, args: argparse.Namespace) -> dict[str, Any]:
    """Compare a killed and an undisturbed run against servers with the same model."""
    runs, port = {}, 0
    for name in ("calm", "wild"):
        place = folder / name
        place.mkdir()
        log = Log(place / "asked.jsonl")
        with serving(log.path, args.model, port) as port:  # the same: it is in the target's name
            model = f"{args.model.rpartition(':')[2]}&max_tokens={MAX_TOKENS}"
            target = f"chat:http://127.0.0.1:{port}/v1?model={model}"
            argv = [sys.executable, "-m", "brittle", "attack", target, ATTACK, "--data", args.data]
            argv += ["--limit", str(args.cases), "--budget", str(args.budget), "--repeats"]
            argv += [str(args.repeats), "--no-measures", "--quiet", "--name", "run"]
            argv += ["--runs", str(place / "runs")]
            run = runs[name] = Chat(argv, place / "runs" / "run.sqlite", log, folder)
            if name == "calm":
                start = time.perf_counter()
                run.life(None)
                took = time.perf_counter() - start
                distinct = len(log.distinct)
                continue
            parts = args.kills + 1
            moments = [Moment(0.0, distinct * n // parts, distinct) for n in range(1, parts)]
            asked, again = run.lives_through(moments)
    calm, wild = runs["calm"], runs["wild"]
    (rows, steps), (wild_rows, wild_steps) = stored(calm.run), stored(wild.run)
    extra = asked - len(calm.log.asked)
    return {
        "cases": len(rows),
        "repeats": args.repeats,
        "statuses": dict(sorted(Counter(status(calm.run)).items())),
        "seconds_undisturbed": round(took, 1),
        "kills": wild.kills,
        "finished_at_kills": wild.finished_at_kills,
        "answers_at_kills": wild.answers_at_kills,
        "answers_lost": wild.answers_lost,
        "asked_undisturbed": len(calm.log.asked),
        "asked": asked,
        "asked_twice": extra,
        "same_rows": rows == wild_rows and bool(rows),
        "same_steps": steps == wild_steps and bool(steps),
        "nothing_lost": wild.nothing_lost
        and not wild.answers_lost
        and wild.log.distinct == calm.log.distinct,
        "within_bound": 0 <= extra <= wild.kills,  # one request is under way at a time
        "finished_asks_nothing": again == 0,
    }


def status(run: Path) -> Iterator[str]:
    with closing(sqlite3.connect(f"{run.as_uri()}?mode=ro", uri=True)) as db:
        yield from (row[0] for row in db.execute("SELECT status FROM results"))


def main() -> int:
    """Measure one model, print and write the figures, and say by the exit code whether they hold"""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", default="zoo:naive-bayes@mr", help="or smollm2")
    parser.add_argument("--data", default="mr")
    parser.add_argument("--cases", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--budget", type=int, default=10)
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--json", type=Path, default=OUT, metavar="FILE")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="brittle-chat-") as folder:
        figures = measure(Path(folder), args)
    content = json.loads(args.json.read_text("utf-8")) if args.json.exists() else {}
    content[args.model] = figures
    args.json.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    print(json.dumps(figures, indent=1))
    checks = [value for key, value in figures.items() if key in CHECKS]
    holds = all(checks) and figures["kills"] == args.kills
    print("all checks hold" if holds else "SOME CHECKS FAILED")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
