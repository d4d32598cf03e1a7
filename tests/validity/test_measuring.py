"""Validity of stored runs: from people, from judges that people calibrate, and floors without."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brittle
from brittle.errors import UsageError
from brittle.metrics import rate
from brittle.picture import Picture
from brittle.runs.resuming import delete_run, rename_run
from brittle.runs.store import JUDGEMENTS, Store
from brittle.testing import FakeTarget
from brittle.validity.answers import key_paths, load_key
from brittle.validity.baselines import name_other_family, random_edit
from brittle.validity.judges import read_pairs

Answer = Callable[[str, str], Mapping[str, Any]]
TARGET = {"good": 2.0, "bad": -2.0}
EXAMPLES = [(f"a good film of {n} scenes", "positive") for n in range(30)]


def attack(folder: Path, name: str = "demo", **more: Any) -> brittle.Run:
    options = {"name": name, "folder": folder / "runs", "candidates": "paper"} | more
    return brittle.attack(FakeTarget(TARGET), EXAMPLES, "pwws", **options)


@pytest.fixture
def run(tmp_path: Path) -> brittle.Run:
    """A run in which all cases of 30 are broken."""
    run = attack(tmp_path)
    assert run.counts() == {"broken": 30}
    return run


def answer(run: brittle.Run, folder: Path, answers: Answer, people: int = 1) -> list[Path]:
    """Have people answer by a function of an item's role and case; return their files."""
    pages = run.annotate(folder, people=people, count=24)
    key = load_key(pages.key)
    files = []
    for person in range(1, people + 1):
        said = {n: dict(answers(item.roles[0], item.case)) for n, item in key.items.items()}
        content = {"format": "brittle answers", "layout": 1, "sample": key.sample}
        content |= {"preset": key.preset, "person": person, "answers": said}
        files.append(folder / f"answers-{run.name}-{person}.json")
        files[-1].write_text(json.dumps(content), "utf-8")
    return files


def even(role: str, case: str) -> dict[str, Any]:
    """Find the adversaries of every second case valid; all labels are positive."""
    is_valid = role == "original" or int(case, 16) % 2 == 0
    return {"label": "positive" if is_valid else "negative", "natural": 5, "meaning": 5}


@dataclass
class Judge(FakeTarget):
    """Calls every second case positive, by a number in its text."""

    name: str = "judge"
    odd: bool = False

    @property
    def fingerprint(self) -> str:
        return f"judge {self.odd}"

    def scores(self, items: Any) -> Any:
        self.calls.append(len(items))
        said = [int(str(item).split()[4]) % 2 == self.odd for item in items]
        return np.array([[0.1, 0.9] if yes else [0.9, 0.1] for yes in said])


def by_number(run: brittle.Run) -> dict[str, int]:
    return {row.case: int(row.original.split()[4]) for row in run.results()}


def test_validity_is_kept_with_the_run_and_shown_beside_success(
    run: brittle.Run, tmp_path: Path
) -> None:
    assert run.validity() is None and run.stored_floors is None
    assert "valid success" not in str(run)
    measured = run.validity(*answer(run, tmp_path, even, people=2))
    assert measured is not None and measured.reading is not None
    reading = measured.reading
    assert reading.people == 2 and reading.parts["valid"].of == 18
    assert measured == run.validity() == brittle.open_run("demo", tmp_path / "runs").validity()
    text = str(run)
    assert "attack success         100.0%" in text and "valid success" in text
    assert "of 18 adversaries read by 2 people" in text and "success × validity" in text
    card = run.card()
    assert "type: valid_success" in card and "type: validity" in card
    assert "| valid success |" in card and "| validity | **missing**" not in card
    page = run.report(tmp_path / "report.html").read_text("utf-8")
    assert "<h2>Validity</h2>" in page and "all three: valid" in page and "α" in page
    part = brittle.Run(run.path, cases=[run.results()[0].case])
    assert part.stored_validity is None and "valid success" not in str(part)


def test_the_thresholds_and_the_kept_answers(run: brittle.Run, tmp_path: Path) -> None:
    files = answer(run, tmp_path, lambda role, case: {**even(role, case), "meaning": 3})
    strict, mild = run.validity(*files), run.validity(*files, meaning=3)
    assert strict is not None and mild is not None
    assert strict.figure.value == 0 and mild.figure.value > 0.2  # type: ignore[operator]


def test_files_of_another_run_are_refused_by_name(run: brittle.Run, tmp_path: Path) -> None:
    other = attack(tmp_path, "other", seed=1, inflect=False)
    files = answer(other, tmp_path, even)
    with pytest.raises(UsageError, match=r"not a sample of the run 'demo' \(it has none\)"):
        run.validity(*files)
    run.annotate(tmp_path / "pages", count=5)
    with pytest.raises(UsageError, match=r"not a sample of the run 'demo' \(it has [0-9a-f]{12}\)"):
        run.validity(*files)


