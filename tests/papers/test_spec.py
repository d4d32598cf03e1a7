"""A paper as data: values, repetitions, tasks, rules and tables of paper.toml."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from brittle.errors import UsageError
from brittle.metrics.paired import Contrast, contrast
from brittle.metrics.summary import Figure, rate
from brittle_papers import PAPERS, SCALES
from brittle_papers.claims import FORMATS, Verdict
from brittle_papers.declared import add_table, judgement_of
from brittle_papers.page import PaperPage, TableCell
from brittle_papers.paper import load_paper
from brittle_papers.planning import build_task, plan_tasks
from brittle_papers.results import PaperResults
from brittle_papers.spec import PaperRequest, PaperSpec, Table, expand, fill, load_spec
from brittle_papers.tasks import attack, transfer


def spec(**parts: Any) -> PaperSpec:
    return PaperSpec("A title", "Somebody, 2018.", "One figure is repeated.", **parts)


@dataclass(frozen=True)
class Invented(PaperResults):
    """Figures as a paper's own class has them."""

    @property
    def models(self) -> list[str]:
        return ["plain", "key"]

    def share(self, of: str) -> Figure | None:
        return {"plain": rate(90, 100, "cases"), "key": rate(10, 100, "cases")}.get(of)

    def gap(self, of: str) -> Contrast:
        pairs = [(of == "key", of == "plain")] * 30 + [(True, True)]
        return contrast(pairs)

    def gaps(self, of: list[str]) -> dict[str, Figure]:
        return {name: rate(90, 100, "cases") for name in of}

    def described(self, of: str) -> TableCell:
        return TableCell(rate(1, 2, "cases"), text=f"one of two for {of}")

    def words(self, of: str) -> str:
        return f"words of {of}"


def results(**stored: Any) -> Invented:
    return Invented(PaperRequest("hotflip", "small", "news"), Path(), stored)


def test_a_value_keeps_its_type_and_stands_in_texts_by_its_words() -> None:
    values = {"cases": 5, "model": "key", "limits": {"train": None}}
    assert fill("$cases", values) == 5 and fill("train {model}", values) == "train key"
    assert fill(["$limits", 3, "{cases}"], values) == [{"train": None}, 3, "5"]
    with pytest.raises(UsageError, match=r"value in paper\.toml 'case'\. Did you mean 'cases'"):
        fill("$case", values)


def test_axes_repeat_and_change_each_combination() -> None:
    each = {"target": {"svm": {"target": "train svm"}}, "attack": {"a": {"n": 1}, "b": {}}}
    rows = [(v["target"], v["attack"], dict(change)) for v, change in expand(each, {})]
    assert rows == [
        ("svm", "a", {"target": "train svm", "n": 1}),
        ("svm", "b", {"target": "train svm"}),
    ]
    assert [v["n"] for v, _ in expand({"n": "$sizes"}, {"sizes": [1, 2]})] == [1, 2]


def test_a_scale_has_the_sizes_of_all_scales_and_its_own() -> None:
    sizes = {"cases": "all", "limits": {"train": "all", "words": 250}}
    small = spec(sizes=sizes, scales={"small": {"cases": 500}, "full": {}}).scale("small")
    assert small["cases"] == 500 and small["limits"] == {"train": None, "words": 250}
    with pytest.raises(UsageError, match=r"Unknown size 'case'\. Did you mean 'cases'"):
        small["case"]
    with pytest.raises(UsageError, match="Unknown scale"):
        spec().scale("small")


def test_groups_of_tasks() -> None:
    group = {
        "name": "{attack} on svm",
        "do": "tasks:attack",
        "with": {"target": "train svm", "data": "data", "limit": "$cases", "settings": {"n": 1}},
        "each": {
            "attack": {"a": {"attack": "pwws"}, "b": {"attack": "genetic", "settings": {"m": 2}}}
        },
    }
    planned = plan_tasks(spec(tasks=[group]), {"cases": 5})
    assert [task.name for task in planned] == ["a on svm", "b on svm"]
    assert planned[1].function is attack and planned[1].needs == ("data", "train svm")
    assert planned[1].arguments["settings"] == {"n": 1, "m": 2}
    assert planned[1].arguments["limit"] == 5
    wanted = {**group, "when": "cases"}
    assert plan_tasks(spec(tasks=[wanted]), {"cases": 0}) == []
    with pytest.raises(TypeError, match="argument"):
        plan_tasks(spec(tasks=[{**group, "with": {"traget": "svm"}}]), {"cases": 5})


def test_a_task_needs_what_its_arguments_name_and_more() -> None:
    task = build_task("x", transfer, ["models"], run="swap", target="train svm")
    assert task.needs == ("models", "train svm", "swap")


SHARE: Table = {"figure": {"is": "share", "of": "plain"}}
GAP: Table = {"named": "<{of}>", "figure": {"is": "gap", "of": "{of}"}}
WEAKEST = "the weakest of 2 comparisons: <key>"
COUNTED = "1 of 2 comparisons agree, 1 disagree; the weakest: <key>"


