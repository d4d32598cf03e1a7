"""Mining that is killed goes on where it was saved: what is done is not done again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = """
import sys, time
from pathlib import Path
import numpy as np
from brittle.studies.rules import measuring, tasks
from brittle.studies.rules.tasks import mine_in_folder
from brittle.studies.rules.tasks import MiningData

measuring.MAX_TEXTS_PER_CHUNK, tasks.SECONDS_BETWEEN_SAVES = 5, 0.0
folder, pause = Path(sys.argv[1]), float(sys.argv[2])

class Slow:
    labels, name, fingerprint = ("negative", "positive"), "slow", "slow"

    def logits(self, texts):
        time.sleep(pause)
        with (folder / "asked.txt").open("a") as file:
            file.writelines(f"{text}\\n" for text in texts)
        good = [sum(len(str(word)) for word in text.words) % 7 for text in texts]
        return np.array([[-float(g), float(g)] for g in good])

    def scores(self, texts):
        e = np.exp(self.logits(texts))
        return e / e.sum(axis=1, keepdims=True)

slow = Slow()
sys.modules["slow_model"] = sys.modules["__main__"]
rules = mine_in_folder(
    "python:slow_model:slow", MiningData(str(folder / "films.csv")), folder / "mined", print
)
rules.save(folder / "out.rules")
"""


def start(folder: Path, pause: float) -> subprocess.Popen[bytes]:
    call = [sys.executable, "-c", SCRIPT, str(folder), str(pause)]
    return subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.mark.slow
def test_a_killed_mining_goes_on(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("whole", "killed")]
    words = ["great", "funny", "lovely", "superb", "dull", "awful", "boring", "weak"]
    labels = ["positive"] * 4 + ["negative"] * 4
    lines = [f"a {words[n % 8]} film about a house {n},{labels[n % 8]}" for n in range(60)]
    for folder in folders:
        folder.mkdir()
        (folder / "films.csv").write_text("\n".join(["text,label", *lines]) + "\n")
    whole = start(folders[0], 0.0)
    assert whole.wait(120) == 0
    killed = start(folders[1], 0.3)
    deadline = time.monotonic() + 90
    while not list((folders[1] / "mined").glob("effects-*.npz")):
        assert time.monotonic() < deadline and killed.poll() is None
        time.sleep(0.02)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait(30)
    before = (folders[1] / "asked.txt").read_text().splitlines()
    again = start(folders[1], 0.0)
    assert again.wait(120) == 0
    asked = [(folder / "asked.txt").read_text().splitlines() for folder in folders]
    assert len(before) < len(asked[0])
    # At most the two chunks that were under way are asked again: 5 texts and their replacements.
    per_chunk = len(asked[0]) / 12
    assert len(asked[1]) <= len(asked[0]) + 3 * per_chunk
    rules = [[json.loads(x) for x in (f / "out.rules").read_text().splitlines()] for f in folders]
    assert rules[0][1:] == rules[1][1:] and len(rules[0]) > 5