def test_a_judge_without_people_gives_no_figure(run: brittle.Run) -> None:
    judge = Judge()
    with pytest.raises(UsageError, match=r"answers of people.*brittle validity write demo"):
        run.validity(judge=judge)
    assert judge.calls == [] and run.validity() is None


def test_a_judge_is_corrected_by_what_people_said_of_the_same_run(
    run: brittle.Run, tmp_path: Path
) -> None:
    number = by_number(run)

    def people(role: str, case: str) -> dict[str, Any]:
        said = "positive" if number[case] % 2 == 0 or role == "original" else "negative"
        return {"label": said, "natural": 5, "meaning": 5}

    files, judge = answer(run, tmp_path, people), Judge()
    measured = run.validity(*files, judge=judge)
    assert measured is not None and measured.judge is not None and measured.reading is not None
    assert (measured.judge.said_valid, measured.judge.judged) == (15, 30)
    assert measured.judge.sensitivity.value == measured.judge.specificity.value == 1
    assert measured.judge.method == "poststratified" and measured.figure.value == 0.5
    alone = measured.reading.parts["valid"]
    assert measured.figure.high - measured.figure.low < alone.high - alone.low  # type: ignore[operator]
    asked = sum(judge.calls)
    # What a judge said is kept: neither it nor people are asked again.
    again = run.validity(judge=judge)
    assert again == measured and sum(judge.calls) == asked == 30
    contrary = run.validity(judge=Judge(odd=True))
    assert contrary is not None and contrary.judge is not None
    assert contrary.judge.sensitivity.value == 0 and contrary.figure.value == 0.5


def test_a_judge_calibrated_on_another_run_says_so(run: brittle.Run, tmp_path: Path) -> None:
    other = attack(tmp_path, "other", seed=1, inflect=False)
    number = by_number(other)

    def people(role: str, case: str) -> dict[str, Any]:
        said = "positive" if number[case] % 2 == 0 or role == "original" else "negative"
        return {"label": said, "natural": 5, "meaning": 5}

    files = answer(other, tmp_path, people)
    measured = run.validity(judge=Judge(), calibration=files)
    assert measured is not None and measured.judge is not None and measured.reading is None
    assert measured.judge.method == "Rogan and Gladen"
    assert measured.judge.calibrated_on == ("other",) and measured.figure.value == 0.5
    page = run.report(tmp_path / "report.html").read_text("utf-8")
    assert "as far as it errs as often on these" in page
    own = answer(run, tmp_path, people)
    with pytest.raises(UsageError, match="leave out one of the two"):
        run.validity(*own, judge=Judge(), calibration=files)
    with pytest.raises(UsageError, match="Name one with --judge"):
        run.validity(*own, calibration=files)


def test_a_judge_of_pairs_reads_both_and_answers_valid(run: brittle.Run, tmp_path: Path) -> None:
    seen: list[dict[str, str]] = []

    def valid(pairs: list[dict[str, str]]) -> list[dict[str, float]]:
        seen.extend(pairs)
        return [{"valid": 0.8, "invalid": 0.2} for _ in pairs]

    files = answer(run, tmp_path, even)
    measured = run.validity(*files, judge=valid, judge_pairs=True)
    assert measured is not None and measured.judge is not None
    assert measured.judge.said_valid == 30
    assert {"good" in pair["original"] for pair in seen[-30:]} == {True}
    assert {"good" in pair["adversarial"].split() for pair in seen[-30:]} == {False}
    with pytest.raises(UsageError, match="has the labels negative, positive"):
        read_pairs(FakeTarget(), run.results())


def test_what_was_kept_of_a_killed_judge_is_not_asked_again(
    run: brittle.Run, tmp_path: Path
) -> None:
    files, judge = answer(run, tmp_path, even), Judge()
    run.validity(*files, judge=judge)
    with Store.resume(run.path) as store:
        kept = store.measured(JUDGEMENTS)
        ((name, said),) = kept.items()
        store.keep_measured(JUDGEMENTS, {name: dict(list(said.items())[:20])})
    run.validity(judge=judge)
    assert sum(judge.calls) == 40


def test_a_run_that_went_on_says_that_its_validity_is_older(
    run: brittle.Run, tmp_path: Path
) -> None:
    short = attack(tmp_path, "short", limit=20)
    short.validity(*answer(short, tmp_path, even))
    longer = attack(tmp_path, "short", limit=30)
    assert "before the run went on" in str(longer)
    page = longer.report(tmp_path / "report.html").read_text("utf-8")
    assert "the run has changed since" in page


def test_a_case_whose_text_is_lost_does_not_make_validity_older(
    run: brittle.Run, tmp_path: Path
) -> None:
    with sqlite3.connect(run.path) as db:
        [case] = db.execute("SELECT min(case_id) FROM results").fetchone()
        db.execute("UPDATE results SET edits = '[[' WHERE case_id = ?", (case,))
    assert run.validity(*answer(run, tmp_path, even)) is not None
    assert "adversarial text is lost" in " ".join(str(run).split())
    assert "before the run went on" not in str(run)


