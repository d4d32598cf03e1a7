"""What the report of a grid shows: plain tables, filled in by the study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from brittle.asks import DECIDED
from brittle.formatting import attack_in_words, plural
from brittle.metrics.summary import Figure

BEST = "A*"
BEST_EXPLAINED = "the best of the attention attacks, chosen after their success was known"
LEVEL = 0.05


@dataclass(frozen=True)
class GridCell:
    """One attack on one target; `skipped` counts the cases that were not attacked, by reason."""

    success: Figure
    skipped: Mapping[str, int]
    queries: float | None
    sent: int
    run: str


@dataclass(frozen=True)
class PairRow:
    """Target b compared with target a under one attack, over the `of` cases attacked on both.

    `p` and `p_holm` are None where nothing is tested: the attack counts draws.
    """

    attack: str
    a: str
    b: str
    of: int
    difference: float | None
    low: float | None
    high: float | None
    only_a: int | None = None
    only_b: int | None = None
    p: float | None = None
    p_holm: float | None = None

    @property
    def differs(self) -> bool:
        """Tell whether the two differ, as the corrected test decides."""
        return self.p_holm is not None and self.p_holm < LEVEL


@dataclass(frozen=True)
class BrokenText:
    """A text that an attack broke on several targets, as it was broken on one of them."""

    attack: str
    target: str
    label: str
    broken_on: int
    of: int
    original: tuple[tuple[str, str], ...]
    adversarial: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ReportedGrid:
    """Everything that the page and the terminal show of a grid.

    `cells` are by attack and target; an empty one is missing. `settings` are by attack. `best` has,
    by target, the best attention attack. `accuracy` is that on the texts from which the cases were
    chosen.
    """

    name: str
    facts: Mapping[str, object]
    attacks: tuple[str, ...]
    targets: tuple[str, ...]
    cases: int
    scored: int
    all_right: bool
    cells: Mapping[str, Mapping[str, GridCell]]
    best: Mapping[str, tuple[str, Figure]]
    accuracy: Mapping[str, Figure]
    pairs: Sequence[PairRow] = ()
    texts: Sequence[BrokenText] = ()
    failures: Mapping[str, str] = field(default_factory=dict)
    refusals: Mapping[str, str] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    settings: Mapping[str, Mapping[str, object]] = field(default_factory=dict)

    def in_words(self, attack: str) -> str:
        """Format one of the attacks with its settings."""
        return attack_in_words(attack, self.settings.get(attack, {}))

    @property
    def about_cases(self) -> str:
        """What the cases are, in words."""
        cases = plural(self.cases, "cases")
        if self.all_right:
            return f"{cases} that all targets get right, of {plural(self.scored, 'texts')}"
        return f"{cases}; each target is attacked where it is right"

    @property
    def not_attacked(self) -> list[str]:
        """Which attacks could do nothing with how many cases that a target has right."""
        lines = []
        for attack, cells in self.cells.items():
            counts = {
                target: sum(n for why, n in cell.skipped.items() if not why.startswith(DECIDED))
                for target, cell in cells.items()
            }
            parts = [f"{count:,} on {target}" for target, count in counts.items() if count]
            if parts:
                lines.append(f"{attack} could not attack {', '.join(parts)}; they do not count")
        return lines

    @property
    def empty(self) -> list[tuple[str, str]]:
        """Who has empty cells, with the reason."""
        return [*self.failures.items(), *self.refusals.items()]


def points(value: float | None) -> str:
    """Format a difference of two rates in points, with its sign.

    >>> points(0.125), points(-0.5), points(0.0), points(None)
    ('+12.5', '−50.0', '0.0', '–')
    """
    if value is None:
        return "–"
    sign = "+" if value > 0 else "−" if value < 0 else ""
    return f"{sign}{abs(100 * value):.1f}"


def p_value(value: float | None) -> str:
    """Format a p-value.

    >>> p_value(0.0312), p_value(0.00004), p_value(1.0), p_value(None)
    ('0.031', '< 0.001', '1', '–')
    """
    if value is None:
        return "–"
    return "< 0.001" if value < 0.001 else f"{value:.2g}" if value >= 0.1 else f"{value:.3f}"
