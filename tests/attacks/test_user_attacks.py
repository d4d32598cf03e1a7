"""A user's own attack, `python:module:name`: what works, and what is said of what cannot."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from brittle.attacks import RunContext, build, recipe, settings
from brittle.errors import UsageError

MINE = """
from __future__ import annotations
from dataclasses import dataclass
from typing import Annotated, ClassVar, Optional
from brittle.asks import Try

@dataclass(frozen=True)
class Shout:
    times: int = 1
    asks: ClassVar = (Try,)
    def __call__(self, case, rng):
        yield from Try([case.text])

class Silent:
    def __call__(self, case, rng):
        yield from Try([case.text])

class Deaf:
    asks = (Try,)

class Alone(Silent):
    asks = (Try,)
    def __call__(self, case):
        yield from Try([case.text])

class Vague(Silent):
    asks = ("Try",)

class Other(Silent):
    asks = Try

class Positional(Shout):
    def __init__(self, weight): ...

class Box:
    inner = Shout()

def req(*, k: Annotated[int, "how often"], loud: Optional[bool] = None, name=1.5):
    return Shout(k)
def mapped(*, labels, label_map):
    found = Shout(len(labels))
    object.__setattr__(found, "seen", label_map)
    return found
def search(case, rng):
    yield from Try([case.text])
def marked(case, rng):
    yield from Try([case.text])
marked.asks = (Try,)
def nothing(): ...
def a_class(): return Shout
def fails(): raise KeyError("weights")
def strange(*, words: list[str] = ()): return Shout()
def unresolved(*, words: Nowhere = 1): return Shout()
number = 3
live = Shout(2)
"""
MODULES = {
    "own_mine": MINE,
    "own_broken": "def (",
    "own_raises": "1 / 0",
    "own_ends": "import sys\nsys.exit(3)",
}


@pytest.fixture(autouse=True)
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, source in MODULES.items():
        (tmp_path / f"{name}.py").write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    for name in MODULES:
        sys.modules.pop(name, None)


def built(name: str, **values: Any) -> Any:
    return build(f"python:own_mine:{name}", values, RunContext(["neg", "pos"], {"bad": "neg"}))


def test_an_attack_its_class_or_a_recipe() -> None:
    assert built("live").times == 2
    assert built("Shout").times == 1
    assert built("req", k=4).times == 4
    assert built("Box.inner").times == 1
    assert built("marked").asks


def test_the_run_fills_in_labels_and_their_map() -> None:
    attack = built("mapped")
    assert attack.times == 2
    assert attack.seen == {"bad": "neg"}
    assert settings(recipe("python:own_mine:mapped")) == []


def test_settings_say_what_is_required() -> None:
    listed = {s.name: s for s in settings(recipe("python:own_mine:req"))}
    assert (listed["k"].required, listed["k"].default, listed["k"].kind) == (True, None, int)
    assert (listed["loud"].required, listed["loud"].kind) == (False, bool)
    assert (listed["name"].default, listed["name"].kind) == (1.5, float)
    assert listed["k"].help == "how often"


@pytest.mark.parametrize("values", [{}, {"k": None}])
def test_a_missing_setting_is_named(values: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"needs a value for 'k'.*--k INT"):
        built("req", **values)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("search", "generator function.*must also declare its questions.*Expected an attack"),
        ("number", "is a int.*Expected an attack"),
        ("Silent", "made a Silent, which has no `asks`"),
        ("Deaf", r"Deaf that cannot be called as attack\(case, rng\)"),
        ("Alone", r"Alone that cannot be called as attack\(case, rng\)"),
        ("Vague", r"asks = \('Try',\).*Expected a tuple"),
        ("Other", "asks = <class.*Expected a tuple"),
        ("Positional", "has the positional argument 'weight'.*Put a star before it"),
        ("nothing", "made a NoneType, which has no `asks`"),
        ("a_class", "made the class 'Shout'"),
        ("fails", "raised KeyError: 'weights'"),
        ("strange", "'words' of strange is a list.*expected bool, int, float or str"),
        ("unresolved", "arguments of unresolved cannot be read.*Nowhere"),
        ("missing", "no 'missing' in 'own_mine'.*Found: "),
        ("Box.outer", "no 'outer' in 'Box'"),
    ],
)
def test_what_is_no_attack_is_refused(name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        built(name)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("python:own_broken:x", "'own_broken'.*SyntaxError"),
        ("python:own_raises:x", "'own_raises'.*ZeroDivisionError"),
        ("python:own_ends:x", "'own_ends'.*SystemExit: 3"),
        ("python:own_nowhere:x", "ModuleNotFoundError.*looks in the working folder"),
        ("python:own_mine", "expected python:MODULE:NAME"),
        ("python::x", "expected python:MODULE:NAME"),
    ],
)
def test_a_module_that_cannot_be_imported(name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        recipe(name)


def test_an_unknown_setting_is_named() -> None:
    with pytest.raises(UsageError, match="Unknown setting of python:own_mine:req 'kk'"):
        built("req", kk=3)


def test_an_attack_in_a_file_is_named_by_its_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").touch()
    for named in ("mine.py:drop", "mine:drop"):
        with pytest.raises(UsageError, match=r"write python:mine:drop\.$"):
            recipe(named)
    with pytest.raises(UsageError, match=r"write python:module:name\.$"):
        recipe("pwws:share=0.2")
