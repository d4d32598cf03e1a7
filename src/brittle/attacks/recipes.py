"""Recipes: functions that build attacks, the settings they have, and how these are checked.

Recipes: functions that build attacks. What a run hands to one, and the settings that it has.

A recipe takes keyword arguments. One annotated as `RunContext` is filled in by the run. One
annotated as a dataclass is a group of settings that several recipes share: its fields are settings,
as if they stood in the recipe itself. All others are settings: the command line makes its flags
from them.

Checks of the values of settings; the recipes call them, so that no run stops midway. How much of a
text an attack may change: a share of its words or characters, as a count.
"""

from __future__ import annotations

import functools
import inspect
import math
import types
import typing
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from brittle.asks import Attack, Case, declared
from brittle.errors import UsageError, unknown
from brittle.text import Text

if TYPE_CHECKING:
    from brittle.data.columns import Columns

SETTING_TYPES = (bool, int, float, str)
"""The types of settings that a command line and a manifest can hold."""

A = TypeVar("A")
Recipe = Callable[..., Attack]
"""A function that builds an attack; its keyword arguments are the settings."""


@dataclass(frozen=True)
class RunContext:
    """What a run hands to a recipe.

    `labels` are the target's, `label_map` tells which of them a label of the data means. What is
    learnt from a file is learnt from its `data_columns`, those of open fields and label, if it has
    them. `open_generator` opens a generator by its name, refined by so many steps.
    `target_words` lists the words that the target knows, the most frequent first; that may take a
    second, so only a recipe that needs them calls it. `offers` are the questions that the target
    answers under the goal.
    """

    labels: Sequence[str] = ()
    label_map: Mapping[str, str] | None = None
    data_columns: Columns | None = None
    open_generator: Callable[[str, int], Any] | None = None
    target_words: Callable[[], Sequence[str]] = tuple
    offers: Collection[str] = ()

    def needed_labels(self, attack: str) -> Sequence[str]:
        """Return the target's labels; an attack that needs them is refused where there are none."""
        if self.labels:
            return self.labels
        raise UsageError(
            f"The attack {attack!r} needs the labels of a classifier, but this target "
            "answers with texts. Use an attack that needs only the goal, such as pwws, "
            "random-swap or key."
        )


RUN_ARGUMENTS = tuple(field.name for field in fields(RunContext))
"""Arguments that users' recipes may take instead of a `RunContext`: its fields, by name."""


@dataclass(frozen=True)
class Setting:
    """One keyword argument of a recipe, as the command line offers it.

    A `required` setting has no default, and `default` is None.
    """

    name: str
    kind: type
    default: Any
    help: str
    required: bool = False


def settings(recipe: Recipe) -> list[Setting]:
    """List what can be set on an attack; the run fills in the rest."""
    for name, parameter in parameters_of(recipe).items():
        is_plain = parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        if is_plain and inspect.isfunction(recipe) and not is_filled_in(parameter):
            raise UsageError(
                f"The argument {name!r} of the attack {_name(recipe)} is not keyword-only, so that "
                f"it is no setting and gets no flag. Put a * before the settings: "
                f"def {_name(recipe)}(*, {name}=…)."
            )
    return [
        _setting(recipe, parameter)
        for name, parameter in parameters_of(recipe).items()
        if not is_filled_in(parameter) and parameter.kind is parameter.KEYWORD_ONLY
    ]


def run_arguments(name: str, recipe: Recipe, context: RunContext) -> dict[str, Any]:
    """Return the arguments of a recipe that the run fills in."""
    arguments: dict[str, Any] = {}
    for parameter in filter(is_filled_in, parameters_of(recipe).values()):
        if parameter.name not in RUN_ARGUMENTS:
            arguments[parameter.name] = context
        elif parameter.name == "target_words":
            arguments[parameter.name] = context.target_words()
        elif parameter.name == "labels" and parameter.default is parameter.empty:
            arguments[parameter.name] = context.needed_labels(name)
        else:
            arguments[parameter.name] = getattr(context, parameter.name)
    return arguments


def is_filled_in(parameter: inspect.Parameter) -> bool:
    """Tell whether the run fills in an argument of a recipe."""
    is_context = parameter.annotation in (RunContext, RunContext.__name__)
    return is_context or parameter.name in RUN_ARGUMENTS


def item_kind(recipe: Recipe) -> str | None:
    """Return the kind of items that a recipe's attack edits, by what it says it returns.

    None if that depends on its settings.
    """
    kind = declared(signature_of(recipe).return_annotation, "item_kind")
    return kind if isinstance(kind, str) else None


def summary(recipe: Recipe) -> str:
    """Return the first line of a recipe's docstring."""
    return (inspect.getdoc(recipe) or "").split("\n")[0]


def flattened(recipe: Callable[..., A]) -> Callable[..., A]:
    """Return a recipe that takes the settings of its groups as arguments of its own."""
    try:
        signature = inspect.signature(recipe, eval_str=True)
    except Exception:  # said when its settings are read
        return recipe
    groups = {
        parameter.name: (_group(parameter.annotation), _group_parameters(parameter.annotation))
        for parameter in signature.parameters.values()
        if _group(parameter.annotation) is not None
    }
    if not groups:
        return recipe

    @functools.wraps(recipe)
    def flat(**values: Any) -> A:
        for name, (group, parameters) in groups.items():
            own = {p.name: values.pop(p.name) for p in parameters if p.name in values}
            if own or name not in values:
                values[name] = group(**own)
        return recipe(**values)

    expanded: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        expanded += groups[parameter.name][1] if parameter.name in groups else [parameter]
    flat.__signature__ = signature.replace(parameters=expanded)  # type: ignore[attr-defined]
    return flat


