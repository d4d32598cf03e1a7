"""The code of a callable: what changes it, and that every process sees the same."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from brittle.targets.fingerprints import code_of

MODULE = """
import functools

LIMIT = 3

def helper(text):
    return len(text) > {limit}

class Model:
    def __call__(self, texts):
        return [helper(text) for text in texts]
    def other(self, texts):
        return []

model = Model()

def classify(texts):
    return model(texts)

def undecorated(texts):
    return [text in {{"a", "b", "c"}} for text in texts]

def decorated(function):
    def wrapper(texts):
        return function(texts)
    return wrapper

wrapped = decorated(classify)
short = lambda texts, limit={limit}: [len(t) > limit for t in texts]
bound = functools.partial(sorted, key=helper)
"""
NAMES = ("classify", "model", "model.__call__", "wrapped", "short", "bound")


def module(limit: int, **more: Any) -> dict[str, Any]:
    """Run the module without a file, so that there is no source."""
    names: dict[str, Any] = {"__name__": "made", **more}
    exec(MODULE.format(limit=limit), names)
    return names


def look_up(names: dict[str, Any], path: str) -> Any:
    first, *rest = path.split(".")
    return functools.reduce(getattr, rest, names[first])


@pytest.mark.parametrize("name", NAMES)
def test_an_edit_is_seen_without_source_too(name: str) -> None:
    first, same, other = (code_of(look_up(module(limit), name)) for limit in (3, 3, 4))
    assert first == same != other
    assert " at 0x" not in first


@pytest.mark.parametrize("name", NAMES)
def test_an_edit_of_a_helper_is_seen_in_a_file(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    seen = []
    for n, limit in enumerate((3, 3, 4)):
        (tmp_path / f"made_{n}.py").write_text(MODULE.format(limit=limit))
        seen.append(
            code_of(look_up(vars(__import__(f"made_{n}")), name)).replace(f"made_{n}", "made")
        )
        sys.modules.pop(f"made_{n}")
    assert seen[0] == seen[1] != seen[2]


def test_methods_of_one_object_are_told_apart() -> None:
    model = module(3)["model"]
    assert code_of(model.__call__) != code_of(model.other)


def test_what_changes_as_it_is_called_does_not_count() -> None:
    calls: list[int] = []

    def counted(texts: list[str]) -> list[str]:
        calls.append(len(texts))
        return texts

    before = code_of(counted)
    counted(["a"])
    assert code_of(counted) == before


def test_builtins_have_names() -> None:
    assert code_of(len) == "builtins.len"
    assert code_of(functools.partial(sorted, reverse=True)) != code_of(sorted)


@pytest.mark.slow
def test_every_process_sees_the_same() -> None:
    script = (
        "from brittle.targets.fingerprints import code_of\nfrom hashlib import sha256\n"
        f"names = {{'__name__': 'made'}}\nexec({MODULE.format(limit=3)!r}, names)\n"
        "for name in ('classify', 'model', 'undecorated', 'wrapped', 'short', 'bound'):\n"
        "    print(sha256(code_of(names[name]).encode()).hexdigest())"
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert len(outputs[0].split()) == 6
    assert outputs[0] == outputs[1]
