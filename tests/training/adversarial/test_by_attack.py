"""Adversarial training by an attack, from its name to the model that is loaded again."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from brittle.cli import main
from brittle.errors import UsageError
from brittle.opening import load_zoo
from brittle.targets.zoo import target as zoo
from brittle.text import Text
from brittle.training import train
from brittle.training.adversarial.methods import (
    HotFlipTraining,
    TypoTraining,
    as_json,
    broken_texts,
    by_attack,
    format_method,
    parse_method,
)
from brittle.training.splits import LabelledTexts
from brittle.zoo.folder import load_card

GOOD, BAD, OTHER = ["lovely", "warm", "funny"], ["dull", "cold", "awful"], ["the", "film", "is"]
OWN = '''
from dataclasses import dataclass
from typing import ClassVar
from brittle.asks import Try

@dataclass(frozen=True)
class Last:
    """Puts a word at the end."""

    word: str
    asks: ClassVar = (Try,)

    def __call__(self, case, rng):
        yield from Try([case.text.insert(len(case.text), self.word)])

def last(*, word: str = "dull") -> Last:
    """Put a word at the end."""
    return Last(word)
'''


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BRITTLE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path / "cache"


@pytest.fixture
def films(tmp_path: Path) -> str:
    random = Random(0)
    rows = []
    for n in range(60):
        words = [*random.choices(OTHER, k=3), random.choice((BAD, GOOD)[n % 2])]
        rows.append(f"{' '.join(words)},{('negative', 'positive')[n % 2]}\n")
    path = tmp_path / "films.csv"
    path.write_text("text,label\n" + "".join(rows))
    return str(path)


def test_what_fools_the_model_comes_back_with_its_true_label(films: str) -> None:
    folder = train("naive-bayes", films)
    target = zoo.load_folder(folder)
    texts = [Text.of(f"the {word} film") for word in (*GOOD, *BAD)]
    originals = LabelledTexts(tuple(texts), (1, 1, 1, 0, 0, 0))
    found = broken_texts(folder, originals, 3, "key-any", {"share": 1.0}, "cpu")
    assert found == broken_texts(folder, originals, 3, "key-any", {"share": 1.0}, "cpu")
    assert len(found) > 0
    for text, label in zip(found.texts, found.label):
        assert text not in texts and target.scores([text])[0].argmax() != label
    wrong = LabelledTexts(
        originals.texts, (0, 0, 0, 1, 1, 1)
    )  # already wrong: there is nothing to attack
    assert len(broken_texts(folder, wrong, 3, "key-any", {"share": 1.0}, "cpu")) == 0


def test_names_and_settings() -> None:
    assert parse_method("hotflip", share=0.1) == HotFlipTraining(0.1)
    assert parse_method("key") == TypoTraining()  # the method, not the attack of that name
    method: Any = parse_method("Key-Any,copies=7", every=2, draws=3)
    assert format_method(method) == "key-any,copies=7,every=2,draws=3"
    assert as_json(method)["settings"] == {"share": 0.1, "draws": 3}
    again: Any = parse_method(format_method(method))
    assert again == method and format_method(again) == format_method(method)
    assert format_method(by_attack("key-any", draws=10)) == "key-any"
    both: Any = parse_method("key-any,copies=7", copies=9)
    assert both.copies == 9
    for text, message in (
        ("pwsw", "Unknown kind of adversarial training 'pwsw'. Did you mean 'pwws'"),
        ("hotflop", "Did you mean 'hotflip'"),
        (
            "zzz",
            r"Known: hotflip, miyato, key, rewrite, careful, loose, any, typo, look-alike, auto,"
            r" .*python:module:name",
        ),
        ("key-any,drawz=3", "Unknown setting of key-any 'drawz'. Did you mean 'draws'"),
        ("hotflip-words,strict=perhaps", "Unknown setting of hotflip-words 'strict'"),
        (
            "key-any,draws=many",
            "Got 'many' for the setting draws of key-any. Expected a whole number",
        ),
    ):
        with pytest.raises(UsageError, match=message):
            parse_method(text)
    with pytest.raises(UsageError, match="Unknown setting of key-any 'drawz'"):
        by_attack("key-any", drawz=3)


def test_files_that_settings_name_decide_too(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    words = tmp_path / "words.txt"
    found = []
    for content in ("one", "two"):
        words.write_text(content)
        found.append(as_json(by_attack("python:own:last", word=str(words))))
    assert found[0] != found[1]


@pytest.mark.parametrize("name", ["CNN-W-Random-1", "CNN-C-Random-1"])
@pytest.mark.slow
def test_an_attack_hardens_a_network_and_the_zoo_finds_it(name: str, films: str) -> None:
    pytest.importorskip("torch")
    words = ["train", name, "--data", films, "--size", "tiny", "--quiet"]
    assert main([*words, "--adversarial", "key-any", "--copies", "10", "--draws", "3"]) == 0
    full = f"{name}+key-any,copies=10,draws=3"
    target = load_zoo(f"zoo:{full}@{films}?size=tiny", train=False)
    assert target.name == f"{full}@films#0?size=tiny"
    assert target.card.hardening["settings"] == {"share": 0.1, "draws": 3}
    target.close()
    listed = load_zoo(f"zoo:{full}@films?size=tiny", train=False)
    assert listed.fingerprint == target.fingerprint
    listed.close()
    with pytest.raises(UsageError, match=r"not trained yet\. Train it with: brittle train"):
        load_zoo(f"zoo:{name}+key-any@{films}?size=tiny")


@pytest.mark.slow
def test_a_white_box_attack_leaves_training_as_it_was(films: str) -> None:
    pytest.importorskip("torch")
    options: dict[str, Any] = {"size": "tiny", "adversarial": by_attack("jsma", copies=10, words=2)}
    folder = train("CNN-W-Random-1", films, **options)
    before = (folder / "model.safetensors").read_bytes()
    again = train("CNN-W-Random-1", films, new=True, **options)
    assert (again / "model.safetensors").read_bytes() == before


def test_the_command_line(films: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    words = ["train", "naive-bayes", "--data", films, "--json"]
    assert main([*words, "--adversarial", "python:own:last", "--word", "cold"]) == 0
    folder = Path(json.loads(capsys.readouterr().out)["written"])
    card = load_card(folder)
    assert card.name == "naive-bayes+python:own:last,word=cold"
    assert main(["train", "naive-bayes+key,share=0.3", "--data", films, "--json"]) == 0
    folder = Path(json.loads(capsys.readouterr().out)["written"])
    assert load_card(folder).hardening == {"method": "key", "share": 0.3}
    assert folder == train("naive-bayes", films, adversarial=TypoTraining(0.3))
    for more, message in (
        (["--share", "0.2"], "--share is a setting of adversarial training. Name the method"),
        (
            ["--adversarial", "hotflip"],
            "naive-bayes is a linear model. Use key, a level such as rewrite, or an attack",
        ),
        (["--adversarial", "pwsw"], "Did you mean 'pwws'?"),
        (["--adversarial", "key", "--noise", "1"], "Unknown setting of key 'noise'"),
        (["--adversarial", "jsma"], "asks for flips, but target"),
    ):
        assert main([*words, *more]) == 2
        assert message in capsys.readouterr().err
    assert main(["train", "naive-bayes+key", "--data", films, "--adversarial", "key"]) == 2
    assert "Use only one of them" in capsys.readouterr().err


def test_a_hardened_model_is_trained_when_first_used(films: str) -> None:
    target = load_zoo(f"zoo:naive-bayes+key@{films}#2")
    assert target.name == "naive-bayes+key@films#2"
    with pytest.raises(UsageError, match="Unknown setting of key"):
        load_zoo(f"zoo:naive-bayes+key,copies=3@{films}")


def test_yes_and_no_are_read_as_in_settings_of_models() -> None:
    method: Any = parse_method("hotflip-words,same_tag=no")
    assert method.settings["same_tag"] is False and method.changed == {"same_tag": False}
