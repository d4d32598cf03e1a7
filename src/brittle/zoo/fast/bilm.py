"""The mixed layers of a biLM for scoring on the CPU, computed once for what texts share.

Both forward layers of a word depend on the words up to it, both backward layers on the words from
it on. Candidates of one attack differ in a word or two: they share the forward states of the words
before, and the backward states of the words after. What a word adds to the gates of the first
layers is computed when it is first met. This file needs torch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from brittle.ranking.top_k import repeat_last
from brittle.zoo.fast.cnn import word_vector_cache
from brittle.zoo.fast.lstm import Integers, LstmLayer, lstm_step, scripted, share_prefixes
from brittle.zoo.networks import Classifier, Tokenizer, pad_keys, split_by_words
from brittle.zoo.tokenizers import ID_BYTES

MAX_WORDS_PER_CALL = 1 << 15  # more needs memory and is no faster


class FastBiLM:
    """The encoder's input of a `Classifier` that reads a biLM, to rounding."""

    def __init__(self, network: Classifier, tokenizer: Tokenizer) -> None:
        bilm, mix = network.bilm, network.mix
        assert bilm is not None and mix is not None
        with torch.inference_mode():
            first, *self._shares = mix.shares().tolist()
            self._ahead, self._back = (
                [LstmLayer(lstm) for lstm in _lstms(layers)] for layers in (bilm.ahead, bilm.back)
            )
        self.width = bilm.width
        self._gates = 4 * bilm.width // 2

        def with_gates(vectors: Tensor) -> Tensor:
            """Compute what is kept of a word: its share of the mix, and what it adds to gates."""
            gates = [layers[0].project(vectors) for layers in (self._ahead, self._back)]
            return torch.cat([first * vectors, *gates], dim=1)

        self._words = word_vector_cache(network, tokenizer, with_gates)

    def read(
        self, keys: Sequence[bytes], read: Callable[[Tensor, Tensor], Tensor]
    ) -> NDArray[np.float32]:
        """Compute the layers of texts, and what `read` makes of them and the lengths.

        It is given whole rows of texts of one length, for which torch sums in one order.
        """
        parts, order = [], []
        with torch.inference_mode():
            for numbers in split_by_words(keys, MAX_WORDS_PER_CALL):
                chosen = [keys[n] for n in numbers]
                mixed, first = self._mixed(chosen)
                for rows in split_by_words(chosen, MAX_WORDS_PER_CALL, one_length=True):
                    words = len(chosen[rows[0]]) // ID_BYTES
                    at = first[repeat_last(np.array(rows))]
                    index = torch.from_numpy((at[:, None] + np.arange(words)).reshape(-1))
                    vectors = mixed.index_select(0, index).view(len(at), words, -1)
                    out = read(vectors, torch.full((len(at),), words))
                    parts.append(out[: len(rows)].numpy())
                    order += [numbers[row] for row in rows]
        sorted_rows = np.concatenate(parts)
        in_order = np.empty_like(sorted_rows)
        in_order[order] = sorted_rows
        return in_order

    def _mixed(self, keys: Sequence[bytes]) -> tuple[Tensor, Integers]:
        """Compute the mix at every word, text after text, and the row of each text's first word."""
        ids, length = pad_keys(keys)
        words, rows = self._words.look_up(ids)
        inside = np.arange(ids.shape[1]) < length[:, None]
        own, *gates = torch.split_with_sizes(words, [self.width, self._gates, self._gates], dim=1)
        ahead = self._states(ids, rows, length, gates[0], self._ahead)
        position = np.arange(ids.shape[1])
        reverse = np.where(inside, length[:, None] - 1 - position, position)
        at = np.arange(len(ids))[:, None]
        back = self._states(ids[at, reverse], rows[at, reverse], length, gates[1], self._back)
        parts = [
            table.index_select(0, torch.from_numpy(index[inside]))
            for table, index in (ahead, (back[0], back[1][at, reverse]))
        ]
        mixed = torch.cat(parts, dim=1)
        mixed += own.index_select(0, torch.from_numpy(rows[inside]))
        return mixed, np.cumsum(length) - length

    def _states(
        self,
        ids: Integers,
        rows: Integers,
        length: Integers,
        gates: Tensor,
        layers: Sequence[LstmLayer],
    ) -> tuple[Tensor, Integers]:
        """Compute the mixed states of one direction, and for every text and word its row there."""
        order = np.lexsort(ids.T[::-1])
        shared = share_prefixes(rows[order], length[order])
        states = _read(
            gates,
            shared.tokens,
            shared.parents,
            shared.stays,
            [layer.w_ih for layer in layers],
            [layer.bias for layer in layers],
            [layer.w_hh for layer in layers],
            self._shares,
        )
        row = np.empty_like(shared.state)
        row[order] = shared.state + (np.cumsum(shared.count) - shared.count)
        return states, row


def _lstms(layers: nn.ModuleList) -> list[nn.LSTM]:
    return [layer for layer in layers if isinstance(layer, nn.LSTM)]


@scripted
def _read(
    projected: Tensor,
    tokens: list[Tensor],
    parents: list[Tensor],
    stays: list[bool],
    w_ih: list[Tensor],
    bias: list[Tensor],
    w_hh: list[Tensor],
    shares: list[float],
) -> Tensor:
    """Read words as `SharedPrefixes` lists them; return the weighted sum of the layers' states."""
    hidden = [w.new_zeros([1, w.size(0)]) for w in w_hh]
    cell = [w.new_zeros([1, w.size(0)]) for w in w_hh]
    mixed: list[Tensor] = []
    for t in range(len(tokens)):
        gates = projected.index_select(0, tokens[t])
        for n in range(len(w_hh)):
            if n > 0:
                gates = torch.addmm(bias[n], hidden[n - 1], w_ih[n])
            if not stays[t]:
                hidden[n] = hidden[n].index_select(0, parents[t])
                cell[n] = cell[n].index_select(0, parents[t])
            if t > 0:
                gates.addmm_(hidden[n], w_hh[n])
            hidden[n], cell[n] = lstm_step(gates, cell[n])
        total = hidden[0] * shares[0]
        for n in range(1, len(w_hh)):
            total = total + hidden[n] * shares[n]
        mixed.append(total)
    return torch.cat(mixed)
