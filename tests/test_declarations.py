"""What attacks and targets may declare: every attribute that is looked up stands in one class."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import brittle
from brittle.asks import AttackDeclarations, declared
from brittle.attacks import ATTACKS, recipe
from brittle.attacks.natural import Natural
from brittle.attacks.recipes import signature_of
from brittle.targets.protocols import TargetDeclarations, declared_by

ROOT = Path(brittle.__file__).parent
OF_TARGETS, OF_ATTACKS = ("target", "member", "ensemble"), ("attack", "search")
NAME = "name"  # every target has one; a helper without one is named by its class


@cache
def lookups() -> set[tuple[str, Any]]:
    """Return what getattr and hasattr look up anywhere: the variables, and their attributes."""
    found = set()
    for path in ROOT.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        if "getattr(" not in source and "hasattr(" not in source:
            continue  # to parse all files takes seconds
        for node in ast.walk(ast.parse(source)):
            is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            if is_call and node.func.id in ("getattr", "hasattr") and len(node.args) > 1:
                whom, what = node.args[:2]
                variable = whom.attr if isinstance(whom, ast.Attribute) else ast.unparse(whom)
                if isinstance(what, ast.Constant):
                    found.add((variable, what.value))
    return found


def looked_up(variables: tuple[str, ...]) -> set[str]:
    """Return the attributes that getattr and hasattr look up on variables of these names."""
    return {attribute for variable, attribute in lookups() if variable in variables}


def test_attributes_of_targets_that_are_looked_up_are_documented() -> None:
    assert looked_up(OF_TARGETS) - {NAME} <= {*get_type_hints(TargetDeclarations)}


def test_attributes_of_attacks_that_are_looked_up_are_documented() -> None:
    assert looked_up(OF_ATTACKS) - {"asks"} <= {*get_type_hints(AttackDeclarations)}


@pytest.mark.parametrize("declarations", [AttackDeclarations, TargetDeclarations])
def test_every_declaration_has_a_default_and_a_meaning(declarations: type) -> None:
    names = [*get_type_hints(declarations)]
    assert names and all(name in vars(declarations) for name in names)
    path = Path(brittle.__file__).parents[1] / (declarations.__module__.replace(".", "/") + ".py")
    (tree,) = [
        node
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and node.name == declarations.__name__
    ]
    pairs = zip(tree.body, tree.body[1:])
    explained = [
        ast.unparse(one.target)
        for one, other in pairs
        if isinstance(one, ast.AnnAssign) and isinstance(other, ast.Expr)
    ]
    assert explained == names


def test_what_is_not_declared_has_its_default() -> None:
    class Bare:
        pass

    assert declared(Bare(), "item_kind") == "text" and declared_by(Bare(), "parallel") == 1
    assert declared(Natural, "cost_name") == "Δz" and declared(Bare, "helpers") == ()
    with pytest.raises(AttributeError):
        declared(Bare(), "use_budget")
    with pytest.raises(AttributeError):
        declared_by(Bare(), "paralel")


@pytest.mark.parametrize("name", [*ATTACKS])
def test_attacks_declare_nothing_by_a_misspelt_name(name: str) -> None:
    kind: Any = signature_of(recipe(name)).return_annotation
    known = {*get_type_hints(AttackDeclarations), "asks"}
    own = {key for key, hint in vars(kind).get("__annotations__", {}).items() if "ClassVar" in hint}
    assert own <= known, own - known
