"""Auto: attacks from cheap to dear, each only on the cases that still stand."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Annotated, Any, ClassVar

from brittle.asks import (
    GRADED,
    Ask,
    Attack,
    Case,
    Gradient,
    Note,
    Search,
    Unfit,
    helpers_of,
    leaves,
)
from brittle.attacks import build, item_kind, recipe, settings
from brittle.attacks.setting_checks import check_share
from brittle.data.columns import Columns
from brittle.errors import UsageError
from brittle.proposals.choice import CANDIDATES, CAREFUL, SENSES
from brittle.text import Text

BLACK_BOX = ("salient-swap", "pwws", "genetic")
WHITE_BOX = ("gradient-swap", *BLACK_BOX)
LABEL_ONLY = ("salient-swap", "random-swap", "genetic")


@dataclass(frozen=True)
class Auto:
    """Run attacks one after another, until one breaks the case: the worst case of all of them.

    The idea is that of AutoAttack for pictures (Croce and Hein, 2020): several attacks of
    different kinds, no settings to tune, and an example counts as robust only if it withstands all
    of them. All attacks share one budget, of which each gets what is left. The row of a broken case
    says by which attack it broke. An attack that has nothing to offer is passed over.
    """

    attacks: tuple[tuple[str, Attack], ...]
    uses_budget: ClassVar = True

    @property
    def asks(self) -> tuple[type[Ask[Any]], ...]:
        return tuple(dict.fromkeys(ask for _, attack in self.attacks for ask in attack.asks))

    @property
    def attack_names(self) -> list[str]:
        """The names of the attacks, which a run keeps: they depend on the target."""
        return [name for name, _ in self.attacks]

    @property
    def helpers(self) -> tuple[Any, ...]:
        return tuple(helper for _, attack in self.attacks for helper in helpers_of(attack))

    @property
    def proposal(self) -> Any:
        return getattr(self.attacks[0][1], "proposal", None)

    def __call__(self, case: Case[Text], rng: Random) -> Search[None]:
        left, unfit = case.budget, []
        for name, attack in self.attacks:
            yield from Note(reason=f"by {name}")
            try:
                queries = yield from _counted(attack(replace(case, budget=left), rng))
            except Unfit as error:
                unfit.append(error)
                continue
            left = None if left is None else max(0, left - queries)
        if len(unfit) == len(self.attacks):
            raise unfit[0]
        yield from Note(reason="")


def _counted(search: Search[None]) -> Search[int]:
    """Run a search, and count its queries."""
    queries, answer = 0, None
    while True:
        try:
            ask = search.send(answer)
        except StopIteration:
            return queries
        answer = yield from ask
        queries += sum(len(leaf.items) for leaf in leaves(ask) if leaf.is_query)


def auto(
    *,
    labels: Sequence[str] = (),
    label_map: Mapping[str, str] | None = None,
    data_columns: Columns | None = None,
    offers: Collection[str] = (),
    attacks: Annotated[
        str | None, "the attacks in order, NAME,NAME (default: by the target)"
    ] = None,
    share: Annotated[float, "at most this share of the words is replaced"] = 1.0,
    inflect: Annotated[bool, "inflect synonyms like the word they replace"] = True,
    wordnet: Annotated[str | None, "a folder of WordNet files instead of the shipped table"] = None,
    candidates: Annotated[str, CANDIDATES] = CAREFUL,
    senses: Annotated[str | None, SENSES] = None,
    stop_words: Annotated[bool, "replace stop words too"] = True,
) -> Auto:
    """Run attacks from cheap to dear until one breaks the case: the strongest figure."""
    check_share(share=share)
    names = _default_attacks(offers) if attacks is None else _named(attacks)
    values = {"share": share, "inflect": inflect, "wordnet": wordnet}
    values |= {"candidates": candidates, "senses": senses, "stop_words": stop_words}
    about = (labels, label_map, data_columns)
    members = []
    for name in names:
        known = {setting.name for setting in settings(recipe(name))}
        own = {setting: value for setting, value in values.items() if setting in known}
        members.append((name, build(name, own, *about, offers=offers)))
    return Auto(tuple(members))


def _default_attacks(offers: Collection[str]) -> Sequence[str]:
    """Choose attacks by what the target offers; all of them swap words for the same candidates."""
    if GRADED not in offers:
        return LABEL_ONLY
    return WHITE_BOX if Gradient.question in offers else BLACK_BOX


def _named(attacks: str) -> list[str]:
    names = [name.strip().lower() for name in attacks.split(",") if name.strip()]
    refused = [name for name in names if name == "auto" or item_kind(recipe(name)) != "text"]
    if refused or not names:
        raise UsageError(
            f"Got --attacks {attacks!r}; expected attacks on texts, cheap ones first, such as "
            f"{','.join(WHITE_BOX)}, and not auto itself."
        )
    return names