@pytest.mark.parametrize(
    ("claim", "verdict", "evidence"),
    [
        ({**SHARE, "rule": "above", "bound": 0.5}, "agrees", "90.0%"),
        ({**SHARE, "rule": "below", "bound": 0.5}, "disagrees", "90.0%"),
        ({**SHARE, "rule": "near", "expected": 0.9, "margin": 0.1}, "agrees", "90 of 100"),
        ({**SHARE, "rule": "above", "evidence": "share {}"}, "agrees", "share 90.0%"),
        ({**GAP, "rule": "above", "each": {"of": "$models"}}, "disagrees", WEAKEST),
        (
            {**GAP, "rule": "above", "each": {"of": ["plain", "key"]}, "evidence": "counted"},
            "disagrees",
            COUNTED,
        ),
        (
            {"rule": "above", "figures": {"is": "gaps", "of": ["x", "y"]}, "evidence": "all"},
            "agrees",
            "x 90.0% (82.6–94.5; 90 of 100); y 90.0%",
        ),
        (
            {"rule": "above", "figures": {"is": "gaps", "of": []}, "nothing": "one model only"},
            "undecided",
            "one model only",
        ),
    ],
)
def test_rules_of_claims(claim: Table, verdict: Verdict, evidence: str) -> None:
    judgement = judgement_of("a", claim, results(), {})
    assert judgement is not None and judgement.verdict == verdict and evidence in judgement.evidence


def test_a_claim_without_its_task_or_its_figure_is_left_out() -> None:
    known: Table = {"rule": "above", "figure": {"is": "share", "of": "plain"}, "when": "beam"}
    assert judgement_of("a", known, results(), {}) is None
    assert judgement_of("a", known, results(beam={}), {}) is not None
    unknown: Table = {"rule": "above", "figure": {"is": "share", "of": "nobody"}}
    assert judgement_of("a", unknown, results(), {}) is None
    misspelt: Table = {"rule": "above", "figure": {"is": "shares", "of": "plain"}}
    with pytest.raises(UsageError, match=r"figure in paper\.toml 'shares'\. Did you mean 'share'"):
        judgement_of("a", misspelt, results(), {})


def test_a_table_of_paper_toml() -> None:
    share, own = {"is": "share", "of": "{row}"}, {"of": "{row}"}
    columns: list[Table] = [
        {"head": "model", "text": "{name}", "otherwise": "nobody"},
        {"head": "at {n}", "figure": share, "key": "of {n}"},
        {"head": "described", "figure": {"is": "described", **own}, "key": "d", "blank": "key"},
        {"figure": {"is": "gap", **own}, "key": "only in the JSON"},
        {"head": "words", "figure": {"is": "words", **own}},
        {"head": "never", "text": "x", "when": "no such task"},
        {"head": "paper", "figure": share, "key": "p", "beside": "{quoted}", "otherwise": "–"},
    ]
    rows = {"plain": {"name": "baseline", "quoted": "98%"}}
    page = PaperPage(spec(tables={"t": {"over": "models", "columns": columns, "rows": rows}}))
    add_table(page, "t", results(), n=5)
    head, _, plain, key = page.text().splitlines()[2:]
    assert head == "| model | at 5 | described | words | paper |"
    rate_text = "90.0% (82.6–94.5; 90 of 100)"
    assert plain == (
        f"| baseline | {rate_text} | one of two for plain | words of plain | {rate_text} [98%] |"
    )
    assert key.startswith("| nobody | 10.0% (") and "|  | words of key | " in key
    assert key.endswith(" [–] |")
    assert list(page.figures["t"]["plain"]) == ["only in the JSON", "of 5", "d", "p"]
    assert page.texts["t/plain/of 5"] == rate_text


def test_a_figure_that_is_not_there_and_a_text_without_its_value() -> None:
    missing = {"head": "x", "figure": {"is": "share", "of": "nobody"}, "otherwise": "–"}
    page = PaperPage(spec(tables={"t": {"columns": [missing], "rows": {"a": {}}}}))
    add_table(page, "t", results())
    assert page.text().endswith("| – |\n") and page.figures == {}
    text = {"head": "x", "text": "{nmae}"}
    page = PaperPage(spec(tables={"t": {"columns": [text], "rows": {"a": {"name": "b"}}}}))
    with pytest.raises(KeyError, match="nmae"):
        add_table(page, "t", results())


@pytest.mark.parametrize("name", PAPERS)
def test_every_paper_has_all_scales(name: str) -> None:
    paper = load_spec(name)
    assert tuple(paper.scales) == SCALES
    for scale in SCALES:
        assert paper.scale(scale)[COUNTS.get(name, "cases")] != 0


COUNTS = {"natural": "per_class", "attention-translation": "keyword_sentences"}
"""What a paper calls the number of its cases, where it is another word."""


KNOWN = {
    "task": {"name", "do", "with", "each", "needs", "when"},
    "claim": {"text", "tests", "when", "rule", "bound", "expected", "margin", "figure", "figures"}
    | {"each", "named", "evidence", "format", "nothing", "is_check", "not_testable"},
    "column": {"head", "text", "figure", "key", "format", "blank", "beside", "otherwise", "when"},
}


@pytest.mark.parametrize("name", PAPERS)
def test_a_file_has_no_word_that_nothing_reads(name: str) -> None:
    paper = load_spec(name)
    columns = [c for table in paper.tables.values() for c in table.get("columns", ())]
    for kind, tables in (
        ("task", paper.tasks),
        ("claim", [*paper.claims.values()]),
        ("column", columns),
    ):
        for table in tables:
            assert set(table) <= KNOWN[kind], table
    for key, claim in paper.claims.items():
        # A bound is for one figure, or for several that are all evidence or counted.
        several = "each" in claim or "figures" in claim
        assert "bound" not in claim or not several or "evidence" in claim, key
    parts = [*paper.claims.values(), *columns]
    calls = [part[key] for part in parts for key in ("figure", "figures") if key in part]
    assert all(hasattr(load_paper(name).results, call["is"].split(".")[0]) for call in calls)
    assert {c.get("format", "value") for c in parts} <= set(FORMATS)
