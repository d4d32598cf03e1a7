"""The target that a chat model is: it labels texts by its answers, or answers with texts.

Answers vary, so that each text can be asked several times (`--repeats`). The label is then that of
most answers, and its confidence their share; where as many name another one, it is tied.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from brittle.answers import SILENT_LABELS, TIED, join_texts
from brittle.errors import UsageError
from brittle.targets.answer_parsers import BlackBoxClassifier, BlackBoxTranslator
from brittle.targets.chat.answers import MAX_READ_CHARACTERS, ChatLabels, ChatTexts, open_reader
from brittle.targets.chat.request import ChatAddress, chat_endpoint, parse_price
from brittle.targets.http.transport import HttpTransport
from brittle.targets.labels import label_names
from brittle.targets.options import TargetOptions, render
from brittle.text import Text

log = logging.getLogger(__name__)
MAX_REPEATS = 1000


class ChatClassifier(BlackBoxClassifier):
    """Labels texts by what a chat model answers."""

    def __init__(
        self, transport: HttpTransport[Any], answers: ChatLabels, price: tuple[float, float] | None
    ) -> None:
        super().__init__(transport)
        self.repeats, self.spent, self.price = answers.repeats, answers.meter.take, price
        self.silent, self.max_written = SILENT_LABELS, max_written(transport)
        self._is_label_only = not answers.by_tokens and answers.repeats == 1

    def prompt_size(self, text: Text) -> int:
        return prompt_size(self.transport, text)

    @property
    def label_only(self) -> bool:
        return self._is_label_only

    def join_repeats(self, rows: Sequence[Sequence[float]]) -> list[float]:
        return join_rows(rows, self.labels)


class ChatModel(BlackBoxTranslator):
    """Answers texts by texts, with the tools that it calls."""

    max_answer = MAX_READ_CHARACTERS

    def __init__(
        self, transport: HttpTransport[Any], answers: ChatTexts, price: tuple[float, float] | None
    ) -> None:
        super().__init__(transport)
        self.repeats, self.spent, self.price = answers.repeats, answers.meter.take, price
        self.join_repeats = join_texts
        self.max_written = max_written(transport)

    def prompt_size(self, text: Text) -> int:
        return prompt_size(self.transport, text)


def prompt_size(transport: Any, text: Text) -> int:
    """Return how many characters the messages of a request have."""
    messages = transport.endpoint.body([render(text, transport.mask)])["messages"]
    return sum(len(str(message.get("content") or "")) for message in messages)


def max_written(transport: Any) -> int | None:
    """Return the most tokens of an answer, if the request limits them."""
    limit = transport.endpoint.template.get("max_tokens")
    return limit if isinstance(limit, int) else None


def join_rows(rows: Sequence[Sequence[float]], labels: Sequence[str]) -> list[float]:
    """Return the shares of the answers; where two labels have most of them, the text is tied.

    >>> labels = ["clean", "offensive", *SILENT_LABELS]
    >>> join_rows([[1, 0, 0, 0, 0], [0, 1, 0, 0, 0]], labels)
    [0.25, 0.25, 0.0, 0.0, 0.5]
    """
    shares = np.mean(np.asarray(rows, dtype=np.float64), axis=0)
    if np.isclose(shares, shares.max(), rtol=0.0, atol=1e-9).sum() > 1:
        shares = shares / 2
        shares[list(labels).index(TIED)] = 0.5
    return [float(share) for share in shares]


def open_chat(spec: str, options: TargetOptions) -> ChatClassifier | ChatModel:
    """Open `chat:URL?model=NAME`; nothing is asked before the first text."""
    address = ChatAddress.parse(spec)
    price = parse_price(options.price)
    if not 1 <= options.repeats <= MAX_REPEATS:
        raise UsageError(
            f"Got --repeats {options.repeats}. Expected 1 to {MAX_REPEATS} answers to each text."
        )
    name = options.name or f"chat:{address.model}@{urlsplit(address.url).netloc}"
    mask = options.black_box_mask
    if options.answers == "text":
        options.refuse_classifier()
        options.refuse("a chat model that answers texts", "read")
        texts = ChatTexts(options.repeats)
        endpoint = chat_endpoint(address, options, ())
        return ChatModel(HttpTransport(endpoint, texts, mask=mask, name=name), texts, price)
    labels = _labels(options, name)
    answers = ChatLabels(
        labels,
        open_reader(options.read),
        options.read or "name",
        by_tokens=options.scores == "prob",
        repeats=options.repeats,
        warn=log.warning,
    )
    endpoint = chat_endpoint(address, options, labels)
    return ChatClassifier(HttpTransport(endpoint, answers, mask=mask, name=name), answers, price)


def _labels(options: TargetOptions, who: str) -> tuple[str, ...]:
    """Return the labels that the model is to answer: those that are named, else the data's."""
    if options.scores not in ("auto", "label", "prob"):
        raise UsageError(
            f"Got --scores {options.scores!r} for a chat model. Expected label (the text of the "
            "answer says it) or prob (the log-probabilities of its first token)."
        )
    known = list(options.data_labels) if options.labels is None else None
    if known is not None and len(known) < 2:
        raise UsageError(
            f"{who} answers in words. Name the labels that it can answer: --labels "
            "clean,offensive. If its answers are texts: --answers text."
        )
    labels = tuple(known) if known is not None else label_names(None, options.labels, who)
    if len(labels) < 2 or set(labels) & set(SILENT_LABELS):
        raise UsageError(
            f"Got the labels {', '.join(labels)} for a chat model. Expected two or more, none of "
            f"them {', '.join(SILENT_LABELS)}."
        )
    return labels
