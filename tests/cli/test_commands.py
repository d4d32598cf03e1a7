"""Every command: what it prints, as tables, as JSON, or not at all, and how it ends."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from brittle import attack
from brittle.levels import LEVELS
from brittle.testing import FakeTarget
from cli.conftest import Brittle

ATTACK = ("attack", "python:cli_models:weak", "pwws")
ATTACK += ("--candidates", "paper", "--data", "films.csv")
PWWS = ("--attack", "pwws", "--candidates", "paper")
SENTENCE = ("try", "python:cli_models:weak", "a good film")

EVERY: dict[str, tuple[str, ...]] = {
    "attack": (*ATTACK, "--name", "weak"),
    "try": (*SENTENCE, "--attack", "pwws"),
    "show": ("show", "weak"),
    "report": ("report", "weak", "--out", "new.html"),
    "export": ("export", "weak", "rows.csv"),
    "card": ("report", "weak", "--out", "card.md"),
    "two runs": ("report", "weak", "strong", "--out", "two.html"),
    "verify": ("verify", "weak"),
    "compare": ("compare", "weak", "strong"),
    "list runs": ("list", "runs"),
    "list attacks": ("list", "attacks"),
    "list goals": ("list", "goals"),
    "list data": ("list", "data"),
    "list models": ("list", "models"),
}
MADE = {"attack": "runs/weak.sqlite", "export": "rows.csv"}
"""What a command prints with --quiet: the path of what it made."""
COMMANDS = (
    *("attack", "try", "show", "report", "export", "verify", "compare", "train", "list"),
    "augment",
)


@pytest.mark.parametrize("words", EVERY.values(), ids=EVERY)
def test_every_command_prints_json(brittle: Brittle, words: tuple[str, ...]) -> None:
    output = brittle(*words, "--json")
    assert output.code == 0 and json.loads(output.out)


@pytest.mark.parametrize("words", EVERY.values(), ids=EVERY)
def test_every_command_can_be_quiet(brittle: Brittle, words: tuple[str, ...]) -> None:
    output = brittle(*words, "--quiet")
    made = MADE.get(words[0], "") if words[0] != "report" else words[-1]
    assert (output.code, output.out, output.err) == (0, f"{made}\n" if made else "", "")


@pytest.mark.parametrize("words", EVERY.values(), ids=EVERY)
def test_every_command_prints_for_people(brittle: Brittle, words: tuple[str, ...]) -> None:
    output = brittle(*words)
    assert output.code == 0 and output.out.strip() and "{" not in output.out
    assert all(len(line) <= 100 for line in output.out.splitlines())


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_s_help_has_an_example(brittle: Brittle, command: str) -> None:
    output = brittle(command, "--help")
    assert output.code == 0 and f"brittle {command}" in output.out.split("example", 1)[1]
    assert "--json" in output.out and "--quiet" in output.out


def test_help_and_version(brittle: Brittle) -> None:
    output = brittle("--help")
    assert output.code == 0 and all(command in output.out for command in COMMANDS)
    assert brittle().out == output.out
    assert brittle("--version").out.startswith("brittle 0.")


def test_an_attack_brings_its_settings_along(brittle: Brittle) -> None:
    output = brittle("attack", "x", "pwws", "--help")
    assert "settings of pwws" in output.out and "--share FLOAT" in output.out
    assert "--no-inflect" in output.out and "--population" not in output.out
    output = brittle("attack", "x", "genetic", "--help")
    assert "--population INT" in output.out and "(default: 60)" in output.out
    assert "--population" in brittle("try", "x", "y", "--attack", "genetic", "--help").out
    assert "--share" not in brittle("attack", "--help").out.split("examples:")[0]


def test_settings_are_passed_through(brittle: Brittle) -> None:
    output = brittle(*ATTACK, "--name", "half", "--share", "0.5", "--no-inflect", "--json")
    settings = json.loads(output.out)["manifest"]["settings"]
    assert settings["share"] == 0.5 and settings["inflect"] is False


def test_the_users_own_attack_has_settings_too(brittle: Brittle, workdir: Path) -> None:
    (workdir / "cli_attacks.py").write_text(
        "from dataclasses import dataclass\n"
        "from typing import Annotated\n"
        "from brittle.asks import Try\n"
        "@dataclass(frozen=True)\n"
        "class Put:\n"
        "    word: str\n"
        "    asks = (Try,)\n"
        "    def __call__(self, case, rng):\n"
        "        yield from Try([case.text.swap(1, self.word)])\n"
        "def put(*, word: Annotated[str, 'the word to put second'] = 'odd'):\n"
        "    return Put(word)\n"
    )
    words = ("attack", "python:cli_models:weak", "python:cli_attacks:put")
    assert "the word to put second (default: odd)" in brittle(*words, "--help").out
    output = brittle(*words, "--data", "films.csv", "--word", "even", "--limit", "3", "--json")
    data = json.loads(output.out)
    assert data["manifest"]["settings"] == {"word": "even"} and data["statuses"]["broken"] == 3


def test_progress_is_on_stderr_and_rows_on_stdout(brittle: Brittle) -> None:
    output = brittle(*ATTACK, "--name", "shown", "--limit", "5")
    assert "5/5 cases" in output.err and "5/5 cases" not in output.out
    assert "attack success" in output.out and "Run: runs/shown.sqlite" in output.out


def test_warnings_are_on_stderr(brittle: Brittle, workdir: Path) -> None:
    rows = [f"a good film {i} good,negative" for i in range(12)]
    (workdir / "swapped.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    output = brittle(*ATTACK[:-1], "swapped.csv", "--json")
    assert "warning:" in output.err and "probably swapped" in output.err
    assert "negative=positive" in output.err
    assert any("swapped" in warning for warning in json.loads(output.out)["manifest"]["warnings"])


def test_a_warning_is_shown_once_on_one_screen(workdir: Path) -> None:
    """It is said at once and stands in the result, too, if that goes elsewhere."""
    (workdir / "gap.csv").write_text(
        "text,label\na good film,positive\n,negative\na bad one,negative\n"
    )
    command = [sys.executable, "-m", "brittle", *ATTACK[:-1], "gap.csv", "--name"]
    for name, streams, counts in (
        ("together", {"stderr": subprocess.STDOUT}, (1,)),
        ("apart", {"stderr": subprocess.PIPE}, (1, 1)),
    ):
        done = subprocess.run([*command, name], stdout=subprocess.PIPE, cwd=workdir, **streams)
        outputs = [done.stdout, done.stderr][: len(counts)]
        assert [output.count(b"1 row: no text") for output in outputs] == list(counts), outputs


def test_examples_are_shown_as_many_as_asked_for(brittle: Brittle) -> None:
    assert brittle("show", "weak", "--examples", "2").out.count("[good→full]") == 2
    assert "→" not in brittle("show", "weak", "--examples", "0").out


def test_the_report_is_written_where_asked(brittle: Brittle, workdir: Path) -> None:
    assert brittle("report", "weak").out.strip() == "runs/weak.html"
    assert brittle("report", "weak", "--out", "new/r.html").code == 0
    assert (workdir / "new" / "r.html").read_text().lower().startswith("<!doctype html>")
    output = brittle(*ATTACK, "--name", "weak", "--report", "also.html")
    assert (
        str(workdir / "also.html") in output.out.replace("\n", "")
        and (workdir / "also.html").exists()
    )


def test_the_broken_cases_alone_are_exported(brittle: Brittle, workdir: Path) -> None:
    brittle("export", "weak", "all.csv")
    assert brittle("export", "weak", "broken.csv", "--broken").code == 0
    texts = [(workdir / f"{name}.csv").read_text("utf-8") for name in ("all", "broken")]
    every, broken = (list(csv.DictReader(io.StringIO(text))) for text in texts)
    assert 0 < len(broken) < len(every)
    assert broken == [row for row in every if row["status"] == "broken"]


def test_rows_are_exported(brittle: Brittle, workdir: Path) -> None:
    for ending in ("csv", "jsonl", "parquet"):
        assert brittle("export", "weak", f"out.{ending}", "--json").code == 0
        assert (workdir / f"out.{ending}").stat().st_size > 100
    with (workdir / "out.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 11
    output = brittle("export", "weak", "out.xls")
    assert output.code == 2 and "expected a name that ends in .csv" in output.err


def test_winners_are_verified(brittle: Brittle) -> None:
    output = brittle("verify", "weak")
    assert (output.code, output.out) == (0, "10 of 10 broken cases still break.\n")
    output = brittle("verify", "weak", "--target", "python:cli_models:strong")
    assert output.code == 1 and "0 of 10 broken cases still break." in output.out
    assert "10 of 10 broken cases no longer break" in output.err
    output = brittle("verify", "weak", "--target", "python:cli_models:strong", "--json")
    assert output.code == 1 and {row["wins"] for row in json.loads(output.out)} == {False}


def test_a_run_on_a_live_object_needs_a_target_to_be_verified(
    brittle: Brittle, workdir: Path
) -> None:
    attack(FakeTarget({"good": 2.0}), ["a good film"], folder=workdir / "runs", name="live")
    output = brittle("verify", "live")
    assert output.code == 2 and "made on a live object. Name a target with --target" in output.err
    assert brittle("verify", "live", "--target", "python:cli_models:weak").code == 0


def test_a_worse_run_fails_the_gate(brittle: Brittle) -> None:
    assert brittle("compare", "weak", "strong", "--fail-if-worse", "--quiet").code == 0
    output = brittle("compare", "strong", "weak", "--fail-if-worse", "--quiet")
    assert output.code == 1 and "'weak' is worse than 'strong'" in output.err
    broken = "of the 11 cases that both have right without edits, the attack breaks 90.9% instead"
    assert f"{broken} of 9.1%, 81.8 points more (McNemar's exact test: p = 0.0234)" in output.err
    assert brittle("compare", "strong", "weak", "--quiet").code == 0
    strict = ("compare", "strong", "weak", "--fail-if-worse", "--quiet", "--level", "1e-6")
    assert brittle(*strict).code == 0
    assert "between 0 and 1" in brittle("compare", "strong", "weak", "--level", "5").err


def test_runs_that_share_no_case_cannot_fail_or_pass(brittle: Brittle, workdir: Path) -> None:
    (workdir / "others.csv").write_text("text,label\nso good,positive\n")
    assert brittle(*ATTACK[:-1], "others.csv", "--name", "others", "--quiet").code == 0
    output = brittle("compare", "weak", "others", "--fail-if-worse")
    assert output.code == 2 and "shares no case" in output.err


def test_one_class_is_attacked_alone(brittle: Brittle) -> None:
    output = brittle(*ATTACK, "--name", "one-class", "--only", "negative", "--json")
    data = json.loads(output.out)
    assert data["cases"] == 1 and data["manifest"]["only"] == "negative"
    assert "--only LABEL" in brittle("attack", "--help-all").out
    output = brittle(*ATTACK, "--name", "none", "--only", "neutral")
    assert output.code == 2 and "Unknown label 'neutral'" in output.err


def test_a_goal_is_named(brittle: Brittle, workdir: Path) -> None:
    goals = """
        def unsure(text, scores):
            return "film" in text and 1.5 - max(scores)
    """
    (workdir / "cli_goals.py").write_text(textwrap.dedent(goals))
    one = ("--goal", "python:cli_goals:unsure")
    data = json.loads(brittle(*ATTACK, "--name", "unsure", *one, "--json").out)
    assert data["manifest"]["goal"] == "python:cli_goals:unsure"
    assert data["statuses"]["broken"] == 10
    assert "under attack, by label" in brittle("show", "unsure").out
    both = (*one, "--goal", "not:toward:negative")
    data = json.loads(brittle(*ATTACK, "--name", "both", *both, "--json").out)
    assert data["manifest"]["goal"] == "all(python:cli_goals:unsure; not:toward:negative)"
    (row,) = json.loads(brittle(*SENTENCE, *PWWS, "--json", *one).out)
    assert row["goal"] == "python:cli_goals:unsure" and row["status"] == "broken"
    assert row["adversarial_confidence"] == 0.5
    assert "--goal GOAL" in brittle("try", "--help").out
    toward = (*ATTACK, "--name", "toward", "--json", "--limit", "1")
    data = json.loads(brittle(*toward, "--goal", "toward:NEGATIVE").out)
    again = json.loads(brittle(*toward, "--toward", "negative").out)  # the same run
    assert data["manifest"]["toward"] == "negative" and data["manifest"] == again["manifest"]


def test_comparing_is_paired(brittle: Brittle) -> None:
    data = json.loads(brittle("compare", "strong", "weak", "--json").out)
    assert [run["run"] for run in data["runs"]] == ["strong", "weak"]
    (pair,) = data["paired"]
    assert pair["shared"] == 11 and pair["accuracy"]["difference"] < -0.5


def test_one_sentence_is_tried(brittle: Brittle) -> None:
    output = brittle(*SENTENCE)
    assert output.code == 0 and "a [good→full] film" in output.out
    levels = [line[2:].split("  ")[0] for line in output.out.splitlines() if " quer" in line]
    assert levels == [level.title for level in LEVELS.values()]
    rows = json.loads(brittle(*SENTENCE, "--json").out)
    broken = [row["level"] for row in rows if row["status"] == "broken"]
    assert {"any", "typo"} <= set(broken) and broken == [name for name in LEVELS if name in broken]
    output = brittle(*SENTENCE, *PWWS)
    assert "pwws: broken" in output.out and "a [good→full] film" in output.out
    (row,) = json.loads(brittle(*SENTENCE, *PWWS, "--json").out)
    assert row["adversarial"] == "a full film" and row["steps"][0]["query"] == 1
    output = brittle(*SENTENCE, "--label", "negative", "--attack", "pwws")
    assert "pwws: skipped (already wrong)" in output.out
    assert brittle(*SENTENCE, "--label", "neg").code == 2


def test_what_there_is_is_listed(brittle: Brittle) -> None:
    def names(what: str, column: str) -> list[Any]:
        return [row[column] for row in json.loads(brittle("list", what, "--json").out)]

    assert {"weak", "strong"} <= set(names("runs", "run"))
    assert {"pwws", "genetic", "random-swap", "strongest-swap", "tack-on"} <= set(
        names("attacks", "attack")
    )
    assert {"untargeted", "keyword", "bleu", "python", "all"} <= set(names("goals", "goal"))
    assert "any(keyword:Art; length:2)" in brittle("list", "goals", "--json").out
    assert names("data", "data")[:3] == ["mr", "imdb", "bbc"]
    models = json.loads(brittle("list", "models", "--json").out)["models"]
    assert {"naive-bayes", "linear-svm"} <= {row["model"] for row in models}
    output = brittle("list", "runs", "--runs", "nowhere")
    assert (output.code, output.out) == (0, "There are no runs yet.\n")


def test_runs_are_listed_without_loading_their_rows(
    brittle: Brittle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("brittle.runs.store.Store.results")
    rows = {row["run"]: row for row in json.loads(brittle("list", "runs", "--json").out)}
    assert (rows["weak"]["cases"], rows["weak"]["broken"]) == ("11/11", 10)
    assert (rows["strong"]["cases"], rows["strong"]["broken"]) == ("11/11", 1)


def test_a_model_is_trained_once(
    brittle: Brittle, workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRITTLE_CACHE", str(workdir / "cache"))
    words = ("good great fine", "bad dull poor")
    rows = [f"a {words[i % 2]} film {i},{('positive', 'negative')[i % 2]}" for i in range(60)]
    (workdir / "train.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    first = brittle("train", "naive-bayes", "--data", "train.csv", "--json")
    assert first.code == 0, first.err
    folder = Path(json.loads(first.out)["written"])
    assert folder.is_dir() and folder.is_relative_to(workdir / "cache")
    again = brittle("train", "naive-bayes", "--data", "train.csv", "--json", "--quiet")
    assert json.loads(again.out)["written"] == str(folder) and again.err == ""
    output = brittle("attack", str(folder), "pwws", "--data", "films.csv", "--json", "--quiet")
    assert output.code == 0 and json.loads(output.out)["cases"] == 11


def test_the_script_and_the_module_are_the_same() -> None:
    argv = [sys.executable, "-m", "brittle.cli", "--version"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("brittle 0.")


def test_the_card_is_printed_or_written(brittle: Brittle) -> None:
    printed = brittle("card", "weak")
    assert printed.code == 0 and printed.out.startswith("---\nmodel-index:\n")
    assert "brittle attack python:cli_models:weak pwws --data films.csv" in printed.out
    facts = json.loads(brittle("card", "weak", "--json").out)
    assert facts["validity"] is None and facts["searched"].startswith("pwws (")
    assert brittle("card", "weak", "--quiet").out == ""
    written = brittle("card", "weak", "--out", "cards/weak.md")
    path = Path(written.out.strip())
    assert path.read_text("utf-8") == printed.out


def test_a_run_ends_with_what_its_figures_rest_on(brittle: Brittle) -> None:
    shown = brittle("show", "weak", "--examples", "0").out
    assert "trust" in shown and "not checked yet: do random edits break it, too?" in " ".join(
        shown.split()
    )
