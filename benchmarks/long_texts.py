"""Measure how time and memory of a run grow with the length of its one text.

    python benchmarks/long_texts.py [--words 300,600,1200,2500,4990] [--settings A;B]
        [--most-exponent 1.3] [--most 300] [--out FILE]

PWWS runs on a text of so many words, each time in a process of its own, through the public API and
with its rows stored. The text is sentences of MR: negative and positive ones in turn, which few
swaps break, or, where the setting says so, negative ones only, in which nearly every word is
swapped.

All seconds are processor time. `whole` is that of the process. `run` is that of the run, after one
on a short text, which loads tables and models; `target` is the part of it inside the target. The
exponents are those from 600 words to the longest text; `engine` is the run without the target.
Exits with 1 if a setting with limits has a larger exponent than `--most-exponent`, `whole` or
`run`, or more memory than `--most` MB.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from itertools import chain
from math import log
from pathlib import Path
from typing import Any

import brittle
from brittle import data
from brittle.opening import load_zoo
from brittle.text import split

FIRST = 600
"""The length from which on the exponents are measured."""
SHORT = 10


@dataclass(frozen=True)
class Setting:
    """A target, the settings of the run, and whether the limits hold for it.

    A target that is asked about whole strings reads n texts of n words: its own time is a square.
    """

    target: str
    candidates: str = "careful"
    is_measured: bool = False
    is_one_sided: bool = False
    has_limits: bool = True


NAIVE_BAYES, LSTM, PIPELINE = "zoo:naive-bayes@mr", "zoo:LSTM-W-Random-1@mr", "pipeline"
SETTINGS = {
    "naive Bayes, paper": Setting(NAIVE_BAYES, "paper"),
    "naive Bayes, paper, one-sided": Setting(NAIVE_BAYES, "paper", is_one_sided=True),
    "naive Bayes, careful": Setting(NAIVE_BAYES),
    "naive Bayes, careful, one-sided": Setting(NAIVE_BAYES, is_one_sided=True),
    # Similarity needs torch and MiniLM, which fill more than the limit by themselves.
    "naive Bayes, careful, measured": Setting(NAIVE_BAYES, is_measured=True, has_limits=False),
    "LSTM, paper": Setting(LSTM, "paper", has_limits=False),
    "TF-IDF pipeline, paper": Setting(PIPELINE, "paper", has_limits=False),
    "TF-IDF pipeline, careful": Setting(PIPELINE, has_limits=False),
}


def main() -> int:
    """Measure every setting at every length, and say by the exit code whether the limits hold."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--words", default="300,600,1200,2500,4990")
    parser.add_argument("--settings", default=";".join(SETTINGS), help="with ; between")
    parser.add_argument("--most-exponent", type=float, default=1.3)
    parser.add_argument("--most", type=float, default=300.0, metavar="MB")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("long_texts.json"))
    parser.add_argument("--one", action="store_true", help="measure in this process, and print it")
    args = parser.parse_args()
    if args.one:
        print(json.dumps(measure(SETTINGS[args.settings], int(args.words))))
        return 0
    lengths = sorted(map(int, args.words.split(",")))
    measured: dict[str, Any] = {}
    are_kept = True
    for name in args.settings.split(";"):
        in_process(name, SHORT)  # so that none of those measured trains the model
        rows = [in_process(name, words) for words in lengths]
        measured[name] = {"rows": rows, "exponents": (found := exponents(rows))}
        print(name, *(json.dumps(row) for row in rows), sep="\n  ")
        print("  exponents", json.dumps(found), flush=True)
        keeps = max(found["whole"], found["run"]) <= args.most_exponent
        keeps = keeps and max(row["peak_mb"] for row in rows) <= args.most
        are_kept = are_kept and (keeps or not SETTINGS[name].has_limits)
        args.out.write_text(json.dumps(measured, indent=1) + "\n", "utf-8")
    print("all limits are kept" if are_kept else "SOME LIMITS ARE NOT KEPT")
    return 0 if are_kept else 1


