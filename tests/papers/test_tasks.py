"""What single steps do, on data small enough to count by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from brittle.metrics.paired import paired
from brittle.metrics.summary import summary
from brittle.papers import tasks as work
from brittle.papers.data import Limits, data_task
from brittle.papers.hotflip import plan as hotflip
from brittle.papers.imdb import plan as imdb
from brittle.papers.imdb.found import carried
from brittle.papers.order import PaperRequest
from brittle.runs.run import Run
from brittle.text import Text
from brittle.workflow.processes import run_tasks
from brittle.workflow.tasks import Task


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "films"
    folder.mkdir()
    for split, count in (("train", 40), ("test", 12)):
        rows = [
            f"{'great fun' if n % 2 else 'dull mess'} film {n},{'good' if n % 2 else 'bad'}"
            for n in range(count)
        ]
        # The last one of the test side is labelled against its words.
        rows[-1] = rows[-1].replace("great fun", "dull mess") if split == "test" else rows[-1]
        (folder / f"{split}.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    return str(folder)


def steps(data: str) -> list[Task]:
    trained = [
        Task(
            f"train {name}",
            work.train,
            {"model": name, "data": "data", "size": "default", "changed": {}},
            ("data",),
            work.model_exists,
        )
        for name in ("naive-bayes", "linear-svm")
    ]
    given: dict[str, Any] = {"target": "train naive-bayes", "data": "data"}
    swap: dict[str, Any] = {
        "attack": "strongest-swap",
        "settings": {"n": 2, "words": 2, "learn_from": "train"},
    }
    swap["limit"] = None
    needs = ("data", "train naive-bayes")
    return [
        data_task(data, Limits()),
        *trained,
        Task("clean", work.score_split, given | {"split": "test"}, needs),
        Task("swap", work.attack, given | swap, needs, work.run_exists),
        Task(
            "carried",
            work.transfer,
            {"run": "swap", "target": "train linear-svm"},
            ("swap", "train linear-svm"),
        ),
        Task(
            "components",
            work.principal_components,
            {"data": "data", "features": "words"},
            ("data",),
        ),
    ]


def test_steps_of_a_paper(data: str, tmp_path: Path) -> None:
    said: list[str] = []
    place = tmp_path / "place"
    found = run_tasks(steps(data), place, said.append)
    assert found["clean"]["right"] == "1" * 11 + "0"
    assert found["train naive-bayes"]["examples"] == 36
    rows = Run(place / found["swap"]["run"]).results()
    assert summary(rows).statuses["broken"] == 11 and summary(rows).statuses["skipped"] == 1
    # Both linear models know the same words: what fools one fools the other.
    told = found["carried"]
    assert told["before"] == ["bad", "good"] * 5 + ["bad", "bad"]
    assert told["after"] == ["good", "bad"] * 5 + ["good", "bad"]
    theirs = carried(rows, told)
    assert [row.status for row in theirs] == [row.status for row in rows]
    assert paired(rows, theirs).accuracy.difference == 0.0
    assert found["components"]["parted"] == 36
    assert sum(found["components"]["share"]) <= 1.0 and len(found["components"]["points"]) == 36
    said.clear()
    assert run_tasks(steps(data), place, said.append) == found and said == []


def test_a_model_that_is_gone_is_trained_again(data: str, tmp_path: Path) -> None:
    import shutil

    place = tmp_path / "place"
    first = run_tasks(steps(data)[:3], place, print)
    shutil.rmtree(tmp_path / "cache")
    said: list[str] = []
    assert run_tasks(steps(data)[:3], place, said.append) == first
    assert [line.split("] ")[1] for line in said if "begins" in line] == [
        "train naive-bayes: begins",
        "train linear-svm: begins",
    ]


def test_carried_rows_count_what_the_other_target_says(data: str, tmp_path: Path) -> None:
    place = tmp_path / "place"
    found = run_tasks(steps(data)[:5], place, print)
    rows = Run(place / found["swap"]["run"]).results()[:3]
    cases = [row.case for row in rows]
    told = {"cases": cases, "before": ["bad", "good", "good"], "after": ["bad", "bad", "bad"]}
    assert [row.status for row in carried(rows, told)] == ["held", "broken", "skipped"]
    assert [row.predicted for row in carried(rows, told)] == told["before"]


def test_predictions_come_in_the_order_of_the_texts() -> None:
    class ByLength:
        labels = ("short", "long")

        def scores(self, texts: list[Text]) -> Any:
            return np.array([[4.5 - len(text), len(text) - 4.5] for text in texts])

    texts = [Text.of("word " * n) for n in (7, 1, 5, 2)]
    found = work.predict_labels(ByLength(), texts)  # type: ignore[arg-type]
    assert found == ["long", "short", "long", "short"]


@pytest.mark.parametrize("scale", ["tiny", "small", "full"])
def test_plans_name_every_step_once_after_those_it_needs(scale: str, data: str) -> None:
    plans = [
        hotflip.plan(PaperRequest("hotflip", scale, data, data)),
        imdb.plan(PaperRequest("imdb", scale, data, cases=7)),
    ]
    for plan in plans:
        seen: set[str] = set()
        for task in plan:
            assert task.name not in seen and set(task.needs) <= seen, task.name
            seen.add(task.name)
    assert not any(
        task.name.startswith("words") for task in hotflip.plan(PaperRequest("", scale, data))
    )
    limits = {task.arguments["limit"] for task in plans[1] if task.function is work.attack}
    assert limits == {7}
