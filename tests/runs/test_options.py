"""Options of a run as values, and the flat keywords that mean the same."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

import brittle
from brittle import Keep, Limits, Target, Workers
from brittle.attacks import ATTACKS, recipe, settings
from brittle.errors import UsageError
from brittle.runs.options import (
    FLAT_KEYWORDS,
    Aim,
    Session,
    refuse_data_keywords,
    split_flat,
    with_flat,
)
from brittle.testing import FakeTarget

WEIGHTS = {"good": 2.0, "great": 2.0, "bad": -2.0}
FILMS = [("a good film", "positive"), ("a great plot", "positive"), ("a bad one", "negative")]


def attacked(folder: Path, **options: Any) -> brittle.Run:
    return brittle.attack(FakeTarget(WEIGHTS), FILMS, "key", folder=folder, **options)


def test_values_and_flat_keywords_make_the_same_run(tmp_path: Path) -> None:
    small: dict[str, Any] = {"limit": 2, "budget": 20, "only": "positive"}
    flat = attacked(tmp_path / "flat", measures="none", workers=1, **small)
    keep = Keep(measures="none")
    named = attacked(tmp_path / "named", limits=Limits(**small), keep=keep, workers=Workers(1))
    assert flat.name == named.name and flat.results() == named.results() != []
    assert {**flat.manifest, "started": ""} == {**named.manifest, "started": ""}
    mixed = {"limits": Limits(only="positive"), "limit": 2, "budget": 20, "keep": keep}
    assert attacked(tmp_path / "mixed", **mixed).results() == flat.results()


def test_an_option_may_not_be_given_twice(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError,
        match=r"Got budget=5 and Limits\(budget=9\): the same option twice. Use only one",
    ):
        attacked(tmp_path, budget=5, limits=Limits(budget=9))
    with pytest.raises(UsageError, match=r"Got keep_meaning=0.9 and Keep\(meaning=0.8\)"):
        attacked(tmp_path, keep_meaning=0.9, keep=Keep(meaning=0.8))
    with pytest.raises(UsageError, match=r"Got labels=\('a', 'b'\) and Target\(labels='x=y'\)"):
        brittle.attack(Target(len, labels="x=y"), FILMS, labels=("a", "b"))
    with pytest.raises(UsageError, match="Got a budget of 0 queries a case; expected 1 or more"):
        Limits(budget=0)
    with pytest.raises(UsageError, match="Got 0 workers; expected 1 or more"):
        attacked(tmp_path, workers=0)
    with pytest.raises(UsageError, match=r"Unknown choice of measures 'winner'. Did you mean"):
        Keep(measures="winner")


def test_a_target_carries_its_options(tmp_path: Path) -> None:
    def classify(texts: list[str]) -> list[str]:
        return ["good" if "good" in text else "bad" for text in texts]

    target = Target(classify, labels="positive=good,negative=bad", scores="label")
    run = brittle.attack(target, FILMS, "key", folder=tmp_path)
    assert run.manifest["label_map"] == {"positive": "good", "negative": "bad"}
    assert run.manifest["about_target"] == {}


def test_a_target_that_is_open_keeps_its_name(tmp_path: Path) -> None:
    class Open(FakeTarget):
        closed = 0

        def close(self) -> None:
            self.closed += 1

    opened = Open(WEIGHTS)
    run = brittle.attack(Target("python:films:model", opened=opened), FILMS, "key", folder=tmp_path)
    assert run.manifest["about_target"]["spec"] == "python:films:model"
    assert run.command is None or "python:films:model" in run.command
    former = brittle.attack(
        opened, FILMS, "key", name="b", folder=tmp_path, about_target={"spec": "python:films:model"}
    )
    assert former.manifest["about_target"]["spec"] == "python:films:model"
    assert opened.closed == 0


def test_every_flat_keyword_belongs_to_a_field_and_to_no_setting() -> None:
    owners: dict[str, type] = {"target": Target, "limits": Limits, "keep": Keep, "workers": Workers}
    owners |= {"aim": Aim, "session": Session}
    for owner, name in FLAT_KEYWORDS.values():
        assert name in (*inspect.signature(owners[owner]).parameters, "about_target")
    for attack in ATTACKS:
        assert not {entry.name for entry in settings(recipe(attack))} & FLAT_KEYWORDS.keys()
    options, rest = split_flat({"backend": "ray", "words": 2})
    assert options["workers"] == {"backend": "ray"} and rest == {"words": 2}
    assert with_flat(Workers(2), "workers", {"backend": "ray"}) == Workers(2, "ray")


def test_attack_has_few_named_parameters_and_knows_those_of_the_last_version(
    tmp_path: Path,
) -> None:
    assert len(set(inspect.signature(brittle.attack).parameters) - {"settings"}) == 14
    heard: list[str] = []
    flat = attacked(tmp_path, name="flat", toward="negative", warn=heard.append)
    aim, session = Aim(toward="negative"), Session(warn=heard.append)
    whole = attacked(tmp_path, name="whole", goal=aim, session=session)
    assert flat.manifest["goal"] == whole.manifest["goal"] == "toward negative"
    assert flat.results() == whole.results()
    with pytest.raises(UsageError, match="same option twice"):
        attacked(tmp_path, goal=aim, toward="positive")


def test_options_of_the_data_are_refused_with_the_call_that_takes_them() -> None:
    remedy = r"Load the data first: examples = brittle\.data\.load\(…, text='a', skip_bad=True\)"
    with pytest.raises(UsageError, match=remedy):
        brittle.attack("zoo:toy", "films.csv", "auto", skip_bad=True, text="a")
    with pytest.raises(UsageError, match="Got label='stars', which says how the data is read"):
        refuse_data_keywords({"label": "stars"}, "pwws")
    refuse_data_keywords({"label": "stars"}, "python:mine:attack")
