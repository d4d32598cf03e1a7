"""Drawings of the method: how generator and inverter learn, and how an adversary is found.

Chains of boxes, one row each, as one SVG: networks are filled, what they read and write is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from brittle.reports.axes import CHARACTER_WIDTH, escape

ROW_HEIGHT, BOX_HEIGHT, GAP = 64, 28, 26
TITLE_Y, BOX_Y = 14, 24
PADDING = 9
INK, FILL = "#23262b", "#dce6ee"


@dataclass(frozen=True)
class ChainBox:
    """A box of a chain: a network, or what one reads or writes."""

    text: str
    is_network: bool = False

    @property
    def width(self) -> float:
        return 2 * PADDING + CHARACTER_WIDTH * len(self.text)


@dataclass(frozen=True)
class Chain:
    """A row: its title, and its boxes, each joined to the next by an arrow."""

    title: str
    boxes: Sequence[ChainBox]

    @property
    def width(self) -> float:
        return sum(box.width for box in self.boxes) + GAP * (len(self.boxes) - 1)


G, INVERTER = ChainBox("G", is_network=True), ChainBox("I", is_network=True)
TRAINING = (
    Chain(
        "1. The generator G and the critic (WGAN): samples shall look like data",
        (
            ChainBox("z ~ N(0, 1)"),
            G,
            ChainBox("G(z)"),
            ChainBox("critic", is_network=True),
            ChainBox("like x?"),
        ),
    ),
    Chain(
        "2. The inverter I, with G fixed: data shall be rebuilt",
        (
            ChainBox("x"),
            INVERTER,
            ChainBox("I(x)"),
            G,
            ChainBox("G(I(x))"),
            ChainBox("loss ‖G(I(x)) − x‖"),
        ),
    ),
    Chain(
        "and the points of samples shall be found again",
        (
            ChainBox("z"),
            G,
            ChainBox("G(z)"),
            INVERTER,
            ChainBox("I(G(z))"),
            ChainBox("loss λ · L(z, I(G(z)))"),
        ),
    ),
)
"""The paper's Figure 2."""
SEARCH = (
    Chain(
        "An adversary: the nearest point around I(x) whose decoded item f predicts otherwise",
        (
            *(
                ChainBox("x"),
                INVERTER,
                ChainBox("z₀ = I(x)"),
                ChainBox("z = z₀ + ε, nearest ε first"),
            ),
            *(G, ChainBox("G(z)"), ChainBox("f", is_network=True), ChainBox("f(G(z)) ≠ f(x)?")),
        ),
    ),
)
"""The paper's Figure 3."""


def chain_figure(chains: Sequence[Chain]) -> str:
    """Draw chains of boxes below each other."""
    width = round(max(max(c.width, CHARACTER_WIDTH * len(c.title)) for c in chains)) + 2
    parts = []
    for row, chain in enumerate(chains):
        top = ROW_HEIGHT * row
        parts.append(f'<text x="1" y="{top + TITLE_Y}">{escape(chain.title)}</text>')
        x = 1.0
        for n, box in enumerate(chain.boxes):
            parts += _box(box, x, top + BOX_Y)
            x += box.width
            if n + 1 < len(chain.boxes):
                parts.append(_arrow(x, top + BOX_Y + BOX_HEIGHT / 2))
                x += GAP
    described = "; ".join(
        f"{chain.title}: {', then '.join(box.text for box in chain.boxes)}" for chain in chains
    )
    return (
        f'<svg class="plot" viewBox="0 0 {width} {ROW_HEIGHT * len(chains)}" role="img" '
        f'aria-label="{escape(described)}">{"".join(parts)}</svg>'
    )


def _box(box: ChainBox, x: float, y: float) -> list[str]:
    fill = FILL if box.is_network else "#ffffff"
    size = f'width="{box.width:.1f}" height="{BOX_HEIGHT}" rx="4"'
    return [
        f'<rect x="{x:.1f}" y="{y}" {size} fill="{fill}" stroke="{INK}"/>',
        f'<text x="{x + box.width / 2:.1f}" y="{y + 18}" text-anchor="middle">'
        f"{escape(box.text)}</text>",
    ]


def _arrow(x: float, y: float) -> str:
    end = x + GAP - 2
    return (
        f'<path d="M{x + 2:.1f} {y:.1f}H{end:.1f}M{end - 5:.1f} {y - 4:.1f}L{end:.1f} {y:.1f}'
        f'L{end - 5:.1f} {y + 4:.1f}" fill="none" stroke="{INK}"/>'
    )
