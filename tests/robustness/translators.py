"""Translators that lose step, hang, answer nothing or have no end; and what does not fit them."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import pytest

from brittle.answers import TEXTS
from brittle.asks import Case
from brittle.attacks import resolve_attack
from brittle.engine.broker import Broker
from brittle.engine.engine import Engine
from brittle.engine.running import Outcome
from brittle.errors import TargetDown, UsageError
from brittle.goals import Measured
from brittle.opening import as_target
from brittle.targets.capabilities import check_asks, make_desks
from brittle.targets.diagnosis import diagnose
from brittle.text import Text
from robustness.table import row

SENTENCES = ("a good film", "a great plot", "a good story")


def line_filter(folder: Path, body: str) -> str:
    """Write a filter that has the lines of its input in `lines`; return its name."""
    script = folder / "filter.py"
    script.write_text(f"import sys, time\nlines = sys.stdin.read().splitlines()\n{body}\n")
    return f"filter:'{sys.executable}' -S '{script}'"


def attacked(target: Any) -> tuple[list[str], list[Outcome]]:
    """Diagnose a translator, attack it by random swaps, return warnings and outcomes."""
    attack, name, _ = resolve_attack("random-swap", {"candidates": "paper"}, "films")
    desks = make_desks(target)
    check_asks(attack, name, target, desks)
    cases = [Case(str(n), Text.of(text)) for n, text in enumerate(SENTENCES)]
    goal = Measured(lambda text: float("GOOD" not in text), 1.0, TEXTS)
    broker = Broker(desks)
    try:
        warnings = [warning.code for warning in diagnose(target, cases, broker)]
        ended = [outcome for part in Engine(attack, goal, broker).run(cases) for outcome in part]
    finally:
        broker.close()
    return warnings, sorted(ended, key=lambda outcome: outcome.case.id)


@row(
    "a line filter that gives fewer or more lines",
    "`error` with both numbers, only for the texts that cause it; exit 3 if it never keeps step",
)
def out_of_step(folder: Path) -> None:
    for body, message in (
        ("[print(line.upper()) for line in lines if 'great' not in line]", "0 lines for 1"),
        ("[print(line.upper().replace('GREAT', '\\n')) for line in lines]", "2 lines for 1"),
    ):
        _, outcomes = attacked(as_target(line_filter(folder, body)))
        assert [o.status for o in outcomes] == ["broken", "error", "broken"]
        assert message in outcomes[1].reason
    with pytest.raises(TargetDown, match="gave 2 lines for 1") as stopped:
        attacked(as_target(line_filter(folder, "print('ready'); print('\\n'.join(lines))")))
    assert stopped.value.exit_code == 3


@row(
    "a line filter that mixes the words of neighbouring lines",
    "a blank line is sent between texts; if that does not part them, every text gets a process of "
    "its own, and the warning *mixed*",
)
def lines_are_mixed(folder: Path) -> None:
    for mixed_in, warned in (
        ("''.join(lines[n + 1 : n + 2])", []),  # the next line, even if it is blank
        ("next(filter(None, lines[n + 1 :]), '')", ["mixed"]),
    ):
        body = f"[print(line and line.upper() + {mixed_in}) for n, line in enumerate(lines)]"
        warnings, outcomes = attacked(as_target(line_filter(folder, body)))
        starts = [outcome.case.start for outcome in outcomes]
        assert [start.answers[0] for start in starts if start] == [s.upper() for s in SENTENCES]
        assert [code for code in warnings if code != "copied"] == warned


@row(
    "a line filter that hangs",
    "killed with its children after `--timeout` seconds; exit 3 if a plain sentence hangs it too",
)
def filter_hangs(folder: Path) -> None:
    start = time.monotonic()
    with pytest.raises(TargetDown, match=r"did not exit within 0\.2 s") as stopped:
        attacked(as_target("filter:sleep 60", timeout=0.2))
    assert stopped.value.exit_code == 3 and time.monotonic() - start < 20


@row(
    "a line filter that ends with an error",
    "`error` with its exit code and the end of stderr, or exit 3, in the same way",
)
def filter_fails(folder: Path) -> None:
    body = "'great' in str(lines) and sys.exit('no entry'); print('\\n'.join(lines).upper())"
    _, outcomes = attacked(as_target(line_filter(folder, body)))
    assert [o.status for o in outcomes] == ["broken", "error", "broken"]
    assert "exit code 1" in outcomes[1].reason and "no entry" in outcomes[1].reason
    with pytest.raises(TargetDown, match="given 1 text, ended with exit code 1"):
        attacked(as_target("filter:false"))


@row("a translator that is not installed", "exit 2, before anything is asked")
def missing_program(folder: Path) -> None:
    with pytest.raises(UsageError, match="There is no program 'apertiumm'") as refused:
        as_target("filter:apertiumm -u eng-spa")
    assert refused.value.exit_code == 2


@row("a seq2seq folder without weights", "exit 2, with the remedy")
def no_weights(folder: Path) -> None:
    pytest.importorskip("transformers")
    architecture = '"architectures": ["MarianMTModel"]'
    (folder / "config.json").write_text(f'{{"model_type": "marian", {architecture}}}')
    with pytest.raises(UsageError, match=r"no \.safetensors weights.*safe_serialization"):
        as_target(folder)


@row("an empty translation", "judged by the goal like any other; warned of before the run")
def empty_translation(folder: Path) -> None:
    def translate(texts: list[str]) -> list[str]:
        return ["" if "great" in text else text.upper() for text in texts]

    warnings, outcomes = attacked(as_target(translate, answers="text"))
    assert "empty" in warnings and outcomes[1].reason == "already there"


@row(
    "an endless translation",
    "cut after 20 characters for each of the source and 200 more; warned of before the run",
)
def endless_translation(folder: Path) -> None:
    def translate(texts: list[str]) -> list[str]:
        return [f"GOOD {text} " * 10**5 for text in texts]

    warnings, outcomes = attacked(as_target(translate, answers="text"))
    assert "endless" in warnings and {o.status for o in outcomes} == {"held"}
    assert [len(o.case.start.answers[0]) for o in outcomes if o.case.start] == [
        20 * len(sentence) + 200 for sentence in SENTENCES
    ]
    with pytest.raises(TargetDown, match="wrote more than"):
        attacked(as_target("filter:yes"))


@row(
    "`--labels` or `--scores` for a translator, or an attack by class or gradient",
    "exit 2, before anything is asked",
)
def what_only_classifiers_have(folder: Path) -> None:
    for options in ({"labels": "a,b"}, {"scores": "prob"}):
        with pytest.raises(UsageError, match="has no labels and no scores"):
            as_target("filter:cat", **options)
    with pytest.raises(UsageError, match="needs the labels of a classifier"):
        resolve_attack("tack-on", {"learn_from": "mr"}, "films")
    target: Any = as_target("filter:cat")
    attack, name, _ = resolve_attack("hotflip", {}, "films")
    with pytest.raises(UsageError, match="offers only translations"):
        check_asks(attack, name, target, make_desks(target))
