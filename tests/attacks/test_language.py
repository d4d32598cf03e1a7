"""Attacks that are made for English say so when most texts are not."""

from __future__ import annotations

from pathlib import Path

import pytest

import brittle
from brittle.attacks import ATTACKS, recipe
from brittle.attacks.needs import is_for_english, language_warning
from brittle.attacks.pwws import PWWS
from brittle.candidates.synonyms import SubstituteTable
from brittle.testing import FakeTarget
from brittle.text import Text

GERMAN = [
    "Die Schauspieler haben mich wirklich begeistert, das Ende leider nicht.",
    "Zwei junge Männer stehen vor einem alten Haus und reparieren ihre Fahrräder.",
    "Eine Frau mit rotem Hut verkauft frisches Gemüse auf dem Markt.",
    "begeistert",
]
FRENCH = [
    "Le film est vraiment magnifique et les acteurs sont excellents.",
    "Je n'ai pas aimé la fin de cette histoire.",
    "Une soirée agréable avec mes amis au restaurant.",
    "Le service était lent mais la cuisine délicieuse.",
    "C'est une belle surprise pour tout le monde.",
]
CHINESE = ["这部电影真的很好看，演员也很出色。", "我不喜欢这个故事的结局。"]
ENGLISH = ["a warm and funny film", "it made me laugh and cry"]
TWEETS = [
    *("ngl this slaps fr fr", "gonna hit the gym tmrw w/ my bro", "omg ur sooo funny lol"),
    *("smh cant believe u did dat 2 me", "lmao he rly said dat bruh", "brb gotta feed the doggo"),
]


@pytest.mark.parametrize("name", ["pwws", "salient-swap", "genetic", "random-swap"])
def test_attacks_with_english_synonyms_warn(name: str) -> None:
    def warning(*sources: str) -> str | None:
        return language_warning(name, recipe(name)(), [Text.of(source) for source in sources])

    message = warning(*GERMAN, *ENGLISH)
    assert message is not None and message.startswith("4 of 6 texts are not English")
    assert name in message and warning(*FRENCH) and warning(*CHINESE)
    assert warning(*ENGLISH) is None and warning(*TWEETS) is None


def test_attacks_for_any_language_do_not() -> None:
    assert not is_for_english(PWWS(SubstituteTable({})))
    assert [n for n in ("key", "key-any", "hotflip", "jsma") if is_for_english(recipe(n)())] == []
    assert is_for_english(recipe("hotflip-words")()) and "key" in ATTACKS


def test_a_run_warns_once_and_skips_what_it_cannot_edit(tmp_path: Path) -> None:
    warned: list[str] = []
    target = FakeTarget({}, spread=0.5)
    run = brittle.attack(target, GERMAN, folder=tmp_path, warn=warned.append)
    assert len([message for message in warned if "texts are not English" in message]) == 1
    assert run.manifest["warnings"] == warned
    rows = run.results()
    assert {(row.status, row.reason) for row in rows if row.queries == 1} == {
        ("skipped", "no candidates")
    }
    assert brittle.attack(target, GERMAN, folder=tmp_path, warn=warned.append).complete
    assert len(warned) == len(run.manifest["warnings"])