def test_keys_are_renamed_and_deleted_with_their_run(run: brittle.Run, tmp_path: Path) -> None:
    files = answer(run, tmp_path, even)
    new = rename_run(run.path, "renamed")
    assert [path.name.split(".")[0] for path in key_paths(new)] == ["renamed"]
    assert brittle.Run(new).validity(*files) is not None
    assert {path.name.partition(".")[2] for path in delete_run(new)} >= {"sqlite"}
    assert key_paths(new) == [] and not list(new.parent.glob("*.key.json"))


def test_floors_are_measured_and_kept(run: brittle.Run) -> None:
    reader = FakeTarget({"good": 2.0, "goodness": 2.0, "full": 2.0}, name="reader")
    floors = run.floors(FakeTarget(TARGET), reader)
    assert (floors.clean_error.count, floors.clean_error.of) == (0, 30)
    assert floors.other is not None and floors.other.originals.value == 1
    reads = sum(
        int(np.argmax(reader.scores([brittle.Text.of(row.adversarial or "")]))) == 1
        for row in run.results()
    )
    assert (floors.other.adversaries.count, floors.other.adversaries.of) == (reads, 30)
    # One word of six is swapped; "good" is among the words with synonyms in one draw of a few.
    assert floors.random_edit is not None and floors.random_edit.value is not None
    assert 0.05 < floors.random_edit.value < 0.8
    assert floors.missing == {} and run.stored_floors == floors


def test_what_cannot_be_measured_says_why(run: brittle.Run) -> None:
    floors = run.floors()
    assert floors.random_edit is None and "live object" in floors.missing["random_edit"]
    assert floors.other is None and "--other TARGET" in floors.missing["other"]
    paid = FakeTarget(TARGET)
    paid.costly = True  # type: ignore[attr-defined]
    assert "money or time" in run.floors(paid).missing["random_edit"] and not paid.calls
    assert run.floors(paid, costly=True).random_edit is not None


def test_a_random_edit_changes_as_many_words_as_the_attack(
    run: brittle.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    class Watching(FakeTarget):
        def scores(self, items: Any) -> Any:
            seen.extend(str(item) for item in items)
            return super().scores(items)

    random_edit(run, Watching(TARGET), draws=2)
    originals = {int(row.original.split()[4]): row.original.split() for row in run.results()}
    changed = [
        sum(a != b for a, b in zip(text.split(), originals[int(text.split()[4])])) for text in seen
    ]
    assert len(seen) == 60 and set(changed) == {1}
    again = list(seen)
    seen.clear()
    random_edit(run, Watching(TARGET), draws=2)
    assert seen == again


def test_random_edits_of_characters_and_of_pictures(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    typos = brittle.attack(FakeTarget(TARGET), EXAMPLES, "key", name="typos", folder=runs)
    assert typos.counts()["broken"] > 5
    figure = typos.floors(FakeTarget(TARGET)).random_edit
    assert figure is not None and figure.value is not None and 0 < figure.value < 1

    pixels = np.random.default_rng(3).uniform(0.2, 0.8, (20, 4, 4)).astype(np.float32)
    weight = np.random.default_rng(4).normal(size=(16, 2))

    def scores(pictures: Any) -> Any:
        logit = np.exp(pictures.reshape(len(pictures), -1) @ weight)
        return logit / logit.sum(axis=1, keepdims=True)

    scores.labels = ["0", "1"]  # type: ignore[attr-defined]
    label = scores(pixels).argmax(axis=1)
    examples = [(Picture(p), str(n)) for p, n in zip(pixels, label)]
    shown = brittle.attack(scores, examples, "noise", name="pictures", folder=runs)
    noise = shown.floors(scores).random_edit
    assert noise is not None and noise.of == shown.counts()["broken"]
    assert noise.value is not None and noise.value < 0.9


@pytest.mark.parametrize(
    ("manifest", "name"),
    [
        ({"target": "BiLSTM-W-GloVe-1@imdb", "data": "imdb"}, "zoo:naive-bayes@imdb"),
        ({"target": "linear-svm@mr#1", "data": "mr"}, "zoo:LSTM-W-Random-1@mr"),
        ({"target": "LeNet@mnist", "data": "mnist", "kind": "picture"}, "zoo:forest@mnist"),
        ({"target": "forest@mnist", "data": "mnist", "kind": "picture"}, "zoo:LeNet@mnist"),
        ({"target": "toy", "data": "toy.npz", "kind": "picture"}, None),
        ({"target": "toy", "data": "mr", "split": "train"}, None),
        ({"target": "toy", "data": "mr", "answers": "texts"}, None),
    ],
)
def test_the_other_family_is_trained_on_the_same_data_and_never_on_what_was_attacked(
    manifest: dict[str, Any], name: str | None
) -> None:
    assert name_other_family(manifest) == name


def test_a_product_of_the_stored_figures(run: brittle.Run, tmp_path: Path) -> None:
    measured = run.validity(*answer(run, tmp_path, even))
    assert measured is not None
    success = rate(30, 30, "attacked cases")
    assert measured.valid_success(success).value == measured.figure.value
