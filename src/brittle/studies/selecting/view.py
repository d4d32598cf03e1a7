"""Selected ensembles in the terminal, what they reach on a page, and both for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from brittle.formatting import attack_in_words, number, percent, plural
from brittle.reports.kept import Drawing
from brittle.reports.plots import ensemble_figure
from brittle.reports.study_page import Part, Plain, StudyPage, StudyView
from brittle.reports.table import Table
from brittle.studies.selecting.selecting import EnsembleCurves, SelectedEnsemble
from brittle.studies.transfer.study import TransferStudy

NOTE = (
    "The average share of an ensemble's adversarial texts that other models get wrong. "
    "The models outside change with the ensemble, so the points of one curve cover "
    "different models. The models in no ensemble are the same for all points."
)
EXPLAINED = (
    "objective: the best member's rate, averaged over all targets; outside: averaged over "
    "targets that are not members."
)


def ensembles_view(
    study: TransferStudy,
    ensembles: Sequence[SelectedEnsemble],
    held_out: Sequence[str],
    curves: EnsembleCurves | None,
) -> StudyView:
    """Return what is shown of ensembles; `curves` is what they reach if they were attacked."""
    attack = attack_in_words(study.facts.attack, study.facts.settings)
    sources = plural(len(study.results.sources), "sources")
    never = f"in no ensemble: {', '.join(held_out)}" if held_out else "no model is held out"
    rows = [_row(ensemble, curves, n) for n, ensemble in enumerate(ensembles)]
    specs = dict.fromkeys(ensemble.spec for ensemble in ensembles)
    terminal = [
        Plain(f"study {study.name}: {attack} on {study.facts.data}, {sources}"),
        never,
        "",
        Table.of(rows, keeps_words=True),
        "",
        *map(Plain, _lines(curves)),
        "",
        *(Plain(spec, wraps=False) for spec in specs),
    ]
    from markupsafe import Markup

    drawings = {} if curves is None else ensemble_drawings(curves)
    part = Part(shows=list(drawings.values()), css="pair", below=Markup(NOTE))
    facts = [attack, study.facts.data]
    page = StudyPage(f"Ensembles of {study.facts.pool}", facts=facts, parts=[part])
    return StudyView(page, terminal)


def ensemble_drawings(curves: EnsembleCurves) -> dict[str, Drawing]:
    """Draw what ensembles reach: on the models outside each of them, and on those in none."""
    pairs = {"mean base rate": curves.base_rate, "mean over all pairs": curves.pair_rate}
    lines = {name: rate for name, rate in pairs.items() if rate is not None}
    titles = {"outside": "Models outside each ensemble", "held_out": "Models in no ensemble"}
    drawings = {}
    for name, title in titles.items():
        points: dict[str, list[tuple[int, float]]] = {}
        for point in curves.points:
            rate = getattr(point, name)
            if rate is not None:
                points.setdefault(point.method, []).append((point.size, rate))
        if points:
            drawings[name] = Drawing(ensemble_figure(points, lines, title))
    return drawings


def ensembles_json(
    study: TransferStudy,
    ensembles: Sequence[SelectedEnsemble],
    held_out: Sequence[str],
    notes: Sequence[str],
    curves: EnsembleCurves | None,
) -> dict[str, Any]:
    """Return ensembles for programs, with what they reach if they were attacked."""
    data: dict[str, Any] = {
        "study": study.name,
        "attack": study.facts.attack,
        "settings": dict(study.facts.settings),
        "held_out": list(held_out),
        "notes": list(notes),
        "ensembles": list(map(_ensemble_json, ensembles)),
    }
    return data if curves is None else data | {"figure": asdict(curves)}


def _ensemble_json(ensemble: SelectedEnsemble) -> dict[str, Any]:
    return {
        "method": ensemble.method,
        "size": ensemble.size,
        "objective": ensemble.objective,
        "outside": ensemble.outside,
        "members": [member.name for member in ensemble.members],
        "spec": ensemble.spec,
    }


def _row(ensemble: SelectedEnsemble, curves: EnsembleCurves | None, n: int) -> Mapping[str, Any]:
    row: dict[str, Any] = {"size": ensemble.size, "method": ensemble.method}
    row |= {"objective": percent(ensemble.objective), "outside": percent(ensemble.outside)}
    if curves is not None:
        point = curves.points[n]
        row["texts"] = number(point.texts)
        row["attacked"] = _rate(point.outside, point.outside_interval)
        row["held out"] = _rate(point.held_out, point.held_out_interval)
    return row | {"members": ", ".join(member.name for member in ensemble.members)}


def _rate(rate: float | None, interval: tuple[float, float] | None) -> str:
    bounds = [percent(bound).removesuffix("%") for bound in interval or ()]
    return percent(rate) + (f" ({'–'.join(bounds)})" if bounds else "")


def _lines(curves: EnsembleCurves | None) -> list[str]:
    if curves is None:
        return [EXPLAINED]
    return [
        f"{EXPLAINED} attacked: the share of the ensemble's adversarial texts (texts: "
        "their number) that the models outside get wrong; held out: models in no "
        "ensemble. In brackets: 95% intervals, by bootstrap over texts.",
        f"Single models: mean base rate {percent(curves.base_rate)}, mean over all pairs "
        f"{percent(curves.pair_rate)}.",
    ]
