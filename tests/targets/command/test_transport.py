"""Real programs that answer line by line, crash, hang, and say too much."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brittle.engine.broker import Broker
from brittle.errors import TargetDown, TargetError, UsageError
from brittle.opening import as_target
from brittle.targets.answer_parsers import BlackBoxClassifier
from brittle.targets.capabilities import scores_desk
from brittle.targets.command.transport import open_command
from brittle.targets.options import TargetOptions
from brittle.text import Text

GOOD, BAD, OTHER = Text.of("a good film"), Text.of("a bad film"), Text.of("a film")

FRAME = """
import json, os, sys, time
{before}
for line in sys.stdin:
    row = json.loads(line)
    text = row.get("text", "")
    {body}
"""


@pytest.fixture
def make_target(tmp_path: Path) -> Iterator[Callable[..., BlackBoxClassifier]]:
    targets = []

    def make(body: str, before: str = "", **options: Any) -> BlackBoxClassifier:
        script = tmp_path / "model.py"
        script.write_text(FRAME.format(body=body, before=before))
        options = {"labels": "neg,pos", "timeout": 10.0, **options}
        startup = options.pop("startup", None)
        command = f"cmd:'{sys.executable}' -S '{script}'"
        target = open_command(command, TargetOptions(**options), startup=startup)
        targets.append(target)
        return target

    yield make
    for target in targets:
        target.close()


SCORED = "print(json.dumps([0.1, 0.9] if 'good' in text else [0.8, 0.2]))"


def test_a_program_answers_line_by_line(make_target: Any) -> None:
    target = make_target(SCORED)
    assert target.scores([GOOD, BAD, GOOD])[:, 1].tolist() == [0.9, 0.2, 0.9]
    assert (target.costly, target.in_process, target.parallel) == (True, False, 1)
    assert target.scores([]).shape == (0, 2)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ('{"pos": 0.9, "neg": 0.1}', "auto"),
        ('[{"label": "pos", "score": 0.9}, {"label": "neg", "score": 0.1}]', "auto"),
        ("[0.1, 0.9]", "prob"),
        ("0.9", "single"),
    ],
)
def test_every_shape_of_answer(make_target: Any, answer: str, kind: str) -> None:
    target = make_target(f"print({answer!r})", scores=kind)
    assert target.scores([GOOD]) == pytest.approx(np.array([[0.1, 0.9]]))


@pytest.mark.parametrize("answer", ["pos", '"POS"', " pos "])
def test_a_plain_label_is_an_answer(make_target: Any, answer: str) -> None:
    assert make_target(f"print({answer!r})").scores([GOOD]).tolist() == [[0.0, 1.0]]


def test_a_number_may_be_a_label(make_target: Any) -> None:
    target = make_target("print(1)", labels="neg=0,pos=1", scores="label")
    assert target.label_only
    assert target.scores([GOOD]).tolist() == [[0.0, 1.0]]


def test_any_text_is_one_line(make_target: Any, tmp_path: Path) -> None:
    nasty = 'two\nlines\r\n\u2028, NUL \x00, "quotes", emoji 🎬, שלום, \ud800'
    target = make_target(f"print('pos' if text == {nasty!r} else 'neg')")
    assert target.scores([Text.of(nasty), GOOD])[:, 1].tolist() == [1.0, 0.0]
    long = "word " * 200_000
    target = make_target("print('pos' if len(text) == 1_000_000 else 'neg')")
    assert target.scores([Text.of(long)])[0, 1] == 1.0


def test_pairs_come_with_their_names(make_target: Any) -> None:
    target = make_target(
        "print('pos' if row['premise'] == 'a' and row['hypothesis'] == 'b' else 'neg')"
    )
    assert target.scores([Text.of({"premise": "a", "hypothesis": "b"})])[0, 1] == 1.0


def test_a_hole_reads_as_told(make_target: Any) -> None:
    target = make_target("print('pos' if text == 'a [?] film' else 'neg')", mask="[?]")
    assert target.scores([GOOD.mask(1)])[0, 1] == 1.0


CRASH = "os._exit(3) if 'bad' in text else print('pos')"


def test_a_text_that_crashes_it_twice_fails_alone(make_target: Any) -> None:
    target = make_target(CRASH)
    with pytest.raises(TargetError, match="failed twice on this text: it ended with exit code 3"):
        target.scores([BAD])
    assert target.scores([GOOD])[0, 1] == 1.0


def test_the_others_are_not_asked_again(make_target: Any, tmp_path: Path) -> None:
    log = tmp_path / "log"
    target = make_target(f"open({str(log)!r}, 'a').write(text + '\\n'); {CRASH}")
    broker = Broker({"answer": scores_desk(target)})
    items = [Text.of(f"film {n}") for n in range(15)] + [BAD]
    answers, failures = broker.answer("answer", items)
    broker.close()
    assert answers == [[0.0, 1.0]] * 15 + [None]
    assert list(failures) == [15]
    asked = log.read_text().splitlines()
    assert [asked.count(f"film {n}") for n in range(15)] == [1] * 15
    assert asked.count("a bad film") == 2


def test_a_crash_that_does_not_repeat_is_forgiven(make_target: Any, tmp_path: Path) -> None:
    flag = tmp_path / "crashed"
    before = f"flag = {str(flag)!r}"
    body = "(open(flag, 'w'), os._exit(1)) if 'bad' in text and not os.path.exists(flag) else 0"
    target = make_target(f"{body}; print('pos')", before)
    assert target.scores([BAD])[0, 1] == 1.0
    assert flag.exists()


@pytest.mark.slow
def test_a_text_that_hangs_it_fails_alone(make_target: Any) -> None:
    target = make_target(
        "'bad' in text and time.sleep(60); print('pos')", timeout=3.0, startup=30.0
    )
    start = time.monotonic()
    with pytest.raises(TargetError, match=r"did not answer within 3 s"):
        target.scores([BAD])
    assert target.scores([GOOD])[0, 1] == 1.0
    assert time.monotonic() - start < 50


@pytest.mark.slow
def test_what_it_started_ends_with_it(make_target: Any, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    before = f"open({str(pid)!r}, 'w').write(str(os.getpid()))"
    target = make_target("time.sleep(60) if 'bad' in text else print('pos')", before, timeout=3.0)
    target.startup = 30.0
    target.scores([GOOD])
    first = int(pid.read_text())
    with pytest.raises(TargetError):
        target.scores([BAD])
    target.close()
    for process in (first, int(pid.read_text())):
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_a_program_that_never_answers_is_down(make_target: Any) -> None:
    target = make_target("pass", timeout=0.1, startup=0.3)
    with pytest.raises(TargetDown, match=r"within 0\.3 s.*flushed after each line"):
        target.scores([GOOD])
    assert as_target("cmd:cat", labels="a,b", timeout=10.0).transport.startup == 40.0


def test_a_program_that_ends_at_once_says_why(make_target: Any) -> None:
    target = make_target("pass", "sys.exit('no such weights: /model')")
    with pytest.raises(TargetDown, match=r"exit code 1.*no such weights: /model"):
        target.scores([GOOD])


def test_logs_on_stderr_do_no_harm(make_target: Any) -> None:
    target = make_target("print('x' * 100_000, file=sys.stderr); print('pos')")
    assert target.scores([GOOD] * 5)[:, 1].tolist() == [1.0] * 5


def test_more_than_one_line_is_noticed_at_the_start(make_target: Any) -> None:
    with pytest.raises(UsageError, match=r"more than one line.*stderr"):
        make_target("print('pos\\nneg')").scores([GOOD])
    with pytest.raises(UsageError, match=r"'Model loaded\.'"):
        make_target("print('pos')", "print('Model loaded.')").scores([GOOD])


def test_more_than_one_line_is_noticed_later(make_target: Any) -> None:
    target = make_target("print('pos\\npos' if 'bad' in text else 'pos')")
    target.scores([BAD])
    time.sleep(0.1)
    with pytest.raises(TargetDown, match="printed an extra line"):
        target.scores([GOOD])


@pytest.mark.parametrize("answer", ["maybe", "[0.1, 0.2, 0.7]", "0.9x"])
def test_answers_that_cannot_be_read_are_seen_at_the_start(make_target: Any, answer: str) -> None:
    with pytest.raises(UsageError, match="plain sentence"):
        make_target(f"print({answer!r})").scores([GOOD])


def test_an_answer_that_cannot_be_read_fails_that_text(make_target: Any) -> None:
    target = make_target("print('maybe' if 'bad' in text else 'pos')")
    with pytest.raises(TargetError, match="'maybe'"):
        target.scores([GOOD, BAD])
    assert target.scores([GOOD])[0, 1] == 1.0


def test_numbers_must_be_declared(make_target: Any) -> None:
    with pytest.raises(UsageError, match="--scores single"):
        make_target("print(0.9)").scores([GOOD])


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("cmd:no-such-program-here --flag", "no program 'no-such-program-here'"),
        ("cmd:", "empty command"),
        ("cmd:python 'unclosed", "No closing quotation"),
    ],
)
def test_commands_that_cannot_be(spec: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        as_target(spec, labels="a,b")


def test_labels_are_needed() -> None:
    with pytest.raises(UsageError, match="--labels"):
        as_target("cmd:cat")


def test_labels_that_it_names_need_no_list(make_target: Any) -> None:
    named = "print(json.dumps({'pos': 0.75, 'neg': 0.25} if 'good' in text else {'neg': 1}))"
    target = make_target(named.replace("{'neg': 1}", "{'neg': 0.5, 'pos': 0.5}"), labels=None)
    assert target.labels == ("neg", "pos")
    assert target.scores([GOOD, BAD]).tolist() == [[0.25, 0.75], [0.5, 0.5]]
    listed = SCORED.replace("[0.8, 0.2]", "{'neg': 0.8, 'pos': 0.2}")
    target = make_target(listed, labels=None)
    with pytest.raises(TargetError, match="has no labels"):
        target.scores([GOOD])


def test_pairs_name_their_labels_too(make_target: Any) -> None:
    body = "print(json.dumps({'yes': 1.0, 'no': 0.0} if 'premise' in row else [1, 0]))"
    target = make_target(body, labels=None, fields=("premise", "hypothesis"))
    assert target.labels == ("no", "yes")


def test_no_shell_is_used(make_target: Any, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    target = as_target(f"cmd:echo pos ; touch {trap}", labels="neg,pos", timeout=5.0)
    with pytest.raises((UsageError, TargetDown, TargetError)):
        target.scores([GOOD])
    target.close()
    assert not trap.exists()


def test_the_fingerprint_follows_the_script(make_target: Any) -> None:
    first = make_target(SCORED).fingerprint
    assert make_target(SCORED).fingerprint == first
    assert make_target(SCORED + "  # other").fingerprint != first
    assert make_target(SCORED, labels="a,b").fingerprint != first


def test_a_plain_filter_is_enough() -> None:
    target = as_target("cmd:sed -u s/.*/pos/", labels="neg,pos")
    assert target.name == "cmd:sed"
    assert target.scores([GOOD, OTHER])[:, 1].tolist() == [1.0, 1.0]
    target.close()  # type: ignore[attr-defined]
