"""Real line filters: in step, of another number of lines, hanging, failing, without an end."""

from __future__ import annotations

import shlex
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from brittle.engine.broker import Broker
from brittle.errors import TargetDown, TargetError, UsageError
from brittle.opening import as_target
from brittle.targets.capabilities import make_desks
from brittle.targets.translators import PROBES, LineFilter
from brittle.text import Text

GOOD, BAD = Text.of("a good film"), Text.of("a bad film")


@pytest.fixture
def make_filter(tmp_path: Path) -> Callable[..., LineFilter]:
    def make(body: str, **options: Any) -> LineFilter:
        """Build the filter of a script that has all lines of its input in `lines`."""
        script = tmp_path / "filter.py"
        script.write_text(
            "import os, subprocess, sys, time\n"
            f"open({str(tmp_path / 'starts')!r}, 'a').write('+')\n"
            f"lines = sys.stdin.buffer.read().decode().split('\\n')[:-1]\n{body}\n"
        )
        return LineFilter(f"filter:'{sys.executable}' -S '{script}'", **options)

    return make


def items(*texts: str) -> list[Text]:
    return [Text.of(text) for text in texts]


def test_plain_lines_in_and_out_with_blank_ones_in_step() -> None:
    target = as_target("filter:tr a-z A-Z")
    texts = ["a film", "", "  ", "a plot", ""]
    assert target.translate(items(*texts)) == ["A FILM", "", "  ", "A PLOT", ""]
    assert target.translate([]) == [] and (target.name, target.labels) == ("filter:tr", ())


def test_one_process_a_batch(make_filter: Any, tmp_path: Path) -> None:
    target = make_filter("print('\\n'.join(lines))")
    broker = Broker(make_desks(target))
    texts = [f"film {n}" for n in range(50)]
    answers, failures = broker.answer("answer", items(*texts))
    broker.close()
    assert (answers, failures) == (texts, {})
    # Before the batch: each plain sentence alone, then all of them together.
    assert len((tmp_path / "starts").read_text()) == len(PROBES) + 1 + 1


@pytest.mark.slow
def test_a_filter_that_is_too_slow_for_a_batch_gets_fewer_lines(
    make_filter: Any, tmp_path: Path
) -> None:
    body = "time.sleep(60 if len(lines) > 2 else 0); print('\\n'.join(lines))"
    target = make_filter(body, timeout=3.0)
    broker, starts = Broker(make_desks(target)), []
    for batch in ("first", "second"):
        texts = [f"{batch} {n}" for n in range(8)]
        assert broker.answer("answer", items(*texts)) == (texts, {})
        starts.append(len((tmp_path / "starts").read_text()))
    broker.close()
    # First twice too many, with a plain sentence each; then at most 2 lines a process at once.
    assert starts[0] >= 8 and starts[1] - starts[0] <= 8


@pytest.mark.parametrize("mark", ["\n", "\r\n", "\r", "\u2028", "\x85", "\0", "\f"])
def test_line_breaks_inside_a_text_become_spaces(mark: str) -> None:
    texts = items(f"a{mark}film", "a plot")
    assert as_target("filter:cat").translate(texts) == ["a film", "a plot"]


def test_other_scripts_and_foreign_line_ends(make_filter: Any) -> None:
    target = make_filter("sys.stdout.buffer.write('\\r\\n'.join(lines).encode() + b'\\r\\n')")
    assert target.translate(items("ein schöner Film", "фильм", "映画")) == [
        "ein schöner Film",
        "фильм",
        "映画",
    ]


def test_bytes_that_are_no_text_are_replaced(make_filter: Any) -> None:
    target = make_filter("sys.stdout.buffer.write(b'\\xff\\n' * len(lines))")
    assert target.translate([GOOD]) == ["\ufffd"]


def test_fewer_lines_fail_with_both_counts_and_the_batch_is_halved(make_filter: Any) -> None:
    target = make_filter("[print(line) for line in lines if 'bad' not in line]")
    with pytest.raises(TargetError, match=r"gave 4 lines for 5 \(every second one blank\)"):
        target.translate([GOOD, BAD, GOOD])
    broker = Broker(make_desks(target))
    answers, failures = broker.answer("answer", items("one", "a bad film", "two", "three"))
    broker.close()
    assert answers == ["one", None, "two", "three"]
    assert list(failures) == [1] and "gave 0 lines for 1" in str(failures[1])


def test_more_lines_fail_with_both_counts(make_filter: Any) -> None:
    target = make_filter("print('\\n'.join(lines)); 'bad' in str(lines) and print('more')")
    with pytest.raises(TargetError, match="gave 4 lines for 3"):
        target.translate([GOOD, BAD])
    broker = Broker(make_desks(target))
    answers, failures = broker.answer("answer", [GOOD, BAD])
    broker.close()
    assert answers == ["a good film", None] and "gave 2 lines for 1" in str(failures[1])


