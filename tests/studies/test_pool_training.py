"""Pools are trained: what is missing, and only that; what fails is named and tried again."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from brittle.studies.pool_tasks import (
    MemberState,
    find_states,
    of_size,
    train_member,
    train_pool,
    train_tasks,
    zoo_specs,
)
from brittle.studies.pools import Pool, load_pool
from brittle.training import linear, train
from brittle.workflow.backends import Workers
from brittle.workflow.running import run_tasks
from brittle.zoo.folder import models_folder


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    rows = [f"a {word} film {n},{word}" for n in range(20) for word in ("good", "bad")]
    Path("films.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    return "films.csv"


@pytest.fixture
def fitted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the models that are fitted, in order."""
    names: list[str] = []
    module = sys.modules["brittle.training.train"]
    fit = module.fit

    def counted(job: Any) -> Any:
        names.append(job.name)
        return fit(job)

    monkeypatch.setattr(module, "fit", counted)
    return names


def pool(*lines: str, seeds: int = 1) -> Pool:
    Path("mine.txt").write_text("\n".join(lines))
    return load_pool("pool:mine.txt", "films.csv", seeds)


def facts(states: list[MemberState]) -> list[tuple[str, int, str]]:
    return [(state.member, state.seed, state.state) for state in states]


def test_what_is_missing_is_trained_and_nothing_twice(fitted: list[str]) -> None:
    two = pool("naive-bayes", "linear-svm", "http:endpoint.toml", seeds=2)
    train("linear-svm", "films.csv", 1)
    seen: list[tuple[str, str]] = []
    states = train_pool(two, progress=lambda states, new: seen.append((new.spec, new.state)))
    assert facts(states) == [
        ("naive-bayes", 0, "trained"),
        ("linear-svm", 0, "trained"),
        ("naive-bayes", 1, "trained"),
        ("linear-svm", 1, "already there"),
    ]
    assert all(s.folder and s.folder.is_dir() and s.dev_accuracy == 1.0 for s in states)
    spec = "zoo:naive-bayes@films.csv#0"
    assert seen[0] == (spec, "training") and (spec, "trained") in seen
    assert len(fitted) == 4
    again = train_pool(two)
    assert {state.state for state in again} == {"already there"} and len(fitted) == 4
    assert [state.folder for state in again] == [state.folder for state in states]
    assert facts(find_states(two)) == facts(again)
    assert {state.state for state in train_pool(two, new=True)} == {"trained"}
    assert len(fitted) == 8


def test_a_member_that_fails_is_named_and_the_rest_goes_on(
    fitted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(job: Any) -> Any:
        raise MemoryError("no room")

    three = pool("naive-bayes", "MLP", "linear-svm")
    seen: dict[str, MemberState] = {}
    with monkeypatch.context() as patch:
        patch.setattr(linear, "fit_naive_bayes", broken)
        states = train_pool(three, progress=lambda states, new: seen.update({new.member: new}))
    assert [state.state for state in states] == ["failed", "failed", "trained"]
    assert states[0].note == "MemoryError: no room" == seen["naive-bayes"].note
    assert "MLP reads pictures" in states[1].note and states[1].folder is None
    assert [s.state for s in train_pool(three)] == ["trained", "failed", "already there"]


def test_the_tasks_of_a_study_keep_results_but_no_failures(
    tmp_path: Path, fitted: list[str]
) -> None:
    tasks = train_tasks(zoo_specs(pool("naive-bayes", "MLP").members))
    assert [task.name for task in tasks] == [
        "train zoo:naive-bayes@films.csv#0",
        "train zoo:MLP@films.csv#0",
    ]
    assert tasks[0].function is train_member
    lines: list[str] = []
    first = run_tasks(tasks, tmp_path / "study", lines.append)
    name = first[tasks[0].name]["folder"]
    assert tasks[0].leaves and tasks[0].leaves(tmp_path, first[tasks[0].name]) == [
        models_folder() / name
    ]
    assert "failed" in first[tasks[1].name]
    assert tasks[1].leaves and not tasks[1].leaves(tmp_path, first[tasks[1].name])
    lines.clear()
    assert run_tasks(tasks, tmp_path / "study", lines.append) == first
    assert len(fitted) == 1 and not any("naive-bayes" in line for line in lines)
    assert any("MLP@films.csv#0: begins" in line for line in lines)
    # Its result names a folder: without it, the task is run again, and has the same result.
    shutil.rmtree(models_folder() / name)
    [again] = {run_tasks(tasks, tmp_path / "study", lines.append)[tasks[0].name]["folder"]}
    assert again == name and len(fitted) == 2


def test_other_content_of_the_data_is_another_task(tmp_path: Path) -> None:
    two = pool("naive-bayes", "linear-svm")
    [before, _] = train_tasks(zoo_specs(two.members))
    with Path("films.csv").open("a") as file:
        file.write("one more good film,good\n")
    [after, _] = train_tasks(zoo_specs(two.members))
    assert before.name == after.name and before.key({}) != after.key({})
    [state, _] = train_pool(two)
    assert state.state == "trained"


def test_a_pool_of_another_size(data: str) -> None:
    own = pool("naive-bayes", "LSTM-W-Random-1@films.csv?size=paper", "cmd:cat", seeds=2)
    assert zoo_specs(of_size(own, "tiny").members) == [
        "zoo:naive-bayes@films.csv#0?size=tiny",
        "zoo:LSTM-W-Random-1@films.csv#0?size=paper",
        "zoo:naive-bayes@films.csv#1?size=tiny",
        "zoo:LSTM-W-Random-1@films.csv#1?size=paper",
    ]
    changed = pool("naive-bayes@films.csv?smoothing=2", "linear-svm")
    assert zoo_specs(of_size(changed, "tiny").members)[0].endswith("?smoothing=2,size=tiny")
    assert of_size(own, "default") == own


@pytest.mark.slow
def test_two_workers_train_side_by_side_and_report_epochs() -> None:
    pytest.importorskip("torch")
    tiny = of_size(pool("naive-bayes", "MLP", "CNN-W-Random-1"), "tiny")
    notes: list[str] = []
    states = train_pool(
        tiny, backend=Workers(2), progress=lambda states, new: notes.append(new.note)
    )
    assert [state.state for state in states] == ["trained", "failed", "trained"]
    assert "epoch 1/4" in notes


def test_a_language_model_is_trained_once_before_the_networks_that_read_it() -> None:
    specs = [f"zoo:{name}@mr#0?size=tiny" for name in ("LSTM-WC-ELMo-1", "CNN-WC-ELMo-1", "MLP")]
    tasks = train_tasks(specs)
    bilm = "train zoo:biLM@imdb#0?size=tiny"
    assert [task.name for task in tasks] == [bilm, *(f"train {spec}" for spec in specs)]
    assert [task.needs for task in tasks] == [(), (bilm,), (bilm,), ()]
