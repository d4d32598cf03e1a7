"""What the claims of the self-attention paper are about: differences between cells of its grids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from brittle.inside.measures import InsideCase, spread, word_attention_shift
from brittle.metrics.summary import Figure
from brittle_papers import claims
from brittle_papers.attention import results
from brittle_papers.attention.bound import CONSTANT
from brittle_papers.attention.results import AttentionResults, Difference, Measure
from brittle_papers.claims import (
    Interval,
    Judge,
    JudgedClaim,
    Verdict,
    altogether,
    below,
    format_change,
    interval_of,
    within,
)

MIN_SHARED = 10
"""With fewer cases that are broken on both, what is seen inside decides nothing."""
SLOPE, SLOPE_MARGIN = -0.5, 0.05
FIRST_LAYER = 1
"""The layer after the embedding, among those whose changes are measured."""
Gaps = Mapping[str, Difference]


@dataclass(frozen=True)
class AttentionFigures(AttentionResults):
    """The figures of the claims: differences of success, each with its name; None without any."""

    def _cells(self) -> Iterator[tuple[str, str]]:
        """Yield every task with each of its targets."""
        for task in self.studies:
            for target in self.targets(task):
                yield task, target

    def less_than_all(self, attack: str, others: Sequence[str]) -> Gaps | None:
        """Compare attacks with one, on every target of every task: theirs less its success."""
        return _known(
            {
                f"{_name(other)} less {_name(attack)} on {target}, {task}": self.between_attacks(
                    task, target, attack, other
                )
                for task, target in self._cells()
                for other in others
            }
        )

    def more_than_all(self, attack: str, others: Sequence[str]) -> Gaps | None:
        """Compare one attack with others, on every target of every task: its less their success."""
        return _known(
            {
                f"{_name(attack)} less {_name(other)} on {target}, {task}": self.between_attacks(
                    task, target, other, attack
                )
                for task, target in self._cells()
                for other in others
            }
        )

    def less_than_lstm(self, task: str, attacks: Sequence[str]) -> Gaps | None:
        """Compare the success of attacks on every other target with that on the LSTM."""
        if task not in self.studies:
            return None
        return _known(
            {
                f"{_name(attack)} on {target} less {results.LSTM}": self.between_targets(
                    task, attack, results.LSTM, target
                )
                for attack in attacks
                for target in self.targets(task)
                if target != results.LSTM
            }
        )

    def nearest_less_all(self) -> Gaps | None:
        """Compare GS-EC with the nearest half of the words with GS-GR, on every target."""
        gaps: dict[str, Difference | None] = {}
        for task, target in self._cells():
            most = self.results[f"attacks for {task}"]["words"] // 2
            pair = self.cell(task, results.GS_GR, target), self.nearest_cell(task, target, most)
            if pair[0] is not None and pair[1] is not None:
                name = f"GS-EC with {most} words less GS-GR on {target}, {task}"
                gaps[name] = results.difference(pair[0], pair[1])
        return _known(gaps)

    def word_transformer_less_lstm(self) -> Gaps | None:
        """Compare the Transformer with the LSTM's words with it, attack by attack."""
        cells = self.word_models.results.cells
        return _known(
            {
                f"{_name(attack)} on {results.WORD_MODEL} less {results.LSTM}": results.difference(
                    cells[attack][results.LSTM], cells[attack][results.WORD_MODEL]
                )
                for attack in results.ON_WORDS
                if {results.LSTM, results.WORD_MODEL} <= cells[attack].keys()
            }
        )

    def highest_less_lowest(self, task: str) -> Gaps | None:
        """Compare the attacks at the highest attention with those at the lowest."""
        if task not in self.studies:
            return None
        return _known(
            {
                f"ASMAX-{kind.upper()} less ASMIN-{kind.upper()} on {target}": self.between_attacks(
                    task, target, f"asmin-{kind}", f"asmax-{kind}"
                )
                for target in self.targets(task)
                for kind in ("gr", "ec")
            }
        )

    def entailment_less_sentiment(self) -> Gaps | None:
        """Compare the two tasks, which have different cases, cell by cell."""
        if results.ENTAILMENT not in self.studies:
            return None
        shared = [
            t for t in self.targets(results.ENTAILMENT) if t in self.targets(results.SENTIMENT)
        ]
        gaps: dict[str, Difference | None] = {}
        for target in shared:
            for attack in results.ATTACKS:
                a, b = (self.success_of(task, attack, target) for task in results.CLASSIFIED)
                if a is not None and b is not None and a.value is not None and b.value is not None:
                    low, high = claims.difference(a, b)
                    gap = Figure(b.value - a.value, low, high, None, min(a.of, b.of), "cases")
                    gaps[f"{_name(attack)} on {target}"] = gap
        return _known(gaps)


def _name(attack: str) -> str:
    return results.attack_name(attack)


def _known(gaps: Mapping[str, Difference | None]) -> Gaps | None:
    return {name: gap for name, gap in gaps.items() if gap is not None} or None


def _inside(found: AttentionFigures, measure: Measure) -> JudgedClaim | None:
    """Judge that a measure is lower in the encoder than in the LSTM, over shared broken cases."""
    figure = found.compare_measured(results.SENTIMENT, measure, results.LSTM, results.ENCODER)
    if figure.value is None:
        return None
    own = [
        found.measured(results.SENTIMENT, name, measure) for name in (results.LSTM, results.ENCODER)
    ]
    both = f"{results.LSTM} {own[0].value:.2f}, {results.ENCODER} {own[1].value:.2f}"
    evidence = f"{both}; over the cases broken on both {format_change(figure)}"
    verdict = below(interval_of(figure)) if figure.of >= MIN_SHARED else "undecided"
    return JudgedClaim(verdict, evidence)


def _last_layer_attention(found: AttentionFigures) -> JudgedClaim | None:
    figure = found.compare_last_layer(word_attention_shift, results.LSTM, results.ENCODER)
    if figure.value is None:
        return None
    verdict = below(interval_of(figure)) if figure.of >= MIN_SHARED else "undecided"
    return JudgedClaim(verdict, f"over the cases broken on both {format_change(figure)}")


def relative(case: InsideCase) -> float | None:
    """Return Re of a case."""
    return case.relative


def first_layer_spread(case: InsideCase) -> float | None:
    """Return how far the change has spread after the first layer."""
    return spread(case, FIRST_LAYER) if len(case.changes) > FIRST_LAYER else None


def _theorem_mean(found: AttentionFigures) -> JudgedClaim | None:
    """Judge the mean by its interval, and the rate in d where norms stay constant."""
    families = found.results["theorem 1"]["families"]
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
    return JudgedClaim(altogether(verdicts), evidence)


def _theorem_tail(found: AttentionFigures) -> JudgedClaim | None:
    checks = [c for f in found.results["theorem 1"]["families"].values() for c in f["checks"]]
    shares = [(t / b) for c in checks for t, b in zip(c["tails"], c["tail_bounds"])]
    verdict: Verdict = "agrees" if max(shares) <= 1 else "disagrees"
    return JudgedClaim(verdict, f"tails reach {max(shares):.2f} of Markov's bound at most")


JUDGES: Mapping[str, Judge[AttentionFigures]] = {
    "stable-attention": lambda found: _inside(found, word_attention_shift),
    "stable-attention-last": _last_layer_attention,
    "relative-change": lambda found: _inside(found, relative),
    "sparse": lambda found: _inside(found, first_layer_spread),
    "theorem-mean": _theorem_mean,
    "theorem-tail": _theorem_tail,
}
