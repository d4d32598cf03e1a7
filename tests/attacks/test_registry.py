"""Attacks by name: ours from the files of their room, others from installed packages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import pytest

from brittle import attacks
from brittle.asks import Attack
from brittle.attacks import ATTACKS, RunContext, recipe, settings
from brittle.attacks.recipes import flattened
from brittle.attacks.registry import DECORATOR, MODULES, own_attacks, registered
from brittle.candidates.choice import SYNONYMS, CandidateSettings, SynonymSettings
from brittle.errors import UsageError

ROOM = Path(attacks.__file__).parent
SOURCE = """
from dataclasses import dataclass
from typing import Annotated, ClassVar

from brittle.asks import Try
from brittle.attacks import RunContext


@dataclass(frozen=True)
class Shout:
    max_words: int
    labels: tuple
    asks: ClassVar = (Try,)

    def __call__(self, case, rng):
        yield from Try([case.text.swap(i, "good") for i in range(self.max_words)])


def shout(*, context: RunContext, max_words: Annotated[int, "at most this many"] = 3) -> Shout:
    \"\"\"Write words in capitals.\"\"\"
    return Shout(max_words, tuple(context.labels))


def fails(*, labels) -> Shout:
    raise KeyError("inside")
"""
ENTRY_POINTS = """[brittle.attacks]
Shout = shouting:shout
fails = shouting:fails
pwws = shouting:shout
gone = no_such_module:attack
number = shouting:METADATA
"""


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """Return a folder in which a small package is installed, with its metadata."""
    (tmp_path / "shouting.py").write_text(SOURCE + "METADATA = 3\n")
    folder = tmp_path / "shouting-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: shouting\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(ENTRY_POINTS)
    return tmp_path


def run(packages: Path, code: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(packages), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONUTF8": "1"}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=packages)


def test_every_file_with_an_attack_is_listed() -> None:
    defining = {path.stem for path in ROOM.glob("*.py") if DECORATOR.search(path.read_text())}
    assert defining == {*MODULES} and len(MODULES) == len({*MODULES})


def test_the_names_in_the_files_are_those_that_register() -> None:
    assert all(recipe(name) is recipe(name.upper()) for name in own_attacks())
    for name, module in own_attacks().items():
        assert recipe(name).__module__ == module, name
    with pytest.raises(ValueError, match="defined twice"):
        registered("pwws")(recipe("pwws"))


def test_names_are_known_without_importing_an_attack() -> None:
    code = "import sys; from brittle.attacks import ATTACKS; assert 'pwws' in ATTACKS and "
    code += "len([*ATTACKS]) > 20; print(*[m for m in sys.modules if 'attacks.' in m])"
    done = run(Path.cwd(), code)
    rooms = {name.rpartition(".")[2] for name in done.stdout.split()}
    assert done.returncode == 0 and rooms == {"recipes", "registry"}, done.stderr


def test_an_installed_package_registers_its_attack(packages: Path) -> None:
    code = """
import brittle, json
from brittle.attacks import ATTACKS, RunContext, build, default_settings, recipe
from brittle.testing import FakeTarget

attack = build("shout", {"max_words": 2}, RunContext(["a", "b"]))
run = brittle.attack(FakeTarget({"good": 5.0, "bad": -1.0}), [("a bad film", "negative")],
                     "shout", folder="runs", max_words=3)
print(json.dumps([[*ATTACKS][-4:], ATTACKS["shout"], repr(attack), default_settings("SHOUT"),
                  recipe("pwws").__module__, [(r.attack, r.status) for r in run.results()],
                  run.manifest["settings"]]))
"""
    done = run(packages, code)
    assert done.returncode == 0, done.stderr
    names, where, attack, defaults, own, rows, stored = json.loads(done.stdout)
    assert names == ["shout", "fails", "gone", "number"] and where == "shouting:shout"
    assert attack == "Shout(max_words=2, labels=('a', 'b'))" and defaults == {"max_words": 3}
    assert own == "brittle.attacks.pwws"  # no package takes the name of one of ours
    assert rows == [["shout", "broken"]] and stored == {"max_words": 3}
    assert (
        "The attack 'pwws' of shouting:shout is ignored: brittle already defines it." in done.stderr
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "gone",
            "The attack 'gone' of the package shouting cannot be imported from no_such_module",
        ),
        ("number", "'number' is a int. Expected an attack"),
        ("fails", "'fails' raised KeyError: 'inside' while it built the attack."),
        ("shuot", "Unknown attack 'shuot'. Did you mean 'shout'?"),
    ],
)
def test_a_fault_of_a_package_is_named(packages: Path, name: str, message: str) -> None:
    code = (
        f"from brittle.attacks import RunContext, build; build({name!r}, {{}}, RunContext(['a']))"
    )
    assert message in run(packages, code).stderr


def test_a_list_shows_what_packages_offer_and_skips_what_is_damaged(packages: Path) -> None:
    listed = run(packages, "from brittle.cli import main; main(['list', 'attacks', '--json'])")
    rows = {row["attack"]: row for row in json.loads(listed.stdout)}
    assert rows["shout"]["what it does"] == "Write words in capitals."
    assert rows["shout"]["settings"] == "max_words" and not {"gone", "number"} & {*rows}
    assert "cannot be imported" in listed.stderr
    helped = run(packages, "from brittle.cli import main; main(['attack', 'x', 'shout', '--help'])")
    assert "--max-words" in helped.stdout and "at most this many" in helped.stdout


def test_a_group_of_settings_stands_where_its_argument_does() -> None:
    def swap(
        *, first: int = 1, source: SynonymSettings = CandidateSettings(), share: float = 0.5
    ) -> Any:
        return first, source, share

    flat = flattened(swap)
    names = [setting.name for setting in settings(flat)]
    assert names == ["first", *SYNONYMS, "share"] and names[1:4] == [
        "inflect",
        "wordnet",
        "candidates",
    ]
    assert flat(senses="1", share=0.1) == (1, CandidateSettings(senses="1"), 0.1)
    assert flat() == (1, CandidateSettings(), 0.5)
    with pytest.raises(TypeError, match="unexpected keyword argument 'spare'"):
        flat(spare=3)
    by_name = {setting.name: setting for setting in settings(recipe("list"))}
    assert by_name["neighbours"].help == (
        "use near words in word vectors instead (a file, glove, counterfitted)"
    )


def test_a_recipe_gets_one_context_or_its_fields_by_name() -> None:
    def by_context(*, context: RunContext, n: Annotated[int, "words"] = 1) -> Attack:
        raise NotImplementedError

    def by_name(*, labels: Any, offers: Any = (), target_words: Any = ()) -> Attack:
        raise NotImplementedError

    context = RunContext(["a"], target_words=lambda: ("one",), offers=["answer"])
    filled = attacks.recipes.run_arguments
    assert filled("mine", by_context, context) == {"context": context}
    expected = {"labels": ["a"], "offers": ["answer"], "target_words": ("one",)}
    assert filled("mine", by_name, context) == expected
    with pytest.raises(UsageError, match="'mine' needs the labels of a classifier"):
        filled("mine", by_name, RunContext())


def test_all_names_are_one_mapping() -> None:
    assert [*ATTACKS][: len(own_attacks())] == [*own_attacks()] and len(ATTACKS) >= 28
    assert ATTACKS["gs-gr"] == "brittle.attacks.spot_swap" and "shout" not in ATTACKS
