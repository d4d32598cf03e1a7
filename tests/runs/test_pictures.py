"""Runs on pictures from end to end: attack, resume, show, report, export, verify, compare."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import brittle
from brittle.cli import main
from brittle.errors import Interrupted, UsageError
from brittle.picture import Picture

GENERATOR = np.random.default_rng(7)
PIXELS = GENERATOR.uniform(0.3, 0.7, (24, 8, 8)).astype(np.float32)
WEIGHT = GENERATOR.normal(size=(64, 2))
LABEL = (PIXELS.reshape(24, -1) @ WEIGHT).argmax(axis=1)
MODULE = f"""
import numpy as np
weight = np.array({WEIGHT.tolist()})

def scores(pixels):
    exp = np.exp(pixels.reshape(len(pixels), -1) @ weight)
    return exp / exp.sum(axis=1, keepdims=True)

scores.labels = ["0", "1"]
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    np.savez(tmp_path / "toy.npz", x=PIXELS, y=LABEL)
    (tmp_path / "linear_pictures.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


SPEC = "python:linear_pictures:scores"


def test_a_run_is_stored_shown_exported_and_verified(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["attack", SPEC, "noise", "--data", "toy.npz", "--name", "toy", "--quiet"]
    assert main([*command, "--report", "toy.html"]) == 0
    run = brittle.open_run("toy")
    rows = run.results()
    assert run.shape == (8, 8, 1) and len(rows) == 24
    broken = [row for row in rows if row.status == "broken"]
    assert len(broken) > 10
    for row in broken:
        original, adversary = Picture.decode(row.original), Picture.decode(row.adversarial or "")
        difference = adversary.pixels.astype(np.float64) - original.pixels
        assert row.l2 == pytest.approx(np.linalg.norm(difference))
        assert row.linf == pytest.approx(np.abs(difference).max()) and row.words_changed == 0
    assert main(["verify", "toy"]) == 0
    assert run.verify(SPEC) == []
    capsys.readouterr()
    assert main(["show", "toy", "--examples", "1"]) == 0
    text = capsys.readouterr().out
    assert "largest change" in text and "distance (L2)" in text and "words" not in text
    assert main(["show", "toy", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    mean = np.mean([row.linf for row in broken])
    assert figures["linf"]["value"] == pytest.approx(mean) and "words_changed" not in figures
    assert main(["export", "toy", "out.npz"]) == 0
    with np.load("out.npz") as arrays:
        assert arrays["originals"].shape == arrays["adversaries"].shape == (24, 8, 8, 1)
        assert np.array_equal(arrays["originals"][..., 0], PIXELS)
        assert arrays["label"].tolist() == [str(n) for n in LABEL]
    for name in ("out.csv", "out.jsonl"):
        assert main(["export", "toy", name]) == 0
    lines = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    assert {*lines[0]} == {*run.columns(), "fields", "edits"} and "words" not in lines[0]
    again = brittle.data.load("out.npz", text="adversaries", label="label")
    assert len(again) == 24


def test_the_page_has_images_and_nothing_of_words(files: Path) -> None:
    run = brittle.attack(SPEC, "toy.npz", "noise", name="toy")
    page = run.report("toy.html").read_text()
    assert "img-src data:" in page and "no pixel changed by more than" in page
    assert "words changed" not in page.split("<script")[0] and "What breaks it" not in page
    (content,) = re.findall(r'id="rows">(.*?)</script>', page)
    rows = json.loads(content)["rows"]
    assert all(row[-6:-4] == [[], []] for row in rows)
    broken = [row.status == "broken" for row in run.results()].index(True)
    distance, largest, images = rows[broken][-1]
    assert distance >= largest > 0 and len(images) == 3
    assert all(image.startswith("iVBORw0KGgo") for image in images.values())  # as PNG begins


def test_a_run_resumes_and_its_limit_can_be_extended(files: Path) -> None:
    whole = brittle.attack(SPEC, "toy.npz", "noise", name="whole")
    stopping, seen = threading.Event(), []

    def stop(progress: Any) -> None:
        seen.append(progress.done)
        stopping.set()

    options: dict[str, Any] = {"name": "parts", "limit": 24}
    brittle.attack(SPEC, "toy.npz", "noise", name="parts", limit=6)
    with pytest.raises(Interrupted):
        brittle.attack(SPEC, "toy.npz", "noise", progress=stop, stopping=stopping, **options)
    assert 6 < seen[-1] < 24
    parts = brittle.attack(SPEC, "toy.npz", "noise", **options)
    first, second = (
        sorted((r.case, r.status, r.queries, r.adversarial or "") for r in run.results())
        for run in (parts, whole)
    )
    assert first == second


def test_a_run_without_a_finished_case_is_exported(files: Path) -> None:
    stopping = threading.Event()
    stopping.set()
    with pytest.raises(Interrupted):
        brittle.attack(SPEC, "toy.npz", "noise", name="begun", stopping=stopping)
    run = brittle.open_run("begun")
    assert run.results() == []
    with np.load(run.export("begun.npz")) as arrays:
        assert arrays["originals"].shape == arrays["adversaries"].shape == (0, 8, 8, 1)
        assert arrays["label"].shape == (0,)


def test_dark_whole_numbers_are_told_before_a_run(files: Path) -> None:
    dark = np.rint(PIXELS * 16).astype(int)
    told: list[str] = []
    run = brittle.attack(SPEC, (dark, LABEL), "noise", budget=2, limit=3, warn=told.append)
    assert any("12 of 255" in message or "11 of 255" in message for message in told)
    assert any("nearly black" in message for message in run.manifest["warnings"])


def test_live_objects_and_arrays(files: Path) -> None:
    sklearn = pytest.importorskip("sklearn.linear_model")
    model = sklearn.LogisticRegression().fit(PIXELS.reshape(24, -1), LABEL)
    run = brittle.attack(model, (PIXELS, LABEL), "noise", limit=4)
    assert run.manifest["kind"] == "picture" and len(run.results()) == 4
    assert len(run.verify(model)) == 0


def test_kinds_that_do_not_fit_are_told(files: Path) -> None:
    with pytest.raises(UsageError, match="contains pictures, but attack 'pwws' edits texts"):
        brittle.attack(SPEC, "toy.npz", "pwws")
    with pytest.raises(UsageError, match=r"offers only scores.*or noise for pictures"):
        brittle.attack(SPEC, "toy.npz", "fgsm")
    with pytest.raises(UsageError, match="contains texts, but attack 'noise' edits pictures"):
        brittle.attack(lambda texts: [[1, 0]] * len(texts), ["a text"], "noise", labels=["a", "b"])
    run = brittle.attack(SPEC, "toy.npz", "noise", name="toy", limit=1)
    with pytest.raises(UsageError, match=r"\.parquet or \.npz"):
        run.export("toy.png")


def test_a_toward_goal_and_a_budget(files: Path) -> None:
    run = brittle.attack(SPEC, "toy.npz", "noise", toward="1", budget=3)
    statuses = {row.status for row in run.results()}
    assert statuses <= {"broken", "skipped", "out of budget"}
    assert all(row.queries <= 3 for row in run.results())


def test_compare_two_runs(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    brittle.attack(SPEC, "toy.npz", "noise", name="one")
    brittle.attack(SPEC, "toy.npz", "noise", name="two", epsilon=0.05)
    assert main(["compare", "one", "two"]) == 0
    text = capsys.readouterr().out
    assert "largest" in text and "24 shared" in text


def test_pictures_with_many_wrong_labels_are_attacked_all_the_same(files: Path) -> None:
    """The check for exchanged sides of pairs must not look for sides in pictures."""
    label = LABEL.copy()
    label[::3] = 1 - label[::3]
    run = brittle.attack(SPEC, (PIXELS, label), "noise", budget=3)
    assert run.counts()["skipped"] == 8


def test_a_zoo_model_refuses_pictures_of_another_size_before_a_run_is_stored(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRITTLE_CACHE", str(files / "cache"))
    folder = str(brittle.train("forest", "toy.npz", changed={"trees": 2}))
    for target in (folder, brittle.as_target(folder)):
        with pytest.raises(UsageError, match=r"reads pictures of 8 × 8 × 1 .*but got one of 6 × 8"):
            brittle.attack(target, (PIXELS[:, :6], LABEL), "noise")
    assert not (files / "runs").exists()


def test_warnings_and_errors_about_pictures_speak_of_pictures(files: Path) -> None:
    def sure(pixels: Any) -> Any:
        return np.eye(2)[(pixels.reshape(len(pixels), -1) @ WEIGHT).argmax(axis=1)]

    def constant(pixels: Any) -> Any:
        return np.full((len(pixels), 2), 0.5)

    def nearly_sure(pixels: Any) -> Any:
        return sure(pixels) * 0.99998 + 0.00001

    def swapped(pixels: Any) -> Any:
        return 1 - sure(pixels) * 0.8 - 0.1

    seen = []
    for model in (sure, constant, nearly_sure, swapped):
        run = brittle.attack(model, (PIXELS, LABEL), "noise", labels=["0", "1"], budget=1)
        seen += run.manifest["warnings"]
    for model, options in ((constant, {"max_sent": 3}), (sure, {"attack": "fgsm"})):
        with pytest.raises(brittle.BrittleError) as stopped:
            options = {"attack": "noise", "name": "other"} | options
            brittle.attack(model, (PIXELS, LABEL), labels=["0", "1"], **options)
        seen.append(str(stopped.value))
    assert len(seen) >= 6
    for message in seen[:-1]:
        assert "text" not in message and "pwws" not in message, message
    assert "for pictures a torch module as it is" in seen[-1]
