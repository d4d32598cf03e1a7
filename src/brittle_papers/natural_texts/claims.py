"""How our intervals judge the paper's findings, which are quoted in paper.toml."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import pairwise

from brittle_papers.claims import Judge, Judgement, above, altogether, interval_of, judge_all
from brittle_papers.formats import format_value
from brittle_papers.natural_texts import plan, probes
from brittle_papers.natural_texts.results import compared, probed
from brittle_papers.results import PaperResults

HALF = 0.5


def _accuracy(found: PaperResults) -> Judgement | None:
    names = [name for name in plan.CLASSIFIERS if plan.CLEAN[name] in found.results]
    gaps = {
        f"{strong} less {weak}": found.compare_accuracy(plan.CLEAN[weak], plan.CLEAN[strong])
        for weak, strong in pairwise(names)
    }
    return judge_all(above, gaps) if gaps else None


def _farther(found: PaperResults) -> Judgement:
    study = compared(found)
    shares = {
        f"{strong} farther than {weak}": study.farther(weak, strong)
        for weak, strong in pairwise(study.names)
    }
    verdict = altogether([above(interval_of(share), HALF) for share in shares.values()])
    evidence = "; ".join(f"{name} in {format_value(share)}" for name, share in shares.items())
    return Judgement(verdict, evidence)


def _largest(found: PaperResults) -> Judgement | None:
    study = compared(found)
    if plan.TREE not in study.names:
        return None
    share = study.largest(plan.TREE)
    return Judgement(above(interval_of(share), HALF), f"{plan.TREE} in {format_value(share)}")


def _passes(probe: str, found: PaperResults) -> Judgement | None:
    """Judge that neighbours of some sentences pass a probe, on our translator."""
    rates = probed(found, probe)
    if probes.OURS not in rates:
        return None
    evidence = "; ".join(f"{name} {format_value(figure)}" for name, figure in rates.items())
    return Judgement(above(interval_of(rates[probes.OURS])), evidence)


JUDGES: Mapping[str, Judge[PaperResults]] = {
    "accuracy": _accuracy,
    "farther": _farther,
    "largest": _largest,
    "word": partial(_passes, probes.WORD),
    "dropped": partial(_passes, probes.DROPPED),
}
