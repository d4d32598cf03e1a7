"""`brittle validity write` and `brittle validity read`, from pages to figures."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from brittle.cli import main
from brittle.validity.questionnaire import PRESETS
from cli.conftest import Brittle


@pytest.fixture
def read(brittle: Brittle, workdir: Path) -> Callable[..., list[str]]:
    """Have pages of a run of its own answered by a rule; return the files that people save."""

    def call(name: str, preset: str = "standard", people: int = 1, **fixed: Any) -> list[str]:
        argv = ["attack", "python:cli_models:weak", "pwws", "--data", "films.csv"]
        argv += ["--candidates=paper"]
        assert main([*argv, "--name", name, "--new", "--quiet"]) == 0
        out = f"{name}-pages"
        brittle(
            "validity",
            "write",
            name,
            "--preset",
            preset,
            "--people",
            str(people),
            "--out",
            out,
        )
        files = []
        for person in range(1, people + 1):
            page = (workdir / out / f"person-{person}.html").read_text("utf-8")
            (text,) = re.findall(r'id="rows">(.*?)</script>', page)
            data = json.loads(text)
            answers = {
                number: {
                    q["key"]: fixed.get(q["key"], q["answers"][0][0]) for q in data["questions"]
                }
                for number, _ in data["items"]
            }
            names = ("format", "layout", "sample", "preset", "person")
            content = {name: data[name] for name in names} | {"answers": answers}
            files.append(f"{name}-{person}.json")
            (workdir / files[-1]).write_text(json.dumps(content), "utf-8")
        return files

    return call


GOOD = {"label": "positive", "natural": 5, "meaning": 5}


def test_pages_and_key_are_written_and_the_same_again(brittle: Brittle, workdir: Path) -> None:
    first = brittle("validity", "write", "weak", "--count", "8", "--out", "a", "--json")
    again = brittle(
        "validity", "write", "weak", "--count", "8", "--out", "b", "--json", "--people", "3"
    )
    one, two = json.loads(first.out), json.loads(again.out)
    assert one["sample"] == two["sample"] and one["items"] == 8
    assert one["first_panels"] == {"adversarial": 6, "original": 2}
    assert one["key"] == two["key"] == f"runs/weak.{one['sample']}.key.json"
    assert len(two["pages"]) == 3
    pages = [(workdir / folder / "person-2.html").read_text() for folder in ("a", "b")]
    assert pages[0].replace("Page 2 of 2", "Page 2 of 3") == pages[1]


def test_few_broken_cases_are_said_and_presets_are_listed(brittle: Brittle) -> None:
    output = brittle("validity", "write", "weak", "--out", "c")
    assert output.code == 0 and re.search(r"Each page has \d+ items, not 100", output.err)
    assert "The key, for you alone" in output.out
    help = brittle("validity", "write", "--help").out
    assert all(name in help for name in PRESETS)
    unknown = brittle("validity", "write", "weak", "--preset", "nothing")
    assert unknown.code == 2 and "got 'nothing'; expected standard" in unknown.err
    alone = brittle("validity", "write", "weak", "--preset", "attention")
    assert alone.code == 2 and "--beside RUN" in alone.err


def test_validity_is_printed_and_then_shown_beside_success(
    brittle: Brittle, read: Callable[..., list[str]]
) -> None:
    files = read("read", people=2, **GOOD)
    output = brittle("validity", "read", "read", *files)
    assert output.code == 0, output.err
    words = " ".join(output.out.split())
    assert re.search(r"all three: valid 100\.0% .* adversaries read by 2 people", words)
    assert re.search(r"attack success 90\.9% .* valid success 90\.9% ", words)
    assert "agreement on" in words and "clean error" in words
    assert "missing, another family of models" in words
    shown = " ".join(brittle("show", "read").out.split())
    assert "valid success 90.9%" in shown and "success × validity" in shown
    data = json.loads(brittle("show", "read", "--json").out)
    assert data["valid_success"]["value"] == pytest.approx(10 / 11) and data["validity"]["of"] > 4
    again = json.loads(brittle("validity", "read", "read", "--json").out)
    assert again["measured"]["reading"]["people"] == 2
    assert again["valid_success"] == data["valid_success"]


def test_thresholds_and_a_judge_change_the_figure(
    brittle: Brittle, read: Callable[..., list[str]]
) -> None:
    files = read("judged", **GOOD | {"meaning": 3})
    strict = json.loads(brittle("validity", "read", "judged", *files, "--json", "--no-floors").out)
    mild = json.loads(
        brittle("validity", "read", "judged", *files, "--json", "--no-floors", "--meaning", "3").out
    )
    assert (strict["validity"]["value"], mild["validity"]["value"]) == (0, 1)
    assert strict["floors"] is None
    judge = ("--judge", "python:cli_models:strong", "--meaning", "3", "--no-floors")
    output = brittle("validity", "read", "judged", *files, *judge)
    assert output.code == 0, output.err
    assert "judge: sensitivity" in output.out and "validity by judge" in output.out
    refused = brittle("validity", "read", "judged", *files, "--meaning", "7")
    assert refused.code == 2 and "Got --meaning 7; expected a number from 1 to 5" in refused.err


def test_a_judge_alone_is_refused_with_the_remedy(brittle: Brittle) -> None:
    output = brittle(
        "validity", "read", "strong", "--judge", "python:cli_models:weak", "--no-floors"
    )
    assert output.code == 2 and "needs answers of people first" in output.err
    assert "brittle validity write strong" in output.err


def test_floors_with_another_model(brittle: Brittle) -> None:
    other = ("--other", "python:cli_models:strong")
    data = json.loads(brittle("validity", "read", "weak", "--json", *other).out)
    assert data["validity"] is None and data["floors"]["other"]["originals"]["value"] == 1
    assert 0 <= data["floors"]["random_edit"]["value"] < 1
    kept = json.loads(brittle("validity", "read", "weak", "--json").out)
    assert kept["floors"] == data["floors"]
    page = brittle("report", "weak", "--out", "weak.html")
    assert page.code == 0 and "Without people" in Path("weak.html").read_text("utf-8")


def test_other_questionnaires_give_tables_and_no_validity(
    brittle: Brittle, read: Callable[..., list[str]]
) -> None:
    files = read("flipped", "hotflip", people=3, label="positive")
    output = brittle("validity", "read", "flipped", *files, "--no-floors")
    words = " ".join(output.out.split())
    assert "label read right" in words and "median person" in words and "originals" in words
    assert "valid success" not in words and "As in Ebrahimi et al. (2018)" in words
    data = json.loads(brittle("validity", "read", "flipped", *files, "--json", "--no-floors").out)
    assert {row["about"] for row in data["answers"]} == {"flipped", "originals"}
    refused = brittle("validity", "read", "flipped", *files, "--judge", "python:cli_models:strong")
    assert refused.code == 2 and "gives no validity to hold a judge against" in refused.err
    other = brittle("validity", "read", "weak", *files)
    assert other.code == 2 and "which is not a sample of the run 'weak'" in other.err
