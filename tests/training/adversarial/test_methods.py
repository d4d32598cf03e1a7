"""What a model is hardened by: names, settings, what is refused, what is kept apart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from brittle.cli import main
from brittle.errors import UsageError
from brittle.training import find, train, train_on, trained
from brittle.training.adversarial.methods import (
    METHODS,
    Attacked,
    HotFlip,
    Key,
    Miyato,
    named,
    plain,
    tag,
)
from brittle.training.splits import Side
from brittle.zoo.folder import read_card


def nothing(folder: Path, side: Side, seed: int) -> Side:
    return Side((), ())


@pytest.mark.parametrize(
    ("told", "expected", "again"),
    [
        ("hotflip", HotFlip(0.2), "hotflip"),
        ("HotFlip,share=0.1", HotFlip(0.1), "hotflip,share=0.1"),
        ("miyato,noise=2", Miyato(2.0), "miyato,noise=2.0"),
        ("key,share=0.2", Key(0.2), "key"),
    ],
)
def test_a_name_tells_all_that_is_not_the_default(told: str, expected: Any, again: str) -> None:
    assert named(told) == expected
    assert tag(expected) == again and named(again) == expected
    assert plain(expected)["method"] == again.partition(",")[0]


@pytest.mark.parametrize(
    ("told", "settings", "message"),
    [
        ("hotflop", {}, "Unknown kind of adversarial training 'hotflop'. Did you mean 'hotflip'"),
        ("pwws", {}, r"Known: hotflip, miyato, key\..*by_attack"),
        ("hotflip,sahre=1", {}, "Unknown setting of hotflip 'sahre'. Did you mean 'share'"),
        ("hotflip,share", {}, "expected METHOD,SETTING=VALUE"),
        ("hotflip,share=much", {}, "Got 'much' for share; expected a number"),
        ("hotflip", {"share": 0.0}, "Got a share of 0.0; expected a number above 0, at most 1"),
        ("key", {"share": 1.5}, "at most 1"),
        ("miyato", {"noise": 0.0}, "Got a noise of 0.0; expected a number above 0"),
        ("miyato", {"share": 0.1}, "Unknown setting of miyato 'share'"),
    ],
)
def test_what_is_no_method_is_refused(told: str, settings: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        named(told, **settings)


def test_an_attack_is_told_with_what_is_changed() -> None:
    attacked = Attacked("pwws", nothing, 50, 1, {"beam": 3, "top": 9}, {"beam": 3})
    assert tag(attacked) == "pwws,copies=50,beam=3"
    assert plain(attacked) == {
        "method": "pwws",
        "copies": 50,
        "every": 1,
        "settings": {"beam": 3, "top": 9},
    }
    long = replace(attacked, copies=200, changed={"file": "a,b@c.json"})
    digest = tag(long).removeprefix("pwws,file=")
    assert len(digest) == 8 and digest.isalnum()
    assert tag(replace(long, changed={"file": "a,b@d.json"})) != tag(long)
    for wrong in ({"copies": 0}, {"every": 0}):
        with pytest.raises(UsageError, match="expected at least 1"):
            replace(attacked, **wrong)


@pytest.mark.parametrize(
    ("model", "hardening", "message"),
    [
        ("naive-bayes", HotFlip(), "naive-bayes is a linear model. Use key, or an attack"),
        ("linear-svm", Miyato(), "'miyato' follows the gradients of a network"),
        ("MiniLM", HotFlip(), "MiniLM reads pieces of words. Use miyato, key, or an attack"),
        ("CNN-C-Random-1", Attacked("pwws", nothing, every=8), "would never attack.*there are 4"),
    ],
)
def test_what_a_model_cannot_be_hardened_by(
    model: str, hardening: Any, message: str, sides: Any, cache: Path
) -> None:
    with pytest.raises(UsageError, match=message):
        train_on(model, sides(), size="tiny", adversarial=hardening)
    assert not cache.exists()


def test_hardened_models_are_kept_apart(tmp_path: Path) -> None:
    path = tmp_path / "toy.csv"
    rows = "".join(f"{word} number {n},{word}\n" for n in range(20) for word in ("good", "bad"))
    path.write_text("text,label\n" + rows)
    folders = {
        told: train("naive-bayes" + told, str(path)) for told in ("", "+key", "+key,share=0.5")
    }
    assert len(set(folders.values())) == 3
    assert train("naive-bayes", str(path), adversarial="key") == folders["+key"]
    for told, folder in folders.items():
        assert find("naive-bayes" + told, str(path)) == folder
        assert read_card(folder).full_name == f"naive-bayes{told}@toy#0"
    assert read_card(folders["+key,share=0.5"]).hardening == {"method": "key", "share": 0.5}
    assert read_card(folders[""]).hardening == {}
    told = {name: (folder / "README.md").read_text() for name, folder in folders.items()}
    assert "Hardened by adversarial training: method key; share 0.5." in told["+key,share=0.5"]
    assert "Hardened" not in told[""]
    assert {t.name for t in trained()} == {"naive-bayes" + told for told in folders}
    with pytest.raises(UsageError, match="Give one of the two"):
        train("naive-bayes+key", str(path), adversarial="key")


def test_the_command_line_tells_the_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["train", "--help"])
    told = " ".join(capsys.readouterr().out.split())
    assert f"{', '.join(METHODS)}, or an attack" in told
    for share in (HotFlip().share, Key().share):
        assert f"of the characters changed (default: {share})" in told
    assert f"in that of the vectors (default: {Miyato().noise})" in told
    assert f"how many texts (default: {Attacked.copies})" in told
    assert f"after how many epochs (default: {Attacked.every})" in told
