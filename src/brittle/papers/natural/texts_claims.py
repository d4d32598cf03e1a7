"""How our intervals judge the paper's findings about texts, which are in texts.toml."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import pairwise

from brittle.papers.claims import Judge, Judgement, above, altogether, interval_of, judge_all
from brittle.papers.natural import probes, texts
from brittle.papers.natural.results import NaturalResults
from brittle.papers.natural.texts_results import compared, probed
from brittle.papers.page import format_value

HALF = 0.5


def _accuracy(found: NaturalResults) -> Judgement | None:
    names = [name for name in texts.CLASSIFIERS if texts.CLEAN[name] in found.results]
    gaps = {
        f"{strong} less {weak}": found.compare_accuracy(texts.CLEAN[weak], texts.CLEAN[strong])
        for weak, strong in pairwise(names)
    }
    return judge_all(above, gaps) if gaps else None


def _farther(found: NaturalResults) -> Judgement | None:
    study = compared(found)
    if study is None:
        return None
    shares = {
        f"{strong} farther than {weak}": study.farther(weak, strong)
        for weak, strong in pairwise(study.names)
    }
    verdict = altogether([above(interval_of(share), HALF) for share in shares.values()])
    evidence = "; ".join(f"{name} in {format_value(share)}" for name, share in shares.items())
    return Judgement(verdict, evidence)


def _largest(found: NaturalResults) -> Judgement | None:
    study = compared(found)
    if study is None or texts.TREE not in study.names:
        return None
    share = study.largest(texts.TREE)
    return Judgement(above(interval_of(share), HALF), f"{texts.TREE} in {format_value(share)}")


def _passes(probe: str, found: NaturalResults) -> Judgement | None:
    """Judge that neighbours of some sentences pass a probe, on our translator."""
    rates = probed(found, probe)
    if probes.OURS not in rates:
        return None
    evidence = "; ".join(f"{name} {format_value(figure)}" for name, figure in rates.items())
    return Judgement(above(interval_of(rates[probes.OURS])), evidence)


JUDGES: Mapping[str, Judge[NaturalResults]] = {
    "texts accuracy": _accuracy,
    "texts farther": _farther,
    "texts largest": _largest,
    "texts word": partial(_passes, probes.WORD),
    "texts dropped": partial(_passes, probes.DROPPED),
}
