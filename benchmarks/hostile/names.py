"""Hostile names of runs: what completion offers for one is one word in bash, and runs nothing."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
from pathlib import Path
from random import Random

from hostile.part import Part, timed

PARTS = (
    *("$(touch ran)", "`touch ran`", "$HOME", "${X:=y}", "~", "*", "?", "[a-z]", "{a,b}", "!!"),
    *(
        "'",
        '"',
        "\\",
        " ",
        "\t",
        "\n",
        "\r",
        "\x1b[2J",
        "\x7f",
        ";touch ran",
        "&",
        "|",
        ">ran",
        "<",
    ),
    *(
        "(",
        ")",
        "#",
        "%",
        "=",
        ":",
        "@",
        "-",
        "--yes",
        "a",
        "Z",
        "7",
        "é",
        "\u202e",
        "\u00a0",
        "🙈",
    ),
)
OPENED = {"": "", "'": "'", '"': '"'}
"""The quotes in which a word may have been begun, and what closes them."""


def hostile_names(folder: Path, count: int, seed: int) -> Part:
    """Complete names in every quote; bash must read each as the name itself."""
    folder.mkdir(parents=True, exist_ok=True)
    part = Part("hostile names", count)
    if shutil.which("bash") is None:
        part.skipped = "no bash"
        return part
    with timed(part):
        for number in range(count):
            rng = Random(f"{seed}:name:{number}")
            name = "".join(rng.choice(PARTS) for _ in range(rng.randrange(1, 7)))
            shown = name.encode("ascii", "backslashreplace").decode()
            part.check(repr(shown), _problem(folder, f"n{number}", name))
    return part


def _problem(folder: Path, runs: str, name: str) -> str | None:
    (folder / runs).mkdir()
    (folder / runs / f"{name}.sqlite").touch()
    by_path = f"{runs}/{name}.sqlite"
    expected = by_path if name.startswith(("-", "~")) else name
    for opened, closed in OPENED.items():
        offered = _completed(folder, f"brittle show --runs {runs} {opened}")
        if len(offered) != 1:
            return f"{len(offered)} words are offered"
        word = offered[0]
        # readline takes a quote at the start for the one that is open, and one at the end as well.
        start = "" if opened and word.startswith(opened) else opened
        end = "" if closed and word.endswith(closed) else closed
        script = f"printf '%s\\0' {start}{word}{end}"
        done = subprocess.run(["bash", "--norc", "-c", script], cwd=folder, capture_output=True)
        if done.stdout != f"{expected}\0".encode() or done.returncode:
            return f"bash reads {word!r} as {done.stdout!r}"
        if (folder / "ran").exists():
            return f"{word!r} has run"
    return None


def _completed(folder: Path, line: str) -> list[str]:
    from brittle.cli import main

    out, here = io.StringIO(), Path.cwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(out):
            main(["setup", "completion", "bash", f"--line={line}", "--replaced="])
    finally:
        os.chdir(here)
    return out.getvalue().split("\0")[:-1]
