"""A kind of study that brittle does not have: one file as this one, and one entry in `KINDS`.

What the kind says is above the line; the tests below are what it then gets: a name, a lock and a
file, and all commands for studies.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from brittle.cli import main
from brittle.errors import UsageError
from brittle.reports.study_page import Part, StudyPage, StudyView
from brittle.reports.table import Column, Table
from brittle.safety.schema import Count, Malformed
from brittle.studies.study import KINDS, Listed, Study, StudyKind, study_of
from brittle.studies.study_files import carry_out, default_name


@dataclass(frozen=True)
class LengthFacts:
    """What is measured: the words of the first texts."""

    pool: str
    data: str
    limit: Count


@dataclass(frozen=True)
class LengthResults:
    """The number of words of every text."""

    words: Mapping[str, Count]


LengthStudy = Study[LengthFacts, LengthResults]


def lengths(texts: Sequence[str], folder: Path, limit: int = 10, **named: Any) -> LengthStudy:
    """Measure texts."""
    facts = LengthFacts("pool", "given", limit)

    def measure(own_folder: Path) -> LengthStudy:
        results = LengthResults({text: len(text.split()) for text in texts[:limit]})
        return Study("length", name, facts, results, warnings=("They are short.",))

    name = named.get("name") or default_name(["length", "given"], [list(texts)])
    return carry_out("length", name, folder, measure, facts=facts)


def rows(study: LengthStudy) -> list[dict[str, Any]]:
    return [{"text": text, "words": count} for text, count in study.results.words.items()]


def view(study: LengthStudy, **options: Any) -> StudyView:
    table = Table(
        [Column("text"), Column("words", "right")], [list(r.values()) for r in rows(study)]
    )
    page = StudyPage(study.name, notes=study.warnings, parts=[Part("Lengths", shows=[table])])
    return StudyView(page, [table], about=f"{len(study.results.words)} texts")


def check(study: LengthStudy) -> None:
    if len(study.results.words) > study.facts.limit:
        raise Malformed(f"at most {study.facts.limit}", len(study.results.words), "results.words")


KIND = StudyKind(
    name="length",
    noun="study of lengths",
    command="brittle lengths",
    commands="brittle show takes it.",
    facts=LengthFacts,
    results=LengthResults,
    check=check,
    fixed=lambda facts: {"data": facts.data, "limit": facts.limit},
    members=lambda study: [],
    listed=lambda study: Listed("none", len(study.words), 0),
    rows=rows,
    text_rows=rows,
    summary=lambda study: {"study": study.name, "words": dict(study.words)},
    view=view,
    compared=lambda studies: ([study.words for study in studies], f"{len(studies)} compared"),
)

# -------------------------------------------------------------------------------------------------

TEXTS = ("a good film", "a <b>dull</b> tale of woe")


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(KINDS, "length", __name__)  # type: ignore[misc]
    monkeypatch.chdir(tmp_path)
    lengths(TEXTS, tmp_path / "runs", name="mine")
    return tmp_path / "runs"


Printed = Callable[..., str]


@pytest.fixture
def printed(runs: Path, capsys: pytest.CaptureFixture[str]) -> Printed:
    def call(*words: str) -> str:
        assert main(words) == 0
        return capsys.readouterr().out

    return call


def test_it_is_stored_loaded_and_carried_out_again(runs: Path) -> None:
    study = Study.load(runs / "mine.study.json", "length")
    assert study.words == {TEXTS[0]: 3, TEXTS[1]: 5} and study.limit == 10
    assert lengths(TEXTS[:1], runs, name="mine").words == {TEXTS[0]: 3}
    with pytest.raises(
        UsageError, match="'mine' already exists with other settings: limit 10, now 1"
    ):
        lengths(TEXTS, runs, 1, name="mine")
    with pytest.raises(UsageError, match="without slashes"):
        lengths(TEXTS, runs, name="a/b")
    assert lengths(TEXTS, runs).name.startswith("length-given-")


def test_its_parts_are_checked(runs: Path) -> None:
    path = runs / "mine.study.json"
    path.write_text(path.read_text().replace('"limit": 10', '"limit": 1'))
    with pytest.raises(UsageError, match=r"results\.words is 2; expected at most 1\. Use a"):
        Study.load(path)
    with pytest.raises(UsageError, match="is not a grid that this version"):
        Study.load(path, "grid")


def test_all_commands_for_studies_take_it(runs: Path, printed: Printed) -> None:
    shown = printed("show", "mine")
    assert "mine  2 texts" in shown and "a good film" in shown and "! They are short." in shown
    assert json.loads(printed("show", "mine", "--json"))["words"] == {TEXTS[0]: 3, TEXTS[1]: 5}
    assert printed("report", "mine").strip() == "runs/mine.study.html"
    page = (runs / "mine.study.html").read_text("utf-8")
    assert "<h2>Lengths</h2>" in page and "<b>dull" not in page and "They are short." in page
    printed("export", "mine", "rows.md")
    assert Path("rows.md").read_text().splitlines()[0] == "| text | words |"
    (row,) = json.loads(printed("list", "studies", "--json"))
    assert (row["study"], row["kind"], row["texts"], row["pool"]) == ("mine", "length", 2, "-")
    assert printed("compare", "mine", "mine").strip() == "2 compared"
    printed("runs", "rename", "mine", "yours")
    assert Study.load(runs / "yours.study.json").name == "yours"
    printed("runs", "delete", "yours", "--yes")
    assert [path.name for path in runs.iterdir()] == ["mine.study.html"]


def test_a_study_has_the_fields_of_its_facts_and_results(runs: Path) -> None:
    study = study_of("length", "made", pool="p", data="d", limit=1, words={"a": 1})
    assert (study.pool, study.words, study.members) == ("p", {"a": 1}, ())
    assert study.changed(limit=2, name="other").facts.limit == 2
    with pytest.raises(AttributeError, match="has no 'nothing'"):
        study.nothing  # noqa: B018
    with pytest.raises(TypeError, match="has no nothing"):
        study.changed(nothing=1)
    assert study.view().tables[0].rows == [["a", 1]] and study.view().texts == []