def _group(hint: Any) -> Any:
    """Return the dataclass of an annotation that means a group of settings; None of any other."""
    kind = typing.get_args(hint)[0] if typing.get_origin(hint) is typing.Annotated else hint
    is_group = isinstance(kind, type) and is_dataclass(kind) and kind is not RunContext
    return kind if is_group else None


def _group_parameters(hint: Any) -> list[inspect.Parameter]:
    """Return the fields of a group as arguments: all, or those that the annotation names."""
    group, chosen = _group(hint), typing.get_args(hint)[1:]
    names = chosen[0] if chosen else [field.name for field in fields(group)]
    hints = typing.get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(group)
        if field.name in names
    ]


def parameters_of(recipe: Recipe) -> Mapping[str, inspect.Parameter]:
    """Return the arguments of a recipe, with their annotations as objects."""
    return signature_of(recipe).parameters


def signature_of(recipe: Recipe) -> inspect.Signature:
    """Return the signature of a recipe, with its annotations as objects."""
    try:
        return inspect.signature(recipe, eval_str=True)
    except Exception as error:  # evaluating an annotation can fail in any way
        raise UsageError(
            f"The arguments of {_name(recipe)} cannot be read ({type(error).__name__}: "
            f"{error}). Expected keyword arguments with annotations that its module "
            "defines or imports."
        ) from error


def _setting(recipe: Recipe, parameter: inspect.Parameter) -> Setting:
    required = parameter.default is parameter.empty
    default = None if required else parameter.default
    hint, text = parameter.annotation, ""
    if hint is parameter.empty:
        hint = str if default is None else type(default)
    if typing.get_origin(hint) is typing.Annotated:
        hint, text = typing.get_args(hint)[:2]
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        parts = [part for part in typing.get_args(hint) if part is not types.NoneType]
        hint = parts[0] if len(parts) == 1 else hint
    if hint not in SETTING_TYPES:
        raise UsageError(
            f"The argument {parameter.name!r} of {_name(recipe)} is a "
            f"{getattr(hint, '__name__', hint)}; expected bool, int, float or str."
        )
    return Setting(parameter.name, hint, default, str(text), required)


def _name(recipe: Recipe) -> str:
    return str(getattr(recipe, "__qualname__", type(recipe).__qualname__))


def check_count(**settings: int) -> None:
    """Refuse a value that is not a whole number, 1 or more."""
    expected = "a whole number, 1 or more. Leave the flag out for the default"
    _check(settings, expected, lambda value: isinstance(value, int) and value >= 1)


def check_positive(**settings: float) -> None:
    """Refuse a value that is not a positive, finite number."""
    expected = "a number above 0. Leave the flag out for the default"
    _check(settings, expected, lambda value: _is_number(value) and 0 < value < math.inf)


def check_share(**settings: float) -> None:
    """Refuse a value that is not a share: above 0, at most 1."""
    expected = "a number above 0, at most 1. For a fifth of the words write {flag} 0.2"
    _check(settings, expected, lambda value: _is_number(value) and 0 < value <= 1)


def check_distance(**settings: float) -> None:
    """Refuse a value that is no change of a pixel: above 0, at most 1."""
    expected = (
        "a number above 0, at most 1, because pixels go from 0 to 1. For 8 of 255 write 0.0314"
    )
    _check(settings, expected, lambda value: _is_number(value) and 0 < value <= 1)


def check_threshold(**settings: float) -> None:
    """Refuse a value that is not a number from 0, which turns the threshold off, to 1."""
    expected = "a number from 0 to 1. For no limit write {flag} 0"
    _check(settings, expected, lambda value: _is_number(value) and 0 <= value <= 1)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def _check(settings: Mapping[str, Any], expected: str, is_fine: Callable[[Any], bool]) -> None:
    for name, value in settings.items():
        if not is_fine(value):
            flag = "--" + name.replace("_", "-")
            raise UsageError(f"Got {flag} {value!r}; expected {expected.format(flag=flag)}.")


PAPER, AUTHOR_CODE = VARIANTS = ("paper", "author-code")
"""If a paper and its authors' code differ, an attack can follow either."""
Variant = Annotated[str, "if the paper and its authors' code differ: follow paper, or author-code"]


def check_variant(variant: str) -> None:
    """Refuse what is no variant."""
    if variant not in VARIANTS:
        raise unknown("variant", variant, VARIANTS)


_ROUNDING = 1e-9  # 0.29 · 100 is 29 words, though a little less in floating point


def max_words(text: Text, share: float) -> int:
    """Return the number of words in a share of the text: rounded down, but at least one."""
    return max(1, int(share * len(text) + _ROUNDING))


def max_characters(case: Case[Text], share: float) -> int:
    """Return the number of characters in a share of the words that the target reads.

    It is rounded down, but at least one; it is 0 if the target reads no word.
    """
    words = case.text.words
    count = sum(len(word) for i in case.positions if isinstance(word := words[i], str))
    return max(1, int(share * count + _ROUNDING)) if count else 0
