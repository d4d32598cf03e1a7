"""What single tasks do, on data small enough to count by hand."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from brittle.metrics.paired import paired
from brittle.metrics.summary import summary
from brittle.runs.run import Run
from brittle.studies.transfer.scoring import transferred_rows
from brittle.workflow.running import run_tasks
from brittle.workflow.tasks import Task, build_context
from brittle_papers import tasks
from brittle_papers.measures import principal_components
from brittle_papers.planning import build_task
from papers.data_tasks import data_task


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
        # The last test example has the words of the other label.
        rows[-1] = rows[-1].replace("great fun", "dull mess") if split == "test" else rows[-1]
        (folder / f"{split}.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    return str(folder)


def plan(data: str) -> list[Task]:
    target = {"data": "data", "target": "train naive-bayes"}
    model = {"data": "data", "size": "default", "changed_settings": {}}
    swap = {"attack": "strongest-swap", "limit": None}
    settings = {"n": 2, "words": 2, "learn_from": "train"}
    return [
        data_task("data", data),
        build_task("train naive-bayes", tasks.train, model="naive-bayes", **model),
        build_task("train linear-svm", tasks.train, model="linear-svm", **model),
        build_task("clean", tasks.score_split, split="test", **target),
        build_task("swap", tasks.attack, settings=settings, **swap, **target),
        build_task("transfer", tasks.transfer, run="swap", target="train linear-svm"),
        build_task("components", principal_components, data="data", features="words"),
    ]


def test_tasks_of_a_paper(data: str, tmp_path: Path) -> None:
    messages: list[str] = []
    folder = tmp_path / "folder"
    results = run_tasks(plan(data), folder, messages.append)
    assert results["clean"]["right"] == "1" * 11 + "0"
    assert results["train naive-bayes"]["examples"] == 36
    rows = Run(folder / results["swap"]["run"]).results()
    assert summary(rows).statuses["broken"] == 11 and summary(rows).statuses["skipped"] == 1
    # Both linear models know the same words: what fools one fools the other.
    labels = results["transfer"]["labels"]
    before, after = (list(column) for column in zip(*(labels[row.case] for row in rows)))
    assert before == ["bad", "good"] * 5 + ["bad", "bad"]
    assert after == ["good", "bad"] * 5 + ["good", "bad"]
    assert results["transfer"]["message"] == "11 of 12 texts fool this target too"
    transferred = transferred_rows(rows, labels)
    assert [row.status for row in transferred] == [row.status for row in rows]
    assert paired(rows, transferred).accuracy.difference == 0.0
    components = results["components"]
    assert components["parted"] == 36
    assert sum(components["share"]) <= 1.0 and len(components["points"]) == 36
    messages.clear()
    assert run_tasks(plan(data), folder, messages.append) == results and messages == []


def test_a_model_that_is_gone_is_trained_again(data: str, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    first = run_tasks(plan(data)[:3], folder, print)
    shutil.rmtree(tmp_path / "cache")
    messages: list[str] = []
    assert run_tasks(plan(data)[:3], folder, messages.append) == first
    assert [line.split("] ")[1] for line in messages if "begins" in line] == [
        "train naive-bayes: begins",
        "train linear-svm: begins",
    ]


def test_what_needs_this_machine_is_not_for_another_one(data: str, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    results = run_tasks(plan(data)[:2], folder, print)
    reading, trained, untrained = plan(data)[:3]

    def is_here(task: Task) -> bool:
        assert task.here is not None
        needs = {name: results[name] for name in task.needs}
        return task.here(build_context(task, folder, needs, print), **task.arguments)

    assert is_here(reading) and is_here(trained) and not is_here(untrained)
    assert not is_here(data_task("data", "mr"))
    assert plan(data)[4].here is None


def test_texts_of_the_paper_keep_the_class_that_the_target_gives_them(
    data: str, tmp_path: Path
) -> None:
    texts = {"texts": ["great fun", "dull mess"], "limit": 1}
    arguments = {"target": "train naive-bayes", "data": "data", "attack": "strongest-swap"}
    settings = {"n": 1, "learn_from": "train"}
    swap = build_task("example", tasks.attack, settings=settings, **arguments, **texts)
    folder = tmp_path / "folder"
    results = run_tasks([*plan(data)[:2], swap], folder, print)
    rows = Run(folder / results["example"]["run"]).results()
    assert [(row.original, row.label) for row in rows] == [
        ("great fun", "good"),
        ("dull mess", "bad"),
    ]


@pytest.mark.slow
def test_a_model_is_hardened_by_the_attack_that_has_the_name_of_a_method(
    data: str, tmp_path: Path
) -> None:
    pytest.importorskip("torch")
    model = {"model": "CharCNN-LSTM", "data": "data", "size": "tiny"}
    settings = {"copies": 3, "beam": 1}
    hardened = build_task(
        "train hardened",
        tasks.train,
        adversarial="hotflip",
        attack_settings=settings,
        changed_settings={"epochs": 2},
        **model,
    )
    result = run_tasks([plan(data)[0], hardened], tmp_path / "folder", print)["train hardened"]
    assert result["hardening"]["method"] == "hotflip" and result["hardening"]["copies"] == 3
    assert result["hardening"]["settings"]["beam"] == 1 and result["batches"] == 10


def test_a_task_knows_its_needs_and_refuses_misspelt_arguments() -> None:
    task = build_task("swap on svm", tasks.transfer, run="swap", target="train svm")
    assert set(task.needs) == {"swap", "train svm"} and task.leaves is None
    with pytest.raises(TypeError, match="argument"):
        build_task("swap on svm", tasks.transfer, run="swap", traget="train svm")
