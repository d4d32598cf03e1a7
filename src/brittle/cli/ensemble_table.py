"""Selected ensembles as a person sees them: a table, what its columns mean, and the specs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from brittle.cli import console
from brittle.formatting import plural

if TYPE_CHECKING:
    from brittle.studies.selecting.curves import EnsembleCurves
    from brittle.studies.selecting.selecting import Ensemble
    from brittle.studies.transfer.study import TransferStudy


def row_of(ensemble: Ensemble) -> dict[str, Any]:
    """Return an ensemble as plain data."""
    return {
        "method": ensemble.method,
        "size": ensemble.size,
        "objective": ensemble.objective,
        "outside": ensemble.outside,
        "members": [member.name for member in ensemble.members],
        "spec": ensemble.spec,
    }


def ensembles_block(
    study: TransferStudy,
    ensembles: Sequence[Ensemble],
    held_out: Sequence[str],
    curves: EnsembleCurves | None,
) -> Any:
    """Build the table of ensembles; `curves` is what they reach if they were attacked."""
    from rich.console import Group
    from rich.text import Text

    from brittle.formatting import attack_in_words, number, percent

    attack = attack_in_words(study.attack, study.settings)
    sources = plural(len(study.sources), "sources")
    about = f"study {study.name}: {attack} on {study.data}, {sources}"
    never = f"in no ensemble: {', '.join(held_out)}" if held_out else "no model is held out"
    rows = []
    for n, ensemble in enumerate(ensembles):
        row: dict[str, Any] = {"size": ensemble.size, "method": ensemble.method}
        row |= {"objective": percent(ensemble.objective), "outside": percent(ensemble.outside)}
        if curves is not None:
            point = curves.points[n]
            row["texts"] = number(point.texts)
            row["attacked"] = _rate(point.outside, point.outside_interval)
            row["held out"] = _rate(point.held_out, point.held_out_interval)
        rows.append(row | {"members": ", ".join(m.name for m in ensemble.members)})
    specs = dict.fromkeys(ensemble.spec for ensemble in ensembles)
    parts: list[Any] = [
        *(Text(about), Text(never, style="dim"), Text(""), console.table(rows), Text("")),
        *_lines(curves),
        # One line each, however long, so that it can be copied.
        *(Text(spec, no_wrap=True, overflow="ignore") for spec in specs),
    ]
    return Group(*parts)


def _rate(rate: float | None, interval: tuple[float, float] | None) -> str:
    from brittle.formatting import percent

    bounds = [percent(bound).removesuffix("%") for bound in interval or ()]
    return percent(rate) + (f" ({'–'.join(bounds)})" if bounds else "")


def _lines(curves: EnsembleCurves | None) -> list[str]:
    from brittle.formatting import percent

    explained = (
        "objective: mean over all targets of the best member's rate; outside: the same over the "
        "targets that are no members."
    )
    if curves is None:
        return [explained, ""]
    return [
        f"{explained} attacked: the share of the ensemble's adversarial texts (texts: how many) "
        "that the models outside it get wrong; held out: those in no ensemble. In brackets: 95% "
        "intervals, by bootstrap over texts.",
        f"Single models: mean base rate {percent(curves.base_rate)}, mean over all pairs "
        f"{percent(curves.pair_rate)}.",
        "",
    ]