def test_a_filter_that_never_keeps_step_is_down(make_filter: Any) -> None:
    with pytest.raises(TargetDown, match=r"gave 2 lines for 1\..*plain sentence"):
        make_filter("print('header'); print('\\n'.join(lines))").translate([GOOD])


def test_an_exit_code_is_told_with_the_end_of_stderr(make_filter: Any) -> None:
    body = "print('\\n'.join(lines)); 'bad' in str(lines) and sys.exit('no dictionary')"
    target = make_filter(body)
    with pytest.raises(TargetError, match=r"ended with exit code 1; .*'no dictionary'"):
        target.translate([GOOD, BAD])
    assert target.translate([GOOD]) == ["a good film"]


@pytest.mark.slow
def test_a_filter_that_hangs_is_killed_with_its_children(make_filter: Any, tmp_path: Path) -> None:
    child = tmp_path / "child"
    body = (
        "p = subprocess.Popen(['sleep', '60'])\n"
        f"open({str(child)!r}, 'w').write(str(p.pid))\n"
        "p.wait()"
    )
    start = time.monotonic()
    with pytest.raises(TargetDown, match=r"did not exit within 2.5 s .*--timeout"):
        make_filter(body, timeout=2.5).translate([GOOD, BAD])
    state = Path(f"/proc/{child.read_text()}/stat")
    # A process that was killed may stay as a zombie, if nobody waits for it.
    while state.exists() and state.read_text().split()[2] != "Z":
        assert time.monotonic() - start < 50
        time.sleep(0.01)


@pytest.mark.slow
def test_a_child_that_holds_the_output_open_counts_as_hanging(make_filter: Any) -> None:
    body = "print('\\n'.join(lines), flush=True); subprocess.Popen(['sleep', '60'])"
    with pytest.raises(TargetDown, match="did not exit within 1 s"):
        make_filter(body, timeout=1.0).translate([GOOD])


def test_an_endless_filter_is_stopped_long_before_its_time() -> None:
    start = time.monotonic()
    with pytest.raises(TargetDown, match=r"wrote more than \d+ bytes and was stopped"):
        as_target("filter:yes", timeout=60.0).translate([GOOD])
    assert time.monotonic() - start < 30


def test_a_missing_program_and_what_a_translator_does_not_have() -> None:
    with pytest.raises(UsageError, match="There is no program 'apertum'"):
        as_target("filter:apertum -u eng-spa")
    with pytest.raises(UsageError, match="Expected filter:PROGRAM ARGS"):
        as_target("filter:")
    for options in ({"labels": "a,b"}, {"scores": "prob"}):
        with pytest.raises(UsageError, match=r"for a translator.* no labels and no scores"):
            as_target("filter:cat", **options)
    with pytest.raises(UsageError, match="--answers scores for a translator"):
        as_target("filter:cat", answers="scores")
    with pytest.raises(UsageError, match="reads one text, but the data has the fields"):
        as_target("filter:cat").translate([Text.of({"premise": "a", "hypothesis": "b"})])


def test_the_fingerprint_knows_command_files_and_answers(make_filter: Any, tmp_path: Path) -> None:
    first = make_filter("print('\\n'.join(lines))").fingerprint
    assert make_filter("print('\\n'.join(lines))").fingerprint == first
    assert make_filter("print('\\n'.join(lines)) # edited").fingerprint != first
    data = tmp_path / "dictionary"
    command = f"filter:{shlex.quote(sys.executable)} -c 'import sys; x = open(sys.argv[1]).read();"
    command += f" [print(x) for _ in sys.stdin]' {shlex.quote(str(data))[:-3]}ary"
    data.write_text("a")
    before = as_target(command).fingerprint
    data.write_text("b")
    assert as_target(command).fingerprint != before


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("apertium") is None, reason="apertium is not installed")
def test_apertium_translates_a_batch_in_step() -> None:
    target = as_target("filter:apertium -u eng-spa")
    texts = items("A man walks.", "", "The dog sleeps in the house.", "The dog sleeps")
    translations = target.translate(texts)
    assert len(translations) == 4 and translations[1] == "" and "perro" in translations[2]
    assert target.translate(texts[2:3]) == translations[2:3]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("apertium") is None, reason="apertium is not installed")
@pytest.mark.parametrize(
    ("mode", "texts"),
    [
        (
            "eng-spa",
            [
                "A child in a white suit practicing a move",
                "Man scaling wall with fire in hand",
                "",
                "The old man gives the",
                "A dog, and [a cat",
                "white house near the",
            ],
        ),
        ("spa-eng", ["Un niño con un traje", "blanco hombre escalando un muro", "", "la casa"]),
    ],
)
def test_apertium_reads_no_text_into_the_next(mode: str, texts: list[str]) -> None:
    target = as_target(f"filter:apertium -u {mode}")
    alone = [target.translate([item])[0] for item in items(*texts)]
    assert target.translate(items(*texts)) == alone
    assert target.translate(items(*texts[::-1])) == alone[::-1]
