"""What a model is hardened by: names, settings, what is refused, what is kept apart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from brittle.cli import main
from brittle.errors import UsageError
from brittle.levels import LEVELS
from brittle.training import find, train, train_on, trained_models
from brittle.training.adversarial.methods import (
    METHODS,
    AttackTraining,
    HotFlipTraining,
    LevelTraining,
    NoiseTraining,
    TypoTraining,
    as_json,
    format_method,
    parse_method,
)
from brittle.training.splits import LabelledTexts
from brittle.zoo.folder import load_card


def nothing(folder: Path, originals: LabelledTexts, seed: int) -> LabelledTexts:
    return LabelledTexts((), ())


@pytest.mark.parametrize(
    ("text", "expected", "formatted"),
    [
        ("hotflip", HotFlipTraining(0.2), "hotflip"),
        ("HotFlip,share=0.1", HotFlipTraining(0.1), "hotflip,share=0.1"),
        ("miyato,noise=2", NoiseTraining(2.0), "miyato,noise=2.0"),
        ("key,share=0.2", TypoTraining(0.2), "key"),
    ],
)
def test_a_name_holds_all_that_is_not_the_default(text: str, expected: Any, formatted: str) -> None:
    assert parse_method(text) == expected
    assert format_method(expected) == formatted and parse_method(formatted) == expected
    assert as_json(expected)["method"] == formatted.partition(",")[0]


@pytest.mark.parametrize(
    ("text", "settings", "message"),
    [
        ("hotflop", {}, "Unknown kind of adversarial training 'hotflop'. Did you mean 'hotflip'"),
        (
            "nothing",
            {},
            r"Known: hotflip, miyato, key, rewrite, careful, loose, any, typo, look-alike, auto,"
            r" .*python:module:name",
        ),
        ("hotflip,sahre=1", {}, "Unknown setting of hotflip 'sahre'. Did you mean 'share'"),
        ("hotflip,share", {}, "Expected NAME=VALUE, such as share=0.1"),
        (
            "hotflip,share=much",
            {},
            "Got 'much' for the setting share of hotflip. Expected a number",
        ),
        ("hotflip", {"share": 0.0}, "Got a share of 0.0; expected a number above 0, at most 1"),
        ("key", {"share": 1.5}, "at most 1"),
        ("miyato", {"noise": 0.0}, "Got a noise of 0.0; expected a number above 0"),
        ("miyato", {"share": 0.1}, "Unknown setting of miyato 'share'"),
    ],
)
def test_what_is_no_method_is_refused(text: str, settings: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_method(text, **settings)


def test_an_attack_is_named_with_its_changed_settings() -> None:
    by_pwws = AttackTraining("pwws", nothing, 50, 1, {"beam": 3, "top": 9}, {"beam": 3})
    assert format_method(by_pwws) == "pwws,copies=50,beam=3"
    assert as_json(by_pwws) == {
        "method": "pwws",
        "copies": 50,
        "every": 1,
        "settings": {"beam": 3, "top": 9},
    }
    long = replace(by_pwws, copies=200, changed={"file": "a,b@c.json"})
    digest = format_method(long).removeprefix("pwws,file=")
    assert len(digest) == 8 and digest.isalnum()
    assert format_method(replace(long, changed={"file": "a,b@d.json"})) != format_method(long)
    for wrong in ({"copies": 0}, {"every": 0}):
        with pytest.raises(UsageError, match="expected at least 1"):
            replace(by_pwws, **wrong)


@pytest.mark.parametrize(
    ("model", "method", "message"),
    [
        (
            "naive-bayes",
            HotFlipTraining(),
            "naive-bayes is a linear model. Use key, a level such as rewrite, or an attack",
        ),
        ("linear-svm", NoiseTraining(), "'miyato' follows the gradients of a network"),
        (
            "MiniLM",
            HotFlipTraining(),
            "MiniLM reads subword tokens. Use miyato, key, or an attack",
        ),
        (
            "CNN-C-Random-1",
            AttackTraining("pwws", nothing, every=8),
            "would never attack.*only 4",
        ),
    ],
)
def test_what_a_model_cannot_be_hardened_by(
    model: str, method: Any, message: str, splits: Any, cache: Path
) -> None:
    with pytest.raises(UsageError, match=message):
        train_on(model, splits(), size="tiny", adversarial=method)
    assert not cache.exists()


def test_hardened_models_are_kept_apart(tmp_path: Path) -> None:
    path = tmp_path / "toy.csv"
    rows = "".join(f"{word} number {n},{word}\n" for n in range(20) for word in ("good", "bad"))
    path.write_text("text,label\n" + rows)
    folders = {
        method: train("naive-bayes" + method, str(path))
        for method in ("", "+key", "+key,share=0.5")
    }
    assert len(set(folders.values())) == 3
    assert train("naive-bayes", str(path), adversarial="key") == folders["+key"]
    for method, folder in folders.items():
        assert find("naive-bayes" + method, str(path)) == folder
        assert load_card(folder).full_name == f"naive-bayes{method}@toy#0"
    assert load_card(folders["+key,share=0.5"]).hardening == {"method": "key", "share": 0.5}
    assert load_card(folders[""]).hardening == {}
    readmes = {name: (folder / "README.md").read_text() for name, folder in folders.items()}
    assert "Hardened by adversarial training: method key; share 0.5." in readmes["+key,share=0.5"]
    assert "Hardened" not in readmes[""]
    assert {t.name for t in trained_models()} == {"naive-bayes" + method for method in folders}
    with pytest.raises(UsageError, match="Use only one of them"):
        train("naive-bayes+key", str(path), adversarial="key")


def test_the_command_line_shows_the_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["train", "--help-all"])
    shown = " ".join(capsys.readouterr().out.split())
    assert f"{', '.join(METHODS)}; levels of the ladder ({', '.join(LEVELS)}, or several" in shown
    assert f"variants of each text (default: {LevelTraining.copies})" in shown
    assert f"that have candidates (default: {LevelTraining.share})" in shown
    assert f"so many rewrites of a text (default: {LevelTraining.edits})" in shown
    for share in (HotFlipTraining().share, TypoTraining().share):
        assert f"of the characters changed (default: {share})" in shown
    assert f"relative to the vectors (default: {NoiseTraining().noise})" in shown
    assert f"how many texts (default: {AttackTraining.copies})" in shown
    assert f"attack the model again after so many epochs (default: {AttackTraining.every})" in shown
