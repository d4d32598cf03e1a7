"""Which cases people read, in which order: drawn from a run, the same for the same seed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Literal, get_args

from brittle.edits import patch
from brittle.errors import UsageError
from brittle.results import Result, has_adversary
from brittle.validity.questionnaire import Questionnaire

Role = Literal["original", "adversarial", "beside"]
"""What a panel shows: an original, the run's adversary, or the adversary of the other run."""
ROLES: tuple[Role, ...] = get_args(Role)
ID_DIGITS = 12


@dataclass(frozen=True)
class Panel:
    """A text, by its fields, or a picture as its encoded string; `role` is never on a page."""

    role: Role
    fields: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class PageItem:
    """What is asked about at a time: one case, and its panels in the order they are shown in."""

    id: str
    case: str
    panels: tuple[Panel, ...]
    digest: str


@dataclass(frozen=True)
class DrawnSample:
    """What a group of people is shown; `orders` has the ids of the items for every person.

    `label_names` are what people see in place of the labels: the data's own names of them.
    All people get all items, each in another order: agreement is then known of every item.
    """

    id: str
    preset: str
    seed: int
    runs: tuple[str, ...]
    labels: tuple[str, ...]
    label_names: tuple[str, ...]
    has_pictures: bool
    items: tuple[PageItem, ...]
    orders: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Source:
    """What a sample is drawn from: the rows of a run, by its name and manifest."""

    name: str
    manifest: Mapping[str, Any]
    rows: Sequence[Result]

    @property
    def has_pictures(self) -> bool:
        return bool(self.manifest.get("kind") == "picture")

    def broken(self) -> dict[str, Result]:
        """Return the broken cases that have an adversary to show."""
        return {row.case: row for row in self.rows if has_adversary(row)}


def draw_sample(
    run: Source,
    questionnaire: Questionnaire,
    count: int,
    people: int,
    seed: int = 0,
    beside: Source | None = None,
) -> DrawnSample:
    """Draw what people are shown: at most `count` items, of a run or of two on the same cases."""
    _check(run, questionnaire, beside)
    rows, others = run.broken(), beside.broken() if beside else {}
    cases = [case for case in rows if beside is None or case in others]
    if not cases:
        where = f"both {run.name!r} and {beside.name!r}" if beside else f"the run {run.name!r}"
        raise UsageError(f"No case of {where} is broken, so there is nothing to read.")
    # Without the number of people, so that another person can be added later.
    secret = _secret(run, beside, questionnaire.name, count, seed)
    rng = Random(secret)
    is_twice = beside is not None and questionnaire.arrangement == "adversaries"
    chosen = _choose(cases, rows, max(1, count // 2) if is_twice else count, questionnaire, rng)
    roles = [
        (case, arranged)
        for case, is_original in chosen
        for arranged in _arranged(questionnaire, is_original, beside is not None, rng)
    ]
    items = []
    for case, arranged in roles:
        panels = tuple(_panel(role, rows[case], others.get(case), run) for role in arranged)
        number = _digest(f"{secret}:{case}:{','.join(arranged)}")[:ID_DIGITS]
        items.append(PageItem(number, case, panels, row_digest(rows[case])))
    ids = [item.id for item in items]
    orders = [tuple(Random(f"{secret}:{n}").sample(ids, len(ids))) for n in range(people)]
    return DrawnSample(
        id=_digest(f"{secret}:sample")[:ID_DIGITS],
        preset=questionnaire.name,
        seed=seed,
        runs=(run.name, *([beside.name] if beside else [])),
        labels=tuple(map(str, run.manifest.get("labels") or ())),
        label_names=_label_names(run.manifest),
        has_pictures=run.has_pictures,
        # Sorted, so that the order in a page's source says nothing either.
        items=tuple(sorted(items, key=lambda item: item.id)),
        orders=tuple(orders),
    )


def row_digest(row: Result) -> str:
    """Compute a short hash of a case's texts, to notice that a run was made anew since."""
    return _digest(f"{row.original}\n\n{row.adversarial}")[:ID_DIGITS]


def _label_names(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the data's names of the target's labels; LABEL_0 would say nothing to people."""
    names = {str(target): str(data) for data, target in (manifest.get("label_map") or {}).items()}
    return tuple(names.get(str(label), str(label)) for label in manifest.get("labels") or ())


def _check(run: Source, questionnaire: Questionnaire, beside: Source | None) -> None:
    if questionnaire.asks_label and not run.manifest.get("labels"):
        raise UsageError(
            f"The preset {questionnaire.name!r} asks for labels, but the target of "
            f"{run.name!r} answers with texts. Use --preset natural-sentences or original."
        )
    if questionnaire.needs_two_runs and beside is None:
        raise UsageError(
            f"The preset {questionnaire.name!r} compares the adversaries of two runs on the same "
            "data. Name the other one: --beside RUN."
        )
    if beside is not None and questionnaire.arrangement in ("mixed", "shuffled"):
        raise UsageError(
            f"The preset {questionnaire.name!r} reads one run. Leave out --beside, or "
            "choose attention, natural-pictures, natural-changes, natural-sentences or "
            "similarity."
        )
    if beside is not None and beside.has_pictures != run.has_pictures:
        raise UsageError(f"{run.name!r} and {beside.name!r} do not both attack texts or pictures.")


def _choose(
    cases: Sequence[str],
    rows: Mapping[str, Result],
    count: int,
    questionnaire: Questionnaire,
    rng: Random,
) -> list[tuple[str, bool]]:
    """Draw cases, and say of each whether its original is the one that is asked about."""
    groups: dict[str | None, list[str]] = {}
    for case in rng.sample(list(cases), len(cases)):
        groups.setdefault(rows[case].label if questionnaire.by_class else None, []).append(case)
    chosen: list[tuple[str, bool]] = []
    each, rest = divmod(min(count, len(cases)), len(groups))
    for number, label in enumerate(sorted(groups, key=str)):
        own = groups[label][: each + (number < rest)]
        originals = round(questionnaire.originals * len(own))
        chosen += [(case, n < originals) for n, case in enumerate(own)]
    return chosen


def _arranged(
    questionnaire: Questionnaire, is_original: bool, has_beside: bool, rng: Random
) -> list[tuple[Role, ...]]:
    """Return the roles of the panels of one item, or of two."""
    shown = 1 + max(panel for question in questionnaire.questions for panel in question.shows)
    adversaries: list[Role] = ["adversarial", "beside"] if has_beside else ["adversarial"]
    if questionnaire.arrangement == "adversaries":
        return [(role, "original") for role in adversaries]
    if questionnaire.arrangement == "rivals":
        return [(*rng.sample(adversaries, 2), "original")[:shown]]
    pair: list[Role] = ["original", "adversarial"] if is_original else ["adversarial", "original"]
    if questionnaire.arrangement == "shuffled":
        rng.shuffle(pair)
    return [tuple(pair[:shown])]


def _panel(role: Role, row: Result, other: Result | None, run: Source) -> Panel:
    source = other if role == "beside" else row
    assert source is not None
    if role == "original":
        return Panel(role, source.fields)
    if run.has_pictures:
        return Panel(role, (("picture", source.adversarial or ""),))
    return Panel(role, tuple(patch(dict(source.fields), source.edits).items()))


def _secret(run: Source, beside: Source | None, *settings: Any) -> str:
    """Compute what the draws go by: known to who has the run, and not to who has a page."""
    rows = [
        [row.case, row.status, row.queries, row_digest(row)]
        for source in (run, beside)
        if source is not None
        for row in source.rows
    ]
    return _digest(json.dumps([settings, run.manifest.get("fingerprint"), rows]))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
