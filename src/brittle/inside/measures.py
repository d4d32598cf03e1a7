"""What an attack did inside a target: attention before and after, and how far vectors moved.

A case is looked at as two texts, the original and what broke it. Re is ‖z − z′‖ / ‖z‖ of the
vectors z and z′ of the two texts (On the Robustness of Self-Attentive Models, Hsieh et al., 2019,
Section 7); the change of a word at a layer is the L2 distance of its two vectors (Figure 4).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from brittle.metrics.summary import Figure, mean

MAX_DISTANCE = 4
"""Words further from the edit than this are counted together."""


@dataclass(frozen=True)
class AttendedText:
    """A text, and the attention of one layer, the mean over its heads.

    `summary` is what the summary position gives each word, and `elsewhere` the rest of that row.
    `weights` are words × words, from row to column. None where the target does not show it.
    """

    words: tuple[str, ...]
    summary: tuple[float, ...] | None = None
    elsewhere: float | None = None
    weights: tuple[tuple[float, ...], ...] | None = None


@dataclass(frozen=True)
class InsideCase:
    """A broken case, before and after.

    `pairs` are the positions, before and after, of the words that are compared; `edited` those
    positions of the text after that the attack changed. `changes` has a row for every layer of the
    run and a value for every pair, None for a word that is not read. `relative` is Re.
    """

    case: str
    before: AttendedText
    after: AttendedText
    pairs: tuple[tuple[int, int], ...]
    edited: tuple[int, ...]
    changes: tuple[tuple[float | None, ...], ...] = ()
    relative: float | None = None


@dataclass(frozen=True)
class InsideRun:
    """What was looked at of a run: the cases, and what they have in common.

    `layers` name the rows of the changes; `attention` says which layer's attention is shown;
    `notes` say what the target does not show.
    """

    run: str
    target: str
    fingerprint: str
    attention: str
    layers: tuple[str, ...]
    notes: tuple[str, ...]
    cases: tuple[InsideCase, ...]


def relative_change(cases: Sequence[InsideCase]) -> Figure:
    """Return the mean Re of cases, with its interval.

    >>> round(relative_change(sample_inside().cases).value, 3)
    0.55
    """
    values = [case.relative for case in cases if case.relative is not None]
    return mean(values, "broken cases")


def attention_shift(case: InsideCase) -> float | None:
    """Return how much of the attention of the summary position moved, from 0 to 1.

    It is half the sum of |before − after| over the compared words and over what goes elsewhere.
    None where the target shows no attention.

    >>> round(attention_shift(sample_inside().cases[0]), 3)
    0.2
    """
    before, after = case.before, case.after
    if before.summary is None or after.summary is None:
        return None
    moved = [abs(before.summary[old] - after.summary[new]) for old, new in case.pairs]
    moved.append(abs((before.elsewhere or 0.0) - (after.elsewhere or 0.0)))
    return sum(moved) / 2


def word_attention_shift(case: InsideCase) -> float | None:
    """Return how much of the attention on words moved from word to word, from 0 to 1.

    Both sides are shares of what the compared words receive in all, so that a target whose summary
    position attends little to words is compared with one that attends to nothing else. None where
    the target shows no attention, or none on these words.

    >>> round(word_attention_shift(sample_inside().cases[0]), 3)
    0.222
    """
    before, after = case.before, case.after
    if before.summary is None or after.summary is None:
        return None
    sides = [
        [float(before.summary[old]) for old, _ in case.pairs],
        [float(after.summary[new]) for _, new in case.pairs],
    ]
    if not all(sum(side) > 0 for side in sides):
        return None
    before_shares, after_shares = ([weight / sum(side) for weight in side] for side in sides)
    return float(sum(abs(a - b) for a, b in zip(before_shares, after_shares)) / 2)


def spread(case: InsideCase, layer: int) -> float | None:
    """Return the mean change of the words that were not edited over that of those that were.

    None where no such word is read, or the edited ones did not change.

    >>> case = sample_inside().cases[0]
    >>> spread(case, 0), round(spread(case, 1), 3)
    (0.0, 0.2)
    """
    sides: tuple[list[float], list[float]] = [], []
    for (_, after), change in zip(case.pairs, case.changes[layer]):
        if change is not None:
            sides[after in case.edited].append(change)
    others, edited = sides
    if not others or not sum(edited):
        return None
    return (sum(others) / len(others)) / (sum(edited) / len(edited))


def distances(case: InsideCase) -> tuple[int, ...]:
    """Return for every compared word its position minus that of the nearest edited word.

    Of two edited words that are as near, the one before the word counts.

    >>> distances(sample_inside().cases[0])
    (-3, -2, -1, 0, 1)
    """
    edited = case.edited or (0,)
    return tuple(
        min((after - e for e in edited), key=lambda distance: (abs(distance), -distance))
        for _, after in case.pairs
    )


def change_by_distance(
    cases: Sequence[InsideCase], layers: Sequence[str]
) -> Mapping[str, Mapping[int, Figure]]:
    """Return for every layer the mean change of a word by its distance from the edit.

    A case counts once for each distance, with the mean of its words there; distances beyond
    `MAX_DISTANCE` on either side are one.

    >>> inside = sample_inside()
    >>> by_distance = change_by_distance(inside.cases, inside.layers)
    >>> [(d, figure.value) for d, figure in by_distance["embedding"].items()][-3:]
    [(-1, 0.0), (0, 2.0), (1, 0.0)]
    """
    by_layer = {}
    for n, layer in enumerate(layers):
        values: dict[int, list[float]] = {}
        for case in cases:
            within: dict[int, list[float]] = {}
            for distance, change in zip(distances(case), case.changes[n]):
                if change is not None:
                    bounded = max(-MAX_DISTANCE - 1, min(MAX_DISTANCE + 1, distance))
                    within.setdefault(bounded, []).append(change)
            for distance, changes in within.items():
                values.setdefault(distance, []).append(sum(changes) / len(changes))
        by_layer[layer] = {d: mean(values[d], "broken cases") for d in sorted(values)}
    return by_layer


def distance_name(distance: int) -> str:
    """Return a distance as a table shows it.

    >>> distance_name(-5), distance_name(0), distance_name(2)
    ('≤ −5', '0', '+2')
    """
    if abs(distance) > MAX_DISTANCE:
        return f"≤ −{-distance}" if distance < 0 else f"≥ +{distance}"
    return f"{distance:+d}".replace("-", "−") if distance else "0"


def inside_json(inside: InsideRun) -> dict[str, Any]:
    """Return what was seen, with its means, as plain data."""
    means = {
        layer: {str(distance): asdict(figure) for distance, figure in figures.items()}
        for layer, figures in change_by_distance(inside.cases, inside.layers).items()
    }
    figure = asdict(relative_change(inside.cases))
    return {**asdict(inside), "relative": figure, "change_by_distance": means}


def sample_inside() -> InsideRun:
    """Return what a small network with two layers showed of two cases, for examples."""
    before = AttendedText(
        ("a", "warm", "and", "funny", "film"), (0.1, 0.2, 0.1, 0.4, 0.1), 0.1, (5 * (0.16,),) * 5
    )
    after = AttendedText(
        ("a", "warm", "and", "comical", "film"), (0.1, 0.3, 0.1, 0.2, 0.2), 0.1, (5 * (0.18,),) * 5
    )
    changes = ((0.0, 0.0, 0.0, 2.0, 0.0), (0.1, 0.3, 0.2, 1.5, 0.6))
    positions = tuple((n, n) for n in range(5))
    first = InsideCase("a1", before, after, positions, (3,), changes, 0.8)
    old, new = AttendedText(("the", "plot")), AttendedText(("the", "plan"))
    second = InsideCase("a2", old, new, ((0, 0), (1, 1)), (1,), ((0.0, 2.0), (None, 1.0)), 0.3)
    layers, notes = ("embedding", "layer 1"), ("No attention of the second case.",)
    return InsideRun("demo", "toy", "f1", "first", layers, notes, (first, second))
