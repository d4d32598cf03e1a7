"""Beam search in batches with kept states, and the plain reference that it must equal.

Beam search in batches with kept states; a beam of one is a greedy search.

All source texts of a batch have as many pieces, so that none is padded. A search ends when a text
has as many finished translations as the beam is wide, or at its limit; of these the one with the
highest mean log-probability of a piece, END included, is its translation. This file needs torch.

A plain reference of the decoding: one text at a time, nothing kept, every step computed anew. Tests
and `benchmarks/seq2seq.py` hold `decoding.py` to it. This file needs torch.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from brittle.zoo.seq2seq.network import TranslationNetwork, best_next_pieces, next_piece
from brittle.zoo.seq2seq.pieces import BEGIN, END

MAX_PIECES_PER_PIECE, EXTRA_PIECES = 2, 10
"""The longest translation: 2 tokens for each token of the source, plus 10."""


@dataclass(frozen=True)
class Decoded:
    """A translation as ids, without END, and the mean log-probability of its pieces.

    It is `whole` if the network ended it, and not the limit.
    """

    ids: tuple[int, ...]
    score: float
    whole: bool = True


def max_pieces(source_pieces: int) -> int:
    """Return how many pieces a translation may have, END included."""
    return MAX_PIECES_PER_PIECE * source_pieces + EXTRA_PIECES


def decode_batch(network: TranslationNetwork, source: Tensor, beam: int = 1) -> list[Decoded]:
    """Translate source ids, rows × positions, without padding."""
    device, limit = source.device, max_pieces(source.shape[1])
    finished: list[list[Decoded]] = [[] for _ in source]
    texts = torch.arange(len(source), device=device)
    state = network.begin(network.encode(source)).select(texts.repeat_interleave(beam))
    written = torch.full((len(source), beam, 1), BEGIN, device=device)
    total = torch.full((len(source), beam), -torch.inf, dtype=torch.float64, device=device)
    total[:, 0] = 0.0  # all beams of a text begin alike: only the first is followed
    for position in range(limit):
        vectors, state = network.step(written[:, :, -1].reshape(-1), state, position)
        chosen = _choose(total, *best_next_pieces(network, vectors, 2 * beam))
        _collect(finished, texts, written, chosen, beam)
        total, rows, piece = chosen.unfinished(beam)
        running = [n for n, text in enumerate(texts.tolist()) if len(finished[text]) < beam]
        if not running:
            break
        kept = torch.tensor(running, device=device)
        beams = torch.arange(len(texts), device=device)[:, None] * beam + rows
        written = torch.cat((written.gather(1, rows[:, :, None].expand_as(written)), piece), dim=2)
        if len(running) < len(texts):
            state = state.select(beams[kept].reshape(-1))
            texts, total, written = texts[kept], total[kept], written[kept]
        else:
            state = state.reorder(beams.reshape(-1))
    else:
        _collect_unfinished(finished, texts, written, total)
    return [max(found, key=lambda decoded: decoded.score) for found in finished]


@dataclass(frozen=True)
class _Chosen:
    """The best continuations of every text, best first: their score, row of the beam and piece."""

    total: Tensor
    row: Tensor
    piece: Tensor

    def unfinished(self, beam: int) -> tuple[Tensor, Tensor, Tensor]:
        """Return score, row and piece of the best ones that do not end."""
        total = self.total.masked_fill(self.piece == END, -torch.inf)
        total, order = total.sort(dim=1, descending=True, stable=True)
        order = order[:, :beam]
        return total[:, :beam], self.row.gather(1, order), self.piece.gather(1, order)[:, :, None]


def _choose(total: Tensor, log_probability: Tensor, piece: Tensor) -> _Chosen:
    """Take twice as many continuations as the beam is wide: at most half of them end.

    The best of all rows are among as many of each row.
    """
    texts, beam = total.shape
    continued = total[:, :, None] + log_probability.view(texts, beam, -1)
    best, index = continued.view(texts, -1).topk(min(2 * beam, continued[0].numel()), dim=1)
    return _Chosen(best, index // continued.shape[2], piece.view(texts, -1).gather(1, index))


def _collect(
    finished: list[list[Decoded]], texts: Tensor, written: Tensor, chosen: _Chosen, beam: int
) -> None:
    """Keep what ends among the best continuations of a beam's width."""
    ends = (chosen.piece == END) & torch.isfinite(chosen.total)
    for n, rank in ends[:, :beam].nonzero().tolist():
        ids = written[n, int(chosen.row[n, rank]), 1:].tolist()
        score = float(chosen.total[n, rank]) / (len(ids) + 1)
        finished[int(texts[n])].append(Decoded(tuple(ids), score))


def _collect_unfinished(
    finished: list[list[Decoded]], texts: Tensor, written: Tensor, total: Tensor
) -> None:
    """Add what is written at the limit: its last piece is no END."""
    for n, text in enumerate(texts.tolist()):
        for ids, score in zip(written[n, :, 1:].tolist(), total[n].tolist()):
            if score > -torch.inf:
                finished[text].append(Decoded(tuple(ids), score / len(ids), whole=False))


def decode_plainly(network: TranslationNetwork, source: Tensor, beam: int = 1) -> Decoded:
    """Translate the ids of one source text."""
    with torch.inference_mode():
        encoded = network.encode(source[None])
        beams: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
        finished: list[Decoded] = []
        limit = max_pieces(len(source))
        for _ in range(limit):
            continued = []
            for total, ids in beams:
                vectors, _ = network.decode(encoded, torch.tensor([[BEGIN, *ids]]))
                scores = next_piece(network, vectors[0, -1]).tolist()
                continued += [(total + score, (*ids, i)) for i, score in enumerate(scores)]
            best = sorted(continued, key=lambda pair: -pair[0])[: 2 * beam]
            for total, ids in best[:beam]:
                if ids[-1] == END and total > -torch.inf:
                    finished.append(Decoded(ids[:-1], total / len(ids)))
            beams = [pair for pair in best if pair[1][-1] != END][:beam]
            if len(finished) >= beam:
                break
        else:
            finished += [Decoded(ids, total / len(ids), whole=False) for total, ids in beams]
    return max(finished, key=lambda decoded: decoded.score)