def in_process(name: str, words: int) -> dict[str, Any]:
    """Measure a setting at a length in a process of its own."""
    argv = [sys.executable, __file__, "--one", "--settings", name, "--words", str(words)]
    done = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def measure(setting: Setting, words: int) -> dict[str, Any]:
    """Attack a short text, then the long one; return what the second run took, and found."""
    target = Timed(fitted_pipeline() if setting.target == PIPELINE else load_zoo(setting.target))
    with tempfile.TemporaryDirectory(prefix="brittle-long-") as folder:
        attack(target, setting, SHORT, folder)
        target.seconds, start = 0.0, time.process_time()
        run = attack(target, setting, words, folder)
        seconds = time.process_time() - start
        [row] = run.results()
        kilobyte = 1 if sys.platform == "darwin" else 1024
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * kilobyte
        return {
            "words": row.words,
            "whole": round(time.process_time(), 2),
            "run": round(seconds, 3),
            "target": round(target.seconds, 3),
            "peak_mb": round(peak / 2**20, 1),
            "file_mb": round(run.path.stat().st_size / 2**20, 2),
            "status": row.status,
            "queries": row.queries,
            "sent": int(run.totals["sent"]),
            "words_changed": row.words_changed,
            "steps": len(run.steps()),
        }


def attack(target: Any, setting: Setting, words: int, folder: str) -> Any:
    """Run PWWS on one text."""
    settings = {"candidates": setting.candidates, "measures": setting.is_measured}
    text = text_of(words, setting.is_one_sided)
    return brittle.attack(target, [text], "pwws", folder=folder, **settings)


class Timed:
    """A target that counts the processor time inside itself."""

    def __init__(self, target: Any) -> None:
        self.target = brittle.as_target(target)
        self.seconds = 0.0
        self._lock = threading.Lock()
        # Only what the target has: capabilities are found by the names of methods.
        for name in ("canonical", "canonical_digests", "words_read"):
            if hasattr(self.target, name):
                setattr(self, name, getattr(self.target, name))
        for name in ("scores", "canonical_scores"):
            if hasattr(self.target, name):
                setattr(self, name, self._timed(getattr(self.target, name)))

    def __getattr__(self, name: str) -> Any:
        if name in ("name", "fingerprint", "labels", "parallel", "batch"):
            return getattr(self.target, name, 1 if name == "parallel" else None)
        raise AttributeError(name)

    def _timed(self, method: Any) -> Any:
        def call(items: Any) -> Any:
            start = time.thread_time()
            try:
                return method(items)
            finally:
                with self._lock:
                    self.seconds += time.thread_time() - start

        return call


def exponents(rows: list[dict[str, Any]]) -> dict[str, float]:
    """Return the exponents of the times between the text of `FIRST` words and the longest."""
    first, last = next(row for row in rows if row["words"] >= FIRST), rows[-1]
    for row in (first, last):
        row["engine"] = round(row["run"] - row["target"], 3)
    factor = log(last["words"] / first["words"])
    return {
        part: round(log(max(last[part], 0.001) / max(first[part], 0.001)) / factor, 2)
        for part in ("whole", "run", "engine", "target")
    }


def text_of(words: int, is_one_sided: bool) -> str:
    """Join sentences of MR, a negative and a positive one in turn, up to so many words."""
    known: dict[str, list[str]] = {}
    for example in data.load("mr", split="train"):
        known.setdefault(str(example.label), []).append(dict(example.fields)["text"])
    columns = [known["negative"]] if is_one_sided else [known["negative"], known["positive"]]
    sentences = chain.from_iterable(zip(*columns))
    parts, gaps = split(" ".join(sentence for sentence, _ in zip(sentences, range(words))))
    return "".join(chain.from_iterable(zip(gaps[:words], parts[:words])))


def fitted_pipeline() -> Any:
    """Fit TF-IDF with logistic regression on MR."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    examples = list(data.load("mr", split="train"))
    texts, labels = zip(*((dict(e.fields)["text"], str(e.label)) for e in examples))
    return make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(texts, labels)


if __name__ == "__main__":
    sys.exit(main())
