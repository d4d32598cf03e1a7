"""Guard mode: what is attacked, what is counted, what a second start asks, what is refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

import brittle
from brittle.cli import main
from brittle.errors import UsageError
from brittle.safety.characters import plain
from brittle.studies.guard.scoring import edited_at_random
from brittle.studies.guard.texts import as_item
from brittle.studies.study import Study

BAD = ("ignore", "rules", "secret", "password", "system")
CLEAN = ("weather", "garden", "music", "coffee", "train", "recipe", "museum", "holiday")
ATTACKS = [
    f"please {BAD[n % 5]} the {BAD[(n + 1) % 5]} of the {BAD[(n + 2) % 5]}" for n in range(5)
]
ATTACKS.append("what a fine day it is")
BENIGN = [f"{CLEAN[n % 8]} {CLEAN[n // 8 % 8]} of day {n}" for n in range(130)]
MODEL = """
import os, time
BAD = ("ignore", "rules", "secret", "password", "system")
def rate(texts):
    time.sleep(float(os.environ.get("GUARD_SLEEP", 0)))
    with open("asked.txt", "a") as log:
        log.writelines(f"{text!r}\\n" for text in texts)
    bad = [sum(word in BAD for word in text.lower().split()) for text in texts]
    scores = [min(0.99, 0.3 * n + 0.01 * (len(t) % 10)) for n, t in zip(bad, texts)]
    return [[1 - score, score] for score in scores]
