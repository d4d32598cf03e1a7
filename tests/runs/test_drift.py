"""At the end of a run a few originals are asked again: a target that has changed is noticed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import brittle
from brittle.errors import TargetDown
from brittle.testing import FakeTarget
from brittle.text import Text

FILMS = [(f"a good film of {i} scenes", "positive") for i in range(6)]


@dataclass
class Endpoint(FakeTarget):
    """A paid target that answers a plain list; from some text on its order is reversed."""

    weights: dict[str, float] = field(default_factory=lambda: {"good": 2.0})
    spread: float = 0.1
    asked: list[str] = field(default_factory=list)
    reversed_from: int = sys.maxsize
    down_from: int = sys.maxsize
    costly: bool = True
    batch: int = 1

    def scores(self, items: Sequence[Text]) -> Any:
        if len(self.asked) >= self.down_from:
            raise TargetDown("it is down")
        self.asked += [str(item) for item in items]
        rows = super().scores(items)
        return rows[:, ::-1] if len(self.asked) > self.reversed_from else rows


def attacked(target: Endpoint, folder: Path, **options: Any) -> tuple[brittle.Run, list[str]]:
    heard: list[str] = []
    run = brittle.attack(target, FILMS, "random-swap", folder=folder, warn=heard.append, **options)
    return run, heard


def test_an_order_that_changes_midway_is_noticed(tmp_path: Path) -> None:
    quiet = Endpoint()
    run, heard = attacked(quiet, tmp_path / "a")
    assert not heard and run.manifest["warnings"] == []
    turned = Endpoint(reversed_from=len(quiet.asked) // 2)
    run, heard = attacked(turned, tmp_path / "b")
    (message,) = heard
    assert "of 4 originals asked again at the end, 4 got another label" in message
    assert "let it return label names" in message
    assert run.manifest["warnings"] == [message] and "changed during the run" in " ".join(
        str(run).split()
    )


def test_four_originals_are_asked_again_and_counted(tmp_path: Path) -> None:
    target = Endpoint()
    run, _ = attacked(target, tmp_path)
    assert target.asked[-4:] == [text for text, _ in FILMS[:4]]
    assert run.totals["sent"] == len(target.asked)
    asked = len(target.asked)
    attacked(target, tmp_path)  # finished: nothing is asked
    assert len(target.asked) == asked


def test_a_target_in_the_process_is_not_asked_again(tmp_path: Path) -> None:
    paid, free = Endpoint(), Endpoint(costly=False)
    attacked(paid, tmp_path / "a"), attacked(free, tmp_path / "b")
    assert free.asked[-4:] != paid.asked[-4:]


def test_the_check_stays_within_what_may_be_sent(tmp_path: Path) -> None:
    whole = Endpoint()
    attacked(whole, tmp_path / "a")
    for room in (0, 2):
        target = Endpoint()
        run, heard = attacked(target, tmp_path / str(room), max_sent=len(whole.asked) - 4 + room)
        assert run.complete and not heard and len(target.asked) == len(whole.asked) - 4 + room


def test_a_target_that_is_down_at_the_end_leaves_a_complete_run(tmp_path: Path) -> None:
    whole = Endpoint()
    attacked(whole, tmp_path / "a")
    run, heard = attacked(Endpoint(down_from=len(whole.asked) - 4), tmp_path / "b")
    assert (
        run.complete
        and "could not be asked about the originals again" in heard[0]
        and "it is down" in heard[0]
    )


def test_a_change_between_two_calls_is_noticed(tmp_path: Path) -> None:
    whole = Endpoint()
    attacked(whole, tmp_path / "a")
    with pytest.raises(brittle.BrittleError, match="limit of"):
        attacked(Endpoint(), tmp_path / "b", max_sent=len(whole.asked) - 10)
    _, heard = attacked(Endpoint(reversed_from=0), tmp_path / "b")
    assert any("changed during the run" in message for message in heard)


def test_a_program_whose_list_is_reversed_midway_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import json, sys\n"
        "for n, line in enumerate(sys.stdin):\n"
        "    row = [0.1, 0.9] if 'good' in json.loads(line)['text'] else [0.8, 0.2]\n"
        "    print(json.dumps(row[::-1] if n > 14 else row), flush=True)\n"
    )
    heard: list[str] = []
    spec = f"cmd:{sys.executable} {tmp_path / 'program.py'}"
    labels = ["negative", "positive"]
    run = brittle.attack(
        spec, FILMS, "random-swap", labels=labels, folder=tmp_path / "runs", warn=heard.append
    )
    assert run.complete
    assert "4 got another label" in heard[-1]
