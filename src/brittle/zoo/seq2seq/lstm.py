"""An LSTM that translates: an encoder of both directions, and a decoder with attention.

The first layer of the decoder asks the source (Luong et al., 2015, "general"); what it gets is
read by all layers above and by the output (as Wu et al., 2016, do), so that a whole translation is
computed at once in training. This file needs torch.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from brittle.ranking.whole_rows import ROWS
from brittle.zoo.names.settings import TranslatorSettings
from brittle.zoo.seq2seq.network import DecoderState, EncodedSource, PieceEmbedding


class LstmTranslator(nn.Module):
    """Layers of LSTMs that read from both sides, and as many that write."""

    def __init__(self, settings: TranslatorSettings, pieces: int) -> None:
        super().__init__()
        width, layers = settings.hidden, range(settings.layers)
        self.embedding = PieceEmbedding(pieces, width)
        self.drop = nn.Dropout(settings.dropout)
        self.encoder = nn.ModuleList(
            nn.LSTM(width, width // 2, batch_first=True, bidirectional=True) for _ in layers
        )
        self.decoder = nn.ModuleList(
            nn.LSTM(2 * width if n else width, width, batch_first=True) for n in layers
        )
        self.first_state = nn.Linear(width, 2 * width * settings.layers)
        self.query = nn.Linear(width, width, bias=False)
        self.out = nn.Linear(2 * width, width)
        for layer in (*self.encoder, *self.decoder):
            _begin_remembering(layer)

    def encode(self, ids: Tensor, padding: Tensor | None = None) -> EncodedSource:
        states = [self.embedding(ids)]
        for layer in self.encoder:
            states.append(_run_layer(layer, self.drop(states[-1]), padding))
        return EncodedSource(tuple(states), padding)

    def decode(self, source: EncodedSource, written: Tensor) -> tuple[Tensor, list[Tensor]]:
        hidden, cell = self._first(source)
        first, *others = self.decoder
        x, _ = first(self.drop(self.embedding(written)), (hidden[:1], cell[:1]))
        context, weight = self._attend(x, source.state, source.padding)
        for n, layer in enumerate(others, 1):
            x, _ = layer(
                self.drop(torch.cat((x, context), dim=2)), (hidden[n : n + 1], cell[n : n + 1])
            )
        return self._vectors(x, context), [weight[:, None]]

    def begin(self, source: EncodedSource) -> DecoderState:
        if source.padding is not None:
            raise ValueError("Texts are decoded without padding: sort them by length.")
        hidden, cell = self._first(source)
        return DecoderState((*hidden.unbind(), *cell.unbind()), (source.state,))

    def step(
        self, piece: Tensor, state: DecoderState, position: int
    ) -> tuple[Tensor, DecoderState]:
        count = len(self.decoder)
        x, context = self.drop(self.embedding(piece)), None
        hidden: list[Tensor] = []
        cell: list[Tensor] = []
        for n, layer in enumerate(self.decoder):
            read = x if context is None else self.drop(torch.cat((x, context), dim=1))
            x, inner = lstm_step(layer, read, state.own[n], state.own[count + n])
            hidden.append(x)
            cell.append(inner)
            if context is None:
                context = self._attend(x[:, None], state.shared[0], None)[0][:, 0]
        assert context is not None
        return self._vectors(x, context), DecoderState((*hidden, *cell), state.shared)

    def _first(self, source: EncodedSource) -> tuple[Tensor, Tensor]:
        """Compute hidden and cell states before the first piece: layers × rows × width."""
        state = source.state
        if source.padding is None:
            mean = state.mean(dim=1)
        else:
            seen = (~source.padding)[:, :, None].to(state)
            mean = (state * seen).sum(dim=1) / seen.sum(dim=1)
        both = torch.tanh(self.first_state(mean)).reshape(len(mean), -1, 2, state.shape[2])
        hidden, cell = both.permute(2, 1, 0, 3).contiguous()
        return hidden, cell

    def _attend(self, x: Tensor, state: Tensor, padding: Tensor | None) -> tuple[Tensor, Tensor]:
        score = self.query(x) @ state.transpose(1, 2)
        if padding is not None:
            score = score.masked_fill(padding[:, None], -torch.inf)
        weight = score.softmax(dim=2)
        return weight @ state, weight

    def _vectors(self, x: Tensor, context: Tensor) -> Tensor:
        return torch.tanh(self.out(self.drop(torch.cat((x, context), dim=-1))))


def _begin_remembering(layer: nn.Module) -> None:
    """Open the forget gates at the start, so that gradients reach far back (Jozefowicz, 2015)."""
    for name, bias in layer.named_parameters():
        if name.startswith("bias_ih"):
            width = len(bias) // 4
            nn.init.ones_(bias.data[width : 2 * width])


def lstm_step(layer: Any, x: Tensor, hidden: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    """Compute one position of a layer, rows × width; return its hidden and its cell state."""
    gates = functional.linear(x, layer.weight_ih_l0, layer.bias_ih_l0)
    gates = gates + functional.linear(hidden, layer.weight_hh_l0, layer.bias_hh_l0)
    let_in, forget, new, let_out = gates.chunk(4, dim=1)
    cell = forget.sigmoid() * cell + let_in.sigmoid() * new.tanh()
    return let_out.sigmoid() * cell.tanh(), cell


def _run_layer(layer: nn.Module, x: Tensor, padding: Tensor | None) -> Tensor:
    state: Tensor
    if padding is None:
        # Fewer rows would be summed in another order: a text must read alike in every batch.
        lacking = -len(x) % ROWS if not layer.training else 0
        state, _ = layer(torch.cat((x, x[-1:].expand(lacking, -1, -1))) if lacking else x)
        return state[: len(x)]
    length = (~padding).sum(dim=1).cpu()
    packed = pack_padded_sequence(x, length, batch_first=True, enforce_sorted=False)
    state, _ = pad_packed_sequence(layer(packed)[0], batch_first=True, total_length=x.shape[1])
    return state
