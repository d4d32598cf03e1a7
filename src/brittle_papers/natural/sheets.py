"""The contact sheets of the page: digits beside their adversaries (Table 1, Figures 1 and 4d)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from brittle.picture import Picture
from brittle.reports.pictures import difference_image
from brittle.results import Result, has_adversary
from brittle_papers.natural.results import MLP, TARGETS, NaturalResults
from brittle_papers.natural.searches import HYBRID, Rows
from brittle_papers.natural.sheet_figure import SheetPicture, SheetRow, sheet_figure

MAX_COLUMNS, SHOWN_ON_MLP = 10, 3
ORIGINAL, REBUILT = "original", "G(I(x))"


def table_1(found: NaturalResults) -> tuple[str, list[str]]:
    """Draw one digit of each class with its adversaries; return the figure and its cases."""
    fgsm = found.runs("FGSM on LeNet")["fgsm"]
    forest, lenet = (found.searches(name)[HYBRID] for name in TARGETS)
    cases = _one_of_each(lenet, [fgsm, forest, lenet])
    copies = found.results["reconstructions"]["rebuilt"]
    rebuilt = [
        SheetPicture(Picture.decode(copies[lenet[case].original]).pixels)
        if lenet[case].original in copies
        else None
        for case in cases
    ]
    rows = [
        SheetRow(ORIGINAL, [_original(lenet[case]) for case in cases]),
        SheetRow(REBUILT, rebuilt),
        *(
            SheetRow(name, [_adversary(run[case]) for case in cases])
            for name, run in {
                "FGSM, LeNet": fgsm,
                "natural, forest": forest,
                "natural, LeNet": lenet,
            }.items()
        ),
    ]
    return sheet_figure(rows), cases


def figure_1(found: NaturalResults) -> str:
    """Draw digits with the changes and the adversaries of FGSM and of ours, against an MLP."""
    fgsm = found.runs("FGSM on MLP")["fgsm"]
    natural = found.runs("natural on MLP")[MLP]
    both = [case for case in natural if _is_broken(natural[case]) and _is_broken(fgsm.get(case))]
    rows = [
        SheetRow(
            "",
            [
                _original(fgsm[case]),
                _change(fgsm[case]),
                _adversary(fgsm[case]),
                _change(natural[case]),
                _adversary(natural[case]),
            ],
        )
        for case in both[:SHOWN_ON_MLP]
    ]
    return sheet_figure(rows, ["input", "FGSM Δx", "FGSM", "our Δx", "ours"])


def figure_4d(found: NaturalResults) -> tuple[str, Mapping[str, float | None]]:
    """Draw one digit with its adversaries against classifiers of growing capacity, and their Δz.

    Of the digits that were tried it is the one with adversaries against most classifiers.
    """
    runs = found.runs("one digit")
    lines = {str(c.settings["hidden"]): c.line for c in found.by_neurons}
    cases = list(runs[next(iter(lines.values()))])
    broken = {case: sum(_is_broken(runs[line][case]) for line in lines.values()) for case in cases}
    case = max(cases, key=lambda c: broken[c])
    rows = [runs[line][case] for line in lines.values()]
    shown: list[SheetPicture | None] = [_original(rows[-1])]
    shown += [_adversary(row) if _is_broken(row) else None for row in rows]
    figure = sheet_figure([SheetRow("", shown)], ["digit", *lines])
    return figure, {neurons: row.cost for neurons, row in zip(lines, rows)}


def _one_of_each(reference: Rows, runs: Sequence[Rows]) -> list[str]:
    """Return for each predicted class the first case that all runs broke."""
    chosen: dict[str, str] = {}
    for case, row in reference.items():
        if all(_is_broken(run.get(case)) for run in runs):
            chosen.setdefault(str(row.predicted), case)
    return [chosen[label] for label in sorted(chosen)][:MAX_COLUMNS]


def _is_broken(row: Result | None) -> bool:
    return row is not None and has_adversary(row)


def _original(row: Result) -> SheetPicture:
    return SheetPicture(Picture.decode(row.original).pixels, str(row.predicted))


def _adversary(row: Result) -> SheetPicture:
    pixels = Picture.decode(str(row.adversarial)).pixels
    return SheetPicture(pixels, str(row.adversarial_label), stands_out=True)


def _change(row: Result) -> SheetPicture:
    """Draw what an attack changed: blue is brighter, red is darker."""
    before, after = (Picture.decode(str(p)).pixels for p in (row.original, row.adversarial))
    return SheetPicture(difference_image(before, after))