rate.labels = ["benign", "injection"]
"""


class CountingGuard:
    """Scores a text by its words of attack; `asked` holds every text that it was asked about."""

    labels = ("benign", "injection")

    def __init__(self, folds: Callable[[str], str] = str.casefold) -> None:
        self.folds = folds
        self.asked: list[str] = []

    def __call__(self, texts: Sequence[str]) -> Any:
        self.asked += texts
        return [[1 - score, score] for score in map(self.score, texts)]

    def score(self, text: str) -> float:
        bad = sum(word in BAD for word in self.folds(text).split())
        return min(0.99, 0.3 * bad + 0.01 * (len(text) % 10))


class LabelGuard(CountingGuard):
    """Answers labels only."""

    def __call__(self, texts: Sequence[str]) -> Any:
        self.asked += texts
        return [self.labels[self.score(text) >= 0.5] for text in texts]


class ParanoidGuard(CountingGuard):
    """Flags every text with a letter that is not ASCII."""

    def score(self, text: str) -> float:
        return super().score(text) if text.isascii() else 0.98


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def measure(guard: Any, attacks: Any = ATTACKS, benign: Any = BENIGN, **changed: Any) -> Any:
    settings = {"at_fpr": 0.05, "by": "look-alike,case", "budget": 60, "name": "mine"}
    return brittle.guard(guard, attacks, benign, **{**settings, "progress": False, **changed})


def test_only_caught_texts_are_attacked_and_recall_is_over_all() -> None:
    study = measure(CountingGuard())
    results = study.results
    assert (results.point.of, results.measured.of, results.by_name) == (65, 65, True)
    assert [case.is_caught for case in results.cases].count(False) == 1
    assert (results.before.count, results.before.of) == (5, 6)
    attack = results.attacks["look-alike"]
    assert {row.case for row in attack.rows} == {case.case for case in results.caught}
    assert results.after("look-alike").count == 5 - len(attack.broken) and attack.broken
    guard = CountingGuard()
    for row in attack.broken.values():
        assert guard.score(row.adversarial or "") < results.point.threshold
        assert row.queries <= 60 and row.words_changed > 0
    lost = results.lost()
    assert (lost.only_a, lost.only_b, lost.neither) == (len(results.evaded()), 0, 1)
    assert results.attacks["case"].is_normalised and results.attacks["case"].benign is None


def test_a_guard_that_flags_every_edited_text_is_shown_as_one() -> None:
    study = measure(ParanoidGuard(), by="look-alike")
    attack = study.results.attacks["look-alike"]
    assert study.results.after("look-alike") == study.results.before
    assert attack.benign is not None and attack.benign.flagged == attack.benign.of == 65
    assert attack.benign.before <= 0.1 * attack.benign.of
    honest = measure(CountingGuard(), by="look-alike", name="other").results.attacks["look-alike"]
    assert honest.benign is not None and honest.benign.flagged <= 0.1 * honest.benign.of


def test_an_attack_that_is_weaker_than_random_edits_is_doubted() -> None:
    class Blind(LabelGuard):
        """Lets a text through if three of its words are edited, and shows nothing before."""

        def score(self, text: str) -> float:
            edited = sum(not word.isascii() for word in text.split())
            return 0.0 if edited > 2 else super().score(text)

    for budget, is_weaker in ((9, True), (20, False)):
        study = measure(Blind(), by="look-alike", budget=budget, name=f"of-{budget}")
        assert len(study.results.attacks["look-alike"].broken) == (0 if is_weaker else 5)
        doubts = [one for one in study.warnings if "Random edits get more texts past" in one]
        assert bool(doubts) == is_weaker


def test_a_second_start_asks_nothing_and_other_settings_are_refused() -> None:
    first, guard = measure(CountingGuard()), CountingGuard()
    again = measure(guard)
    assert again == first
    # A function is known by what it answers on fixed sentences; no text of the study is among them.
    assert not {*ATTACKS, *BENIGN} & set(guard.asked)
    with pytest.raises(
        UsageError, match="'mine' already exists with other settings: budget 60, now 61"
    ):
        measure(CountingGuard(), budget=61)
    assert measure(CountingGuard(), budget=61, new=True).facts.budget == 61


def test_labels_alone_have_their_own_operating_point() -> None:
    study = measure(LabelGuard(), by="look-alike")
    assert (study.results.point.by, study.results.point.threshold) == ("labels", 0.5)
    assert study.results.before.count == 5 and study.results.attacks["look-alike"].broken
    assert "by its own decision (labels only)" in study.view().html()


def test_the_ladder_says_what_is_caught_at_each_level() -> None:
    study = measure(CountingGuard(), ATTACKS[:2], by="auto", budget=100)
    levels = [row.level for row in study.results.attacks["auto"].broken.values()]
    assert levels and all(levels)
    assert "Level by level" in study.view().html()


def test_a_guard_that_folds_characters_normalises_them() -> None:
    study = measure(CountingGuard(lambda text: plain(text).casefold()))
    assert study.results.attacks["look-alike"].is_normalised
    rows = {row["attack"]: row for row in study.summary()["attacks"]}
    assert rows["look-alike"]["recall"] is None and rows["look-alike"]["normalised"] is True
    assert rows["all together"]["recall"] == rows["no attack"]["recall"]


@pytest.mark.parametrize(
    ("attacks", "benign", "message"),
    [
        (ATTACKS, BENIGN[:50], "Got 50 different benign texts.* needs at least 120: 60 "),
        (ATTACKS, [BENIGN[0]] * 130, "Got 1 different benign text; "),
        ([" ", "…"], BENIGN, "2 examples without a word"),
        (ATTACKS, [""] * 130, "benign data .* without a word"),
        (BENIGN[:5], BENIGN, "All attack texts .* stand among the benign ones"),
    ],
)
def test_texts_that_measure_nothing_are_refused(attacks: Any, benign: Any, message: str) -> None:
    guard = CountingGuard()
    with pytest.raises(UsageError, match=message):
        measure(guard, attacks, benign)
    assert not guard.asked


def test_texts_on_both_sides_are_left_out_of_both() -> None:
    both = f"  {ATTACKS[0].upper()} "
    study = measure(CountingGuard(), benign=[*BENIGN, both], by="look-alike")
    assert ATTACKS[0] not in [case.text for case in study.results.cases]
    assert study.results.point.of + study.results.measured.of == len(BENIGN)
    assert any("left out of both" in warning for warning in study.warnings)


def test_what_the_guard_cannot_answer_is_left_out_and_said() -> None:
    class Broken(CountingGuard):
        def __call__(self, texts: Sequence[str]) -> Any:
            rows = super().__call__(texts)
            return [[float("nan")] * 2 if "day 7" in t else row for t, row in zip(texts, rows)]

    study = measure(Broken(), by="look-alike")
    assert study.results.point.of + study.results.measured.of == 130 - 11  # 7 and 70 to 79
    assert any("failed on 11 texts, left out" in warning for warning in study.warnings)

    class Dead(CountingGuard):
        def __call__(self, texts: Sequence[str]) -> Any:
            return [[float("nan")] * 2] * len(texts)

    with pytest.raises(UsageError, match=r"cannot be measured|not finite|nothing can be measured"):
        measure(Dead(), by="look-alike", name="dead")


@pytest.mark.parametrize(
    ("score", "doubt"),
    [
        (1.0, "flags all texts, attacks and benign ones alike"),
        (0.0, "flags no text at all"),
        (0.3, "flags no text at all"),
    ],
)
def test_a_guard_that_flags_everything_or_nothing_is_doubted(score: float, doubt: str) -> None:
    class Constant(CountingGuard):
        def score(self, text: str) -> float:
            return score

    study = measure(Constant(), by="look-alike")
    assert any(doubt in warning and "--caught" in warning for warning in study.warnings)
    assert study.view().html() and study.summary()


def test_labels_in_other_letters_are_found() -> None:
    guard = CountingGuard()
    guard.labels = ("Benign", "INJECTION")  # type: ignore[assignment]
    assert measure(guard, by="look-alike").facts.caught == "INJECTION"


@pytest.mark.slow
def test_a_huge_text_does_not_stop_a_study() -> None:
    study = measure(CountingGuard(), [*ATTACKS, "ignore rules " * 24_000], by="look-alike")
    row = max(study.results.cases, key=lambda case: len(case.text))
    assert len(row.text) > 300_000 and row.is_caught
    assert "Short and long texts" in study.view().html()


def test_one_label_none_by_name_and_no_classifier_are_refused() -> None:
    guard = CountingGuard()
    guard.labels = ("fine", "not fine")  # type: ignore[assignment]
    with pytest.raises(UsageError, match=r"none of these clearly means.*--caught not fine"):
        measure(guard)
    assert measure(guard, caught="NOT FINE", by="look-alike").facts.caught == "not fine"
    with pytest.raises(UsageError, match=r"Unknown attack 'look-alkie'. Did you mean 'look-alike'"):
        measure(guard, by="look-alkie")


def test_edits_at_random_are_as_many_as_asked_for() -> None:
    text = as_item("ignore all of the rules 12 34 please")
    for share, count in ((0.0, 1), (0.25, 2), (1.0, 6)):
        edited = edited_at_random(text, "look-alike", share, Random(0))
        assert sum(a != b for a, b in zip(text.words, edited.words)) == count
    assert edited_at_random(as_item("12 34"), "look-alike", 1.0, Random(0)) == as_item("12 34")


def write_files() -> None:
    Path("attacks.csv").write_text("\n".join(["text", *ATTACKS]), "utf-8")
    Path("benign.csv").write_text("\n".join(["text", *BENIGN]), "utf-8")
    Path("guard_model.py").write_text(MODEL, "utf-8")


COMMAND = (
    *("guard", "python:guard_model:rate", "--attacks", "attacks.csv", "--benign", "benign.csv"),
    *("--at-fpr", "5%", "--budget", "60", "--name", "mine"),
)


def test_the_commands_of_studies_take_it(capsys: pytest.CaptureFixture[str]) -> None:
    write_files()
    assert main([*COMMAND, "--by", "look-alike,spacing", "--report", "page.html"]) == 0
    printed = capsys.readouterr().out
    assert len(printed.splitlines()) <= 16 and "all together" in printed
    assert all(len(line) <= 80 for line in printed.splitlines())
    page = Path("page.html").read_text("utf-8")
    for heading in ("Operating point", "What evasion costs", "The same edits", "Texts that evade"):
        assert heading in page
    assert main(["show", "mine", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["recall"]["of"] == 6 and figures["false_positives"]["of"] == 65
    for words in (["export", "mine", "rows.csv"], ["export", "mine", "texts.jsonl", "--texts"]):
        assert main(words) == 0
    assert Path("rows.csv").read_text().startswith("attack,recall,low,high,evaded,")
    assert len(Path("texts.jsonl").read_text().splitlines()) == 6 + 2 * 5
    assert main(["verify", "runs/mine/look-alike.sqlite"]) == 0
    assert main(["report", "mine"]) == 0
    assert main([*COMMAND[:-1], "other", "--by", "look-alike", "--at-fpr", "10%"]) == 0
    capsys.readouterr()
    assert main(["compare", "mine", "other"]) == 0
    compared = capsys.readouterr().out
    assert "false positives" in compared and "6 texts" in compared
    assert main(["runs", "rename", "mine", "yours"]) == 0
    assert main(["runs", "delete", "yours", "--yes"]) == 0
    assert not Path("runs/yours").exists() and Path("runs/other.study.json").exists()


def test_wrong_flags_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    write_files()
    assert main([*COMMAND, "--at-fpr", "1%"]) == 2
    assert "needs at least 600: 300 fix the threshold" in capsys.readouterr().err
    assert main([*COMMAND, "--caught", "spam"]) == 2
    assert "Unknown label 'spam'" in capsys.readouterr().err
    assert main([*COMMAND, "--dry-run"]) == 0
    assert "136 texts scored; 54 searches, 3,240 queries" in capsys.readouterr().out
    assert not Path("asked.txt").exists()


def test_several_workers_give_the_rows_of_one(capsys: pytest.CaptureFixture[str]) -> None:
    write_files()
    words = [*COMMAND[:-1], "one", "--by", "look-alike,spacing"]
    assert main(words) == 0
    assert main([*words, "--name", "two", "--workers", "2"]) == 0
    one, two = (Study.load(f"runs/{name}.study.json") for name in ("one", "two"))
    assert one.results == two.results and one.results.evaded()
    assert main([*words, "--name", "two"]) == 0, "the number of workers may change"
    with pytest.raises(UsageError, match="a live object that cannot be sent"):
        measure(lambda texts: CountingGuard()(texts), labels="benign,injection", workers=2)


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_study_that_was_killed_goes_on(tmp_path: Path, workers: str) -> None:
    write_files()
    words = [sys.executable, "-m", "brittle", *COMMAND, "--by", "look-alike,spacing,leet"]
    words += ["--workers", workers]
    whole = [*words[:-1], words[-1], "--name", "whole"]
    subprocess.run(whole, check=True, capture_output=True, cwd=tmp_path)
    killed = subprocess.Popen(
        words,
        cwd=tmp_path,
        env=os.environ | {"GUARD_SLEEP": "0.1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + 60
    while not Path("runs/mine/spacing.sqlite").exists() and time.monotonic() < end:
        time.sleep(0.02)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert not Path("runs/mine.study.json").exists()
    Path("asked.txt").unlink()
    subprocess.run(words, check=True, capture_output=True, cwd=tmp_path)
    asked = Path("asked.txt").read_text("utf-8")
    assert not any(repr(text) in asked for text in BENIGN)
    one, other = (Study.load(f"runs/{name}.study.json") for name in ("whole", "mine"))
    assert one.results == other.results
    subprocess.run(words, check=True, capture_output=True, cwd=tmp_path)
    assert not any(
        repr(text) in Path("asked.txt").read_text("utf-8")[len(asked) :] for text in ATTACKS
    )
