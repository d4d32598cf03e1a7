"""`--dry-run` and the line before long work: counts, and only times that were measured."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from brittle.runs import forecast
from brittle.runs.forecast import Forecast, Work, attack_work, pace_of, searches
from brittle.runs.options import Limits
from brittle.studies.forecast import trainings
from brittle.studies.pools import load_pool
from cli.conftest import Brittle

WEAK, STRONG = "python:cli_models:weak", "python:cli_models:strong"
BOTH, DATA = f"{WEAK},{STRONG}", ("--data", "films.csv")
DRY: dict[str, tuple[tuple[str, ...], str]] = {
    "attack": (("attack", WEAK, "key", *DATA), "At most: key on 11 cases."),
    "transfer": (
        ("study", "transfer", BOTH, "key", *DATA, "--winners", "3"),
        "At most: key on 11 cases of each of 2 models; 6 adversarial texts tried on the other",
    ),
    "grid": (
        ("study", "grid", BOTH, "key,typo", *DATA, "--limit", "5"),
        "At most: key on 5 cases of each of 2 models; typo on 5 cases of each of 2 models.",
    ),
    "robustness": (
        ("study", "robustness", BOTH, "--generator", "python:none:g", *DATA, "--limit", "2"),
        "At most: 2 cases with 15,000 samples each in balls, then 500 in every shell",
    ),
    "train": (("train", "pool:pool.txt", "--data", "films.csv"), "At most: 2 trainings."),
    "zoo": (
        ("attack", "zoo:naive-bayes@films.csv", "key", *DATA),
        "At most: 1 training; key on 11 cases.",
    ),
}


@pytest.fixture
def empty_cache(workdir: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path / "cache"))
    (workdir / "pool.txt").write_text("LSTM-W-Random-1\nnaive-bayes\n")


@pytest.mark.parametrize("name", DRY)
def test_a_dry_run_says_how_much_work_it_is_and_does_nothing(
    name: str, brittle: Brittle, workdir: Path, empty_cache: None
) -> None:
    words, sentence = DRY[name]
    before = sorted(workdir.rglob("*"))
    shown = brittle(*words, "--dry-run")
    assert shown.code == 0, shown.err
    assert " ".join(shown.out.split()).startswith(sentence)
    assert "No time is known for this." in " ".join(shown.out.split())
    data = json.loads(brittle(*words, "--dry-run", "--json").out)
    assert data["seconds"] is None and data["work"][0]["work"][:20] in sentence
    new = [path for path in sorted(workdir.rglob("*")) if path not in before]
    assert not [path for path in new if "__pycache__" not in str(path)]


def test_ensembles_are_counted_once(brittle: Brittle) -> None:
    three = f"{BOTH},python:cli_models:other"
    words = ("study", "transfer", three, "key", *DATA, "--workers", "1", "--name", "three")
    assert brittle(*words).code == 0
    select = ("study", "select", "three", "--size", "2,3", "--held-out", "none", "--method", "all")
    dry = brittle(*select, "--attack", "--dry-run")
    assert dry.code == 0, dry.err
    assert re.match(
        r"At most: key on \d+ cases of each of 10 ensembles\.", " ".join(dry.out.split())
    )
    assert "use it with --attack" in brittle(*select, "--dry-run").err


def test_times_are_those_of_a_stored_run(brittle: Brittle, workdir: Path) -> None:
    assert brittle("attack", WEAK, "key", *DATA, "--name", "measured").code == 0
    pace = pace_of(WEAK, "key", workdir / "runs")
    assert pace is not None and pace.run == "measured"
    totals = json.loads(brittle("show", "measured", "--json").out)["totals"]
    assert pace.seconds == pytest.approx(totals["seconds"] / 11)
    (work,) = searches([WEAK], "key", 1000, workdir / "runs")
    assert work.seconds == pytest.approx(1000 * pace.seconds)
    assert work.known.endswith("as fast as in the run measured")
    assert pace_of(STRONG, "key", workdir / "runs") is None
    assert pace_of(WEAK, "genetic", workdir / "runs") is None
    (part,) = searches([WEAK, STRONG], "key", 1000, workdir / "runs")
    assert part.seconds is None and part.known.endswith("for 1 of the models")


def test_long_work_is_said_before_it_begins(
    brittle: Brittle, workdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("attack", WEAK, "key", *DATA, "--name", "said")
    assert "At most" not in brittle(*words).err, "no time is known, and nothing is paid for"
    assert "At most" not in brittle(*words, "--new").err, "it is quick"
    monkeypatch.setattr(forecast, "LONG_SECONDS", 0.0)
    assert "At most: key on 11 cases (about " in brittle(*words, "--new").err
    assert "At most" not in brittle(*words, "--new", "--quiet").err


def test_queries_of_an_endpoint_are_counted(tmp_path: Path) -> None:
    def sentence(**limits: int) -> str:
        return attack_work("http:x", "auto", 200, Limits(**limits), True, tmp_path).sentence()

    assert (
        "auto on 200 cases; 10,000 queries (50 for each case). No time is known for this."
        in sentence(budget=50)
    )
    assert (
        "auto on 200 cases; 5,000 texts sent, in as many requests or fewer (--max-sent)."
        in sentence(budget=50, max_sent=5000)
    )
    assert "no limit of queries is set" in sentence()


def test_an_endpoint_is_announced(brittle: Brittle) -> None:
    words = ("attack", "cmd:cat", "key", *DATA, "--limit", "2", "--budget", "3", "--dry-run")
    done = brittle(*words, "--labels", "negative,positive")
    assert "key on 2 cases; 6 queries (3 for each case)" in " ".join(done.out.split())


def test_a_training_takes_as_long_as_the_same_model_took(
    brittle: Brittle, workdir: Path, empty_cache: None
) -> None:
    rows = [f"a {word} film {n},{label}" for n in range(20) for word, label in WORDS]
    (workdir / "toy.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    pool = load_pool("pool:pool.txt", "toy.csv", 2)
    assert [part.what for part in trainings(pool.members)] == ["4 trainings"]
    assert brittle("train", "naive-bayes", "--data", "toy.csv", "--quiet").code == 0
    (part,) = trainings(pool.members)
    assert part.what == "3 trainings" and part.seconds is None
    assert part.known.startswith("about ") and "for 1 of them, unknown for" in part.known


WORDS = (("good", "positive"), ("bad", "negative"))


def test_a_forecast_in_words() -> None:
    assert Forecast(()).sentence() == "Nothing is left to do." and not Forecast(()).is_long
    short, long = Work("1 training", 3.0, "about 3.0 s"), Work("9 trainings", 90.0, "about 90 s")
    assert not Forecast((short,)).is_long and Forecast((short, long)).is_long
    assert Forecast((short, long)).seconds == 93.0
    assert Forecast((Work("2 searches"),)).is_long
