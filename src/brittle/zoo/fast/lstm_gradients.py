"""Layers of LSTMs there and back on the CPU, faster than torch's own way.

Torch goes back along the weights too, which nobody asks for here. States stand in columns, a text
each, so that the gates of all texts are whole blocks of memory. Everything is a sigmoid, for
tanh(x) = 2 sigmoid(2x) − 1; constant factors are folded into the weights. What distinct words add
to the gates is worked out once for each, and a layer takes what comes from below and from the word
before in one product. This file needs torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from brittle.ranking.layout import Integers
from brittle.zoo.layers.encoders import LSTMEncoder
from brittle.zoo.layers.heads import Last
from brittle.zoo.networks import Classifier


class LstmGradients:
    """The logits of a `Classifier` over LSTMs that is read at the last word, and slopes back."""

    def __init__(self, network: Classifier) -> None:
        self.layers = [_BackwardLayer(layer) for layer in network.encoder.layers]
        self.head, self.bias = network.head.weight.detach(), network.head.bias.detach()

    @staticmethod
    def fits(network: Classifier) -> bool:
        """Say whether this is such a network."""
        return isinstance(network.encoder, LSTMEncoder) and isinstance(network.pool, Last)

    def forward(self, distinct: Tensor, which: Integers, length: Integers) -> LstmPass:
        """Read texts, given as rows of `distinct` vectors (texts × words)."""
        first, *others = self.layers
        states = [first.read(distinct, torch.from_numpy(which.T.copy()))]
        for layer in others:
            states.append(layer.over(states[-1].hidden))
        end, text = torch.from_numpy(length - 1), torch.arange(len(which))
        last = states[-1].hidden[end, :, text]
        return LstmPass(self, end, states, torch.addmm(self.bias, last, self.head.T))


@dataclass(frozen=True, eq=False)
class LstmPass:
    """Texts that were read, and what leads back."""

    gradients: LstmGradients
    end: Tensor
    states: Sequence[_States]
    logits: Tensor

    def back(self, gradient: Tensor) -> Tensor:
        """Give the slope along the vectors (words × size × texts), from that along the logits."""
        down = torch.zeros_like(self.states[-1].hidden)
        down[self.end, :, torch.arange(len(gradient))] = gradient @ self.gradients.head
        for layer, states in zip(reversed(self.gradients.layers), reversed(self.states)):
            down = layer.back(states, down)
        return down


@dataclass(frozen=True, eq=False)
class _States:
    """What a layer held at every word: words × size × texts, four sizes of gates.

    All but the cells and the hidden states are sigmoids; the gates are in, forget, out and new.
    """

    gates: Tensor
    cell: Tensor
    seen: Tensor
    hidden: Tensor

    @staticmethod
    def empty(words: int, size: int, texts: int, like: Tensor) -> _States:
        return _States(*(like.new_empty((words, n * size, texts)) for n in (4, 1, 1, 1)))


class _BackwardLayer:
    def __init__(self, lstm: nn.LSTM) -> None:
        enter, again, bias_in, bias_back = (weight.detach() for weight in lstm.all_weights[0])
        self.size = lstm.hidden_size
        self.enter, self.again = _gates(enter), _gates(again)
        self.bias = _gates(bias_in + bias_back)
        self.both = torch.cat([self.enter, self.again], dim=1)
        # In, forget and new move the cell, of whose slope a quarter is reckoned with below.
        quarter = self.both.new_tensor([4, 4, 1, 8]).repeat_interleave(self.size)
        self.down = (self.both * quarter[:, None]).T.contiguous()

    def read(self, distinct: Tensor, which: Tensor) -> _States:
        """Step through words, given as rows of distinct vectors (words × texts)."""
        entry = torch.addmm(self.bias, distinct, self.enter.T)
        states = _States.empty(len(which), self.size, which.shape[1], entry)
        for word, row in enumerate(which):
            gates = states.gates[word]
            added = entry.index_select(0, row).T
            if word:
                torch.addmm(added, self.again, states.hidden[word - 1], out=gates)
            else:
                gates.copy_(added)
            self._step(states, word)
        return states

    def over(self, below: Tensor) -> _States:
        """Step through the states of the layer below."""
        words, size, texts = below.shape
        states = _States.empty(words, self.size, texts, below)
        under = below.new_zeros((size + self.size, texts))
        bias = self.bias[:, None]
        for word in range(words):
            under[:size] = below[word]
            if word:
                under[size:] = states.hidden[word - 1]
            torch.addmm(bias, self.both, under, out=states.gates[word])
            self._step(states, word)
        return states

    def _step(self, states: _States, word: int) -> None:
        cell, seen, hidden = states.cell[word], states.seen[word], states.hidden[word]
        let_in, keep, out, new = states.gates[word].sigmoid_().view(4, *cell.shape)
        # in · (2 new − 1) + forget · cell, and then out · (2 seen − 1).
        torch.addcmul(let_in, let_in, new, value=-2, out=cell).neg_()
        if word:
            cell.addcmul_(keep, states.cell[word - 1])
        torch.add(cell, cell, out=seen).sigmoid_()
        torch.addcmul(out, out, seen, value=-2, out=hidden).neg_()

    def back(self, states: _States, gradient: Tensor) -> Tensor:
        """Give the slope along what came from below, from that along the hidden states."""
        words, size, texts = gradient.shape
        below = len(self.down) - size
        found = gradient.new_empty((words, below, texts))
        gates = gradient.new_empty((4, size, texts))
        cell, part = gradient.new_zeros((size, texts)), gradient.new_empty((size, texts))
        both = gradient.new_zeros((below + size, texts))
        for word in range(words - 1, -1, -1):
            gate = states.gates[word].view(4, size, texts)
            seen = states.seen[word]
            above = both[below:].add_(gradient[word])
            torch.addcmul(gate, gate, gate, value=-1, out=gates)
            gates[2].mul_(torch.add(seen, seen, out=part).sub_(1)).mul_(above)
            # A quarter of the slope along the cell: 1 − tanh² is 4 s (1 − s).
            torch.addcmul(seen, seen, seen, value=-1, out=part).mul_(gate[2]).mul_(above)
            cell.add_(part)
            gates[3].mul_(gate[0]).mul_(cell)
            gates[0].mul_(torch.add(gate[3], gate[3], out=part).sub_(1))
            if word:
                gates[1].mul_(states.cell[word - 1])
            else:
                gates[1].zero_()
            gates[:2].mul_(cell)
            cell.mul_(gate[1])
            torch.mm(self.down, gates.view(4 * size, texts), out=both)
            found[word] = both[:below]
        return found


def _gates(weight: Tensor) -> Tensor:
    """Order torch's gates (in, forget, new, out) as in, forget, out, new; double the new one."""
    let_in, keep, new, out = weight.chunk(4)
    return torch.cat([let_in, keep, out, 2 * new])
