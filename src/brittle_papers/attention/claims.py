"""How our intervals judge the claims of the self-attention paper, which are in paper.toml."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from brittle.metrics.inside import InsideCase, attention_shift, spread
from brittle.metrics.paired import Contrast
from brittle.metrics.summary import Figure
from brittle_papers import claims
from brittle_papers.attention import plan
from brittle_papers.attention.bound import CONSTANT
from brittle_papers.attention.results import AttentionResults, Difference, Measure
from brittle_papers.claims import (
    MAX_P,
    Interval,
    Judge,
    Judgement,
    Rule,
    Verdict,
    above,
    altogether,
    below,
    interval_of,
    within,
)
from brittle_papers.formats import format_points as points
from brittle_papers.formats import format_value

ALMOST_IDENTICAL = 0.05
MAX_LAST_LAYER = 0.1
MIN_SHARED = 10
"""With fewer cases that are broken on both, what is seen inside decides nothing."""
SLOPE, SLOPE_MARGIN = -0.5, 0.05
FIRST_LAYER = 1
"""The layer after the embedding, among those whose changes are measured."""


def difference_text(value: Difference) -> str:
    """Format a difference of two success rates in points."""
    return format_value(value) if isinstance(value, Contrast) else points(value)


def number_text(figure: Figure) -> str:
    """Format a difference that is no share, such as one of BLEU."""
    if figure.value is None or figure.low is None or figure.high is None:
        return points(figure)
    return f"{figure.value:+.2f} ({figure.low:+.2f} to {figure.high:+.2f}; n = {figure.of})"


def judge_each(
    rule: Rule, values: Mapping[str, Difference | None], bound: float = 0.0
) -> Judgement | None:
    """Judge a claim about several differences; the evidence is the one that supports it least.

    How many of them agree and disagree stands before it. None if there is none.
    """
    known = {name: value for name, value in values.items() if value is not None}
    if not known:
        return None
    verdicts = {name: _verdict(rule, value, bound) for name, value in known.items()}
    weakest = min(known, key=lambda name: _support(rule, known[name]))
    if len(known) == 1:
        return Judgement(verdicts[weakest], f"{weakest}, {difference_text(known[weakest])}")
    counts = {v: sum(x == v for x in verdicts.values()) for v in ("agrees", "disagrees")}
    evidence = f"{counts['agrees']} of {len(known)} comparisons agree, {counts['disagrees']} "
    evidence += f"disagree; the weakest: {weakest}, {difference_text(known[weakest])}"
    return Judgement(altogether(list(verdicts.values())), evidence)


def _verdict(rule: Rule, value: Difference, bound: float) -> Verdict:
    if isinstance(value, Contrast) and rule is not within and value.p >= MAX_P:
        return "undecided"
    low, high = interval_of(value)
    if low == high == 0 and rule is not within:  # no draw was ever won, on neither side
        return "undecided"
    return rule((low, high), bound)


def _support(rule: Rule, value: Difference) -> float:
    """Return how much a difference speaks for a claim; only the order matters."""
    size = (value.difference if isinstance(value, Contrast) else value.value) or 0.0
    return size if rule is above else -size if rule is below else -abs(size)


def _cells(found: AttentionResults) -> Iterator[tuple[str, str]]:
    """Yield every task with each of its targets."""
    for task in found.studies:
        for target in found.targets(task):
            yield task, target


def _random_lowest(found: AttentionResults) -> Judgement | None:
    gaps = {
        f"{plan.attack_name(attack)} less RANDOM on {target}, {task}": found.between_attacks(
            task, target, plan.RANDOM, attack
        )
        for task, target in _cells(found)
        for attack in plan.ATTACKS
        if attack != plan.RANDOM
    }
    return judge_each(above, gaps)


def _greedy_highest(found: AttentionResults) -> Judgement | None:
    gaps = {
        f"GS-GR less {plan.attack_name(attack)} on {target}, {task}": found.between_attacks(
            task, target, attack, plan.GS_GR
        )
        for task, target in _cells(found)
        for attack in (plan.RANDOM, plan.LIST, *plan.BY_ATTENTION)
    }
    return judge_each(above, gaps)


def _identical(found: AttentionResults) -> Judgement | None:
    gaps = {
        f"GS-EC less GS-GR on {target}, {task}": found.between_attacks(
            task, target, plan.GS_GR, plan.GS_EC
        )
        for task, target in _cells(found)
    }
    return judge_each(within, gaps, ALMOST_IDENTICAL)


def _lower(found: AttentionResults, task: str, *attacks: str) -> Judgement | None:
    """Judge that these attacks succeed less on every other target than on the LSTM."""
    if task not in found.studies:
        return None
    gaps = {
        f"{plan.attack_name(attack)} on {target} less {plan.LSTM}": found.between_targets(
            task, attack, plan.LSTM, target
        )
        for attack in attacks
        for target in found.targets(task)
        if target != plan.LSTM
    }
    return judge_each(below, gaps)


def _highest_attention(found: AttentionResults) -> Judgement | None:
    if plan.ENTAILMENT not in found.studies:
        return None
    gaps = {
        f"ASMAX-{kind.upper()} less ASMIN-{kind.upper()} on {target}": found.between_attacks(
            plan.ENTAILMENT, target, f"asmin-{kind}", f"asmax-{kind}"
        )
        for target in found.targets(plan.ENTAILMENT)
        for kind in ("gr", "ec")
    }
    return judge_each(above, gaps)


def _harder(found: AttentionResults) -> Judgement | None:
    """Compare the two tasks, which have different cases, cell by cell."""
    if plan.ENTAILMENT not in found.studies:
        return None
    shared = [t for t in found.targets(plan.ENTAILMENT) if t in found.targets(plan.SENTIMENT)]
    gaps: dict[str, Figure] = {}
    for target in shared:
        for attack in plan.ATTACKS:
            a, b = (found.success_of(task, attack, target) for task in plan.CLASSIFIED)
            if a is not None and b is not None and a.value is not None and b.value is not None:
                low, high = claims.difference(a, b)
                gap = Figure(b.value - a.value, low, high, None, min(a.of, b.of), "cases")
                gaps[f"{plan.attack_name(attack)} on {target}"] = gap
    return judge_each(above, gaps)


def _last_layer(found: AttentionResults) -> Judgement | None:
    figure = found.success_of(plan.SENTIMENT, plan.LAST_LAYER, plan.ENCODER)
    return None if figure is None else claims.judge(below, figure, MAX_LAST_LAYER)


def _inside(found: AttentionResults, measure: Measure) -> Judgement | None:
    """Judge that a measure is lower in the encoder than in the LSTM, over shared broken cases."""
    figure = found.compare_measured(plan.SENTIMENT, measure, plan.LSTM, plan.ENCODER)
    if figure.value is None:
        return None
    own = [found.measured(plan.SENTIMENT, name, measure) for name in (plan.LSTM, plan.ENCODER)]
    names = f"{plan.LSTM} {own[0].value:.2f}, {plan.ENCODER} {own[1].value:.2f}"
    evidence = f"{names}; over the cases broken on both {number_text(figure)}"
    verdict = below(interval_of(figure)) if figure.of >= MIN_SHARED else "undecided"
    return Judgement(verdict, evidence)


def relative(case: InsideCase) -> float | None:
    """Return Re of a case."""
    return case.relative


def first_layer_spread(case: InsideCase) -> float | None:
    """Return how far the change has spread after the first layer."""
    return spread(case, FIRST_LAYER) if len(case.changes) > FIRST_LAYER else None


def _keyword(found: AttentionResults) -> Judgement | None:
    tasks = [plan.KEYWORD[name] for name in plan.SEQ2SEQ]
    if not found.results.keys() >= set(tasks):
        return None
    return claims.judge(below, found.compare_success(tasks[0], tasks[1]))


def _typo(found: AttentionResults) -> Judgement | None:
    compared = found.compared_bleu
    if compared is None:
        return None
    evidence = f"the drop of the Transformer less that of the LSTM, {number_text(compared.drop)}"
    return Judgement(below(interval_of(compared.drop)), evidence)


def _bleu(found: AttentionResults) -> Judgement | None:
    compared = found.compared_bleu
    if compared is None:
        return None
    verdict = altogether([above(interval_of(f)) for f in (compared.before, compared.after)])
    before, after = number_text(compared.before), number_text(compared.after)
    return Judgement(verdict, f"before {before}, under typos {after}")


def _theorem_mean(found: AttentionResults) -> Judgement | None:
    """Judge the mean by its interval, and the rate in d where norms stay constant."""
    families = found.results[plan.THEOREM]["families"]
    ratios = [
        (check["high"] / check["bound"], f"{name}, d = {check['d']}")
        for name, family in families.items()
        for check in family["checks"]
    ]
    slopes = {name: families[name]["slope"] for name in CONSTANT}
    verdicts: list[Verdict] = ["agrees" if max(ratios)[0] <= 1 else "disagrees"]
    gaps: list[Interval] = [(s - SLOPE, s - SLOPE) for s in slopes.values()]
    verdicts += [within(gap, SLOPE_MARGIN) for gap in gaps]
    ratio, where = max(ratios)
    rates = ", ".join(f"{name} {value:.3f}" for name, value in slopes.items())
    evidence = f"the mean reaches {ratio:.2f} of its bound at most ({where}); slopes {rates}"
    return Judgement(altogether(verdicts), evidence)


def _theorem_tail(found: AttentionResults) -> Judgement | None:
    checks = [c for f in found.results[plan.THEOREM]["families"].values() for c in f["checks"]]
    shares = [(t / b) for c in checks for t, b in zip(c["tails"], c["tail_bounds"])]
    verdict: Verdict = "agrees" if max(shares) <= 1 else "disagrees"
    return Judgement(verdict, f"tails reach {max(shares):.2f} of Markov's bound at most")


JUDGES: Mapping[str, Judge[AttentionResults]] = {
    "random-lowest": _random_lowest,
    "greedy-highest": _greedy_highest,
    "identical": _identical,
    "consistently-lower": lambda r: _lower(r, plan.SENTIMENT, *plan.ATTACKS),
    "greedy-lower": lambda r: _lower(r, plan.SENTIMENT, plan.GS_GR),
    "attention-breaks-lstm": lambda r: _lower(r, plan.SENTIMENT, "asmax-gr", "asmax-ec"),
    "last-layer": _last_layer,
    "entailment-lower": lambda r: _lower(r, plan.ENTAILMENT, *plan.ATTACKS),
    "entailment-harder": _harder,
    "highest-attention": _highest_attention,
    "stable-attention": lambda r: _inside(r, attention_shift),
    "relative-change": lambda r: _inside(r, relative),
    "sparse": lambda r: _inside(r, first_layer_spread),
    "keyword": _keyword,
    "typo": _typo,
    "bleu": _bleu,
    "theorem-mean": _theorem_mean,
    "theorem-tail": _theorem_tail,
}
