"""Damaged files: one good file of every kind, cut, emptied, with flipped bytes or other JSON."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

from hostile.part import Part, problem_of, timed
from hostile.workspace import write_files, write_workspace


def _flip(content: bytes, rng: Random) -> bytes:
    damaged = bytearray(content)
    for _ in range(max(4, len(damaged) // 400)):
        damaged[rng.randrange(len(damaged))] = rng.randrange(256)
    return bytes(damaged)


def _zero(content: bytes, rng: Random) -> bytes:
    start = rng.randrange(max(1, len(content) // 2))
    return content[:start] + bytes(len(content) // 4) + content[start + len(content) // 4 :]


DAMAGES: Mapping[str, Callable[[bytes, Random], bytes]] = {
    "cut": lambda content, rng: content[: rng.randrange(1, len(content))],
    "flipped": _flip,
    "zeros": _zero,
    "deep": lambda content, rng: b"[" * 100_000,
    "other": lambda content, rng: rng.choice([b"[1, 2]", b"{}", b"null", b'"x"', b"", b"\xff\xfe"]),
    "texts for numbers": lambda content, rng: _strings_for_numbers(content),
}


def _strings_for_numbers(content: bytes) -> bytes:
    for digit in b"0123456789":
        content = content.replace(b": %c" % digit, b': "x%c' % digit)
    return content


def damaged_files(folder: Path, count: int, seed: int) -> Part:
    """Damage files in turn; every command that reads one says so in its own words."""
    folder = write_workspace(folder)
    with timed(Part("damaged files", count)) as part:
        here = Path.cwd()
        os.chdir(folder)
        try:
            readers = write_files(folder)
        finally:
            os.chdir(here)
        originals = {name: (folder / name).read_bytes() for name in readers}
        for number in range(count):
            name = list(readers)[number % len(readers)]
            kind = list(DAMAGES)[(number // len(readers) + number) % len(DAMAGES)]
            damaged = DAMAGES[kind](originals[name], Random(f"{seed}:{number}"))
            (folder / name).write_bytes(damaged)
            problems = [(words, problem_of(words, folder)) for words in readers[name]]
            wrong = [f"{' '.join(words)}: {problem}" for words, problem in problems if problem]
            part.check(f"{Path(name).name}, {kind} ({number})", "; ".join(wrong) or None)
            (folder / name).write_bytes(originals[name])
    return part
