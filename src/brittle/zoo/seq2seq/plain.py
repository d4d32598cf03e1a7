"""A plain reference of the decoding: one text at a time, nothing kept, every step computed anew.

Tests and `benchmarks/seq2seq.py` hold `decoding.py` to it. This file needs torch.
"""

from __future__ import annotations

import torch
from torch import Tensor

from brittle.zoo.seq2seq.decoding import Decoded, max_pieces
from brittle.zoo.seq2seq.network import TranslationNetwork, next_piece
from brittle.zoo.seq2seq.pieces import BEGIN, END


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
