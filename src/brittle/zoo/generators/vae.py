"""A variational autoencoder of sentences: an encoder to a latent space, a decoder from it.

The encoder gives each sentence a normal distribution of latent points (Kingma and Welling, 2014);
the decoder writes a sentence from a point and from the words that it has written so far (Bowman et
al., 2016). The point of a sentence is found from its mean by descent, so there is no inverter to be
trained. One table of word vectors is read by both and scores the words that are written.

This file needs torch.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor, nn

from brittle.zoo.generators.arae import sampled_cross_entropy
from brittle.zoo.generators.refining import descend
from brittle.zoo.generators.sentences import BEGIN, END, SPECIAL
from brittle.zoo.layers import build_lstm, reorder, reverse_order
from brittle.zoo.names.settings import SentenceVaeSettings
from brittle.zoo.tokenizers import PAD, UNKNOWN

WORD_VECTOR_SCALE = 0.1
FIRST_LOG_VARIANCE = -2.0  # of latent points: the decoder first learns to read nearly exact ones
LOG_VARIANCES = (-8.0, 2.0)
COMMON_WORDS = 300  # the most frequent words, which come first in the vocabulary
COUNTED = 50  # occurrences from which on it is learnt whether sentences end with a word
MIN_ENDS = 0.01  # of its occurrences
POINT_STEPS = 20  # of descent, from the mean of the encoder to the point of a sentence
MEANING_SIZE = 384  # of MiniLM's vectors
MEANING_SCALE = 8.0  # brings a vector of length 1 to the size of an LSTM's states
LOGIT_SCALE = 4.0  # word vectors are short: their products alone would make all words likely


class SentenceVAE(nn.Module):
    """Encoder and decoder; `latent` numbers lie between them.

    `can_end` tells of each word whether a sentence may end with it.
    """

    can_end: Tensor

    has_inverter: ClassVar = False

    def __init__(self, settings: SentenceVaeSettings, words: int) -> None:
        super().__init__()
        width, states, latent = settings.embedding, settings.encoder_hidden, settings.latent
        self.reads_words = settings.encoder != "meaning"
        self.reads_meaning = settings.encoder != "words"
        self.latent, self.sampled = latent, settings.sampled
        self.writes, self.prior = settings.learnt_length, settings.prior
        self.rare = len(SPECIAL) + min(COMMON_WORDS, words // 2)
        self.word_dropout, self.dropout = settings.word_dropout, nn.Dropout(settings.dropout)
        self.embedding = nn.Embedding(words, width, padding_idx=PAD)
        size = MEANING_SIZE if self.reads_meaning else 0
        if self.reads_words:
            size += 2 * states
            self.forward_lstm = build_lstm(width, states)
            self.backward_lstm = build_lstm(width, states)
        self.mean = nn.Linear(size, latent)
        self.log_variance = nn.Linear(size, latent)
        self.start = nn.Linear(latent, 2 * settings.hidden)
        self.decoder = build_lstm(width + latent, settings.hidden)
        self.head = nn.Linear(settings.hidden, width)
        self.bias = nn.Parameter(torch.zeros(words))
        self.register_buffer("can_end", torch.ones(words, dtype=torch.bool))
        with torch.no_grad():
            self.embedding.weight.mul_(WORD_VECTOR_SCALE)
            self.embedding.weight[UNKNOWN] = 0.0
            self.log_variance.weight.zero_()
            self.log_variance.bias.fill_(FIRST_LOG_VARIANCE)

    def posterior(self, rows: Tensor, meaning: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return means and logarithms of variances of the latent points of sentences.

        They are rows of word ids; `meaning` has their vectors of length 1, where it is read.
        """
        read = []
        if self.reads_words:
            length = (rows != PAD).sum(dim=1).clamp(min=1)
            vectors = self.dropout(self.embedding(rows))
            backward = reorder(vectors, reverse_order(vectors, length))
            last = torch.arange(len(rows), device=rows.device), length - 1
            read += [self.forward_lstm(vectors)[0][last], self.backward_lstm(backward)[0][last]]
        if self.reads_meaning:
            assert meaning is not None
            read.append(MEANING_SCALE * meaning)
        states = torch.cat(read, dim=1)
        return self.mean(states), self.log_variance(states).clamp(*LOG_VARIANCES)

    def loss(self, z: Tensor, rows: Tensor) -> Tensor:
        """Return for each sentence the summed cross-entropy of its words and its end.

        In training some words are read as unknown, and words are told from a sample of the others.
        """
        begin = rows.new_full((len(rows), 1), BEGIN)
        read = torch.cat([begin, rows], dim=1)
        if self.training and self.word_dropout:
            is_word = (read >= len(SPECIAL)).cpu()
            is_dropped = is_word & (torch.rand(read.shape) < self.word_dropout)
            read = read.masked_fill(is_dropped.to(read.device), UNKNOWN)
        wanted = torch.cat([rows, rows.new_full((len(rows), 1), PAD)], dim=1)
        length = (rows != PAD).sum(dim=1)
        wanted[torch.arange(len(rows), device=rows.device), length] = END
        vectors = self.dropout(self.embedding(read))
        inputs = torch.cat([vectors, z[:, None].expand(-1, read.shape[1], -1)], dim=2)
        states = self.dropout(self.decoder(inputs, self._start(z))[0])
        asked = wanted != PAD
        losses = states.new_zeros(wanted.shape)
        losses[asked] = sampled_cross_entropy(
            LOGIT_SCALE * self.head(states[asked]),
            self.embedding.weight,
            self.bias,
            wanted[asked],
            self.sampled if self.training else 0,
            "none",
        )
        total: Tensor = losses.sum(dim=1)
        return total

    def decode(self, z: Tensor) -> Tensor:
        """Write the likeliest word at every position.

        A sentence ends only after words with which sentences do end, so none is empty. Where an
        unknown word is likeliest, it is the likeliest of the words that are not common: unknown
        words are rare ones.
        """
        rows = torch.full((len(z), self.writes), PAD, device=z.device)
        word = torch.full((len(z),), BEGIN, device=z.device)
        ended = torch.zeros(len(z), dtype=torch.bool, device=z.device)
        state = self._start(z)
        for n in range(self.writes):
            read = torch.cat([self.embedding(word), z], dim=1)[:, None]
            states, state = self.decoder(read, state)
            words = LOGIT_SCALE * self.head(states[:, 0])
            logits = nn.functional.linear(words, self.embedding.weight, self.bias)
            logits[:, [PAD, BEGIN]] = -torch.inf
            logits[~self.can_end[word], END] = -torch.inf
            is_unknown = logits.argmax(dim=1) == UNKNOWN
            logits[:, UNKNOWN] = -torch.inf
            logits[is_unknown, : self.rare] = -torch.inf
            word = logits.argmax(dim=1)
            ended |= word == END
            rows[:, n] = word.masked_fill(ended, PAD)
            if ended.all():
                break
        return rows

    def points(self, rows: Tensor, meaning: Tensor | None = None) -> Tensor:
        """Return the latent points of sentences, from which they are likeliest to be written.

        The search for a point begins at the mean that the encoder gives it, and weighs the normal
        distribution of points as the training does.
        """
        return self.refined(self.posterior(rows, meaning)[0], rows, POINT_STEPS)

    def rebuilt(self, rows: Tensor, meaning: Tensor | None = None) -> Tensor:
        """Return the rows that are written from the latent points of sentences."""
        return self.decode(self.points(rows, meaning))

    def refined(self, z: Tensor, rows: Tensor, steps: int) -> Tensor:
        """Move latent points by steps of descent so that they and their sentences are likelier."""

        def error(point: Tensor) -> Tensor:
            return self.loss(point, rows) + self.prior * point.square().sum(dim=1) / 2

        return descend(error, z, steps)

    def learn_ends(self, rows: Tensor) -> None:
        """Learn with which words sentences end: common words such as "the" hardly ever do."""
        words = len(self.can_end)
        last = rows.gather(1, (rows != PAD).sum(dim=1, keepdim=True).clamp(min=1) - 1)
        ends = torch.bincount(last.flatten(), minlength=words)
        count = torch.bincount(rows.flatten(), minlength=words)
        self.can_end = (count < COUNTED) | (ends >= MIN_ENDS * count)
        self.can_end[BEGIN] = False

    def _start(self, z: Tensor) -> tuple[Tensor, Tensor]:
        hidden, cell = self.start(z).tanh().chunk(2, dim=1)
        return hidden[None].contiguous(), cell[None].contiguous()
