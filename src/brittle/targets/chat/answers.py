"""What a chat model answers: its message, the label in it, and the tokens that it took.

A label is read by name ("Offensive." is `offensive`), by a regular expression (`regex:Label: (.*)`)
or from JSON (`json:result.label`). An answer in which no label is found, or more than one, is
unparsed; a refusal is counted apart.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, ClassVar

import numpy as np
import regex

from brittle.answers import REFUSED, SILENT_LABELS, UNPARSED, find_label, plain_label, write_answer
from brittle.errors import TargetError, UsageError
from brittle.redaction import redact, short_repr, visible
from brittle.targets.answer_parsers import parse_json
from brittle.targets.fingerprints import format_rounded
from brittle.targets.protocols import Scores

MAX_READ_CHARACTERS = 20_000
"""Of an answer: labels are looked for in so many, and texts are cut there."""
REGEX_SECONDS = 1.0
REFUSAL = regex.compile(
    r"\W*(?:i\W?m (?:very )?sorry|(?:i am )?sorry|i (?:can\W?t|cannot|can not|won\W?t|will not)|"
    r"i\W?m (?:unable|not able)|i am (?:unable|not able)|as an ai)\b",
    regex.IGNORECASE,
)
NEGATION = regex.compile(
    r"(?:\b(?:not|non|no|never|neither|nor|isn\W?t)\b\W*(?:\w+\W+)?)\Z", regex.I
)


class TokenMeter(threading.local):
    """Counts the tokens of the requests of one thread."""

    read: int = 0
    written: int = 0

    def note(self, reply: Any) -> None:
        """Add what an answer says that it took; an answer that does not say adds nothing."""
        usage = reply.get("usage") if isinstance(reply, Mapping) else None
        if isinstance(usage, Mapping):
            self.read += _count(usage.get("prompt_tokens"))
            self.written += _count(usage.get("completion_tokens"))

    def take(self) -> tuple[int, int]:
        """Return the tokens since this was last called."""
        taken = (self.read, self.written)
        self.read = self.written = 0
        return taken


def _count(value: Any) -> int:
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 40
    return value if is_count else 0


@dataclass(frozen=True)
class Message:
    """The answer of a chat model: its text, the tools that it calls, and if it refused."""

    text: str
    tools: tuple[tuple[str, str], ...] = ()
    is_refused: bool = False
    first_token: Mapping[str, float] | None = None
    """The probability of each likely first token, where the endpoint says it."""

    @staticmethod
    def parse(reply: Any, who: str) -> Message:
        try:
            choice = reply["choices"][0]
            message = choice.get("message") or {}
            content, refusal = message.get("content"), message.get("refusal")
            tools = tuple(map(_tool, message.get("tool_calls") or ()))
        except (KeyError, IndexError, TypeError, AttributeError):
            raise TargetError(
                f"{who} answered {short_repr(reply)}. Expected the answer of a chat model: "
                "choices.0.message.content."
            ) from None
        if isinstance(content, list):  # of parts, of which those with text count
            parts = [part.get("text") for part in content if isinstance(part, Mapping)]
            content = "".join(part for part in parts if isinstance(part, str))
        if not isinstance(content, str | None) or not isinstance(refusal, str | None):
            raise TargetError(
                f"{who} answered {short_repr(content or refusal)} as its message; expected a text."
            )
        text = (content or refusal or "").encode("utf-8", "replace").decode("utf-8")
        text = redact(text)[:MAX_READ_CHARACTERS]  # in this order: no secret is cut in two
        is_refused = bool(refusal) or choice.get("finish_reason") == "content_filter"
        return Message(text, tools, is_refused, _first_token(choice))


def _tool(call: Any) -> tuple[str, str]:
    function = call["function"]
    arguments = function.get("arguments") or ""
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments)
    return redact(str(function["name"])), redact(arguments)[:MAX_READ_CHARACTERS]


def _first_token(choice: Any) -> dict[str, float] | None:
    """Return the probabilities of the first token that is not blank."""
    logprobs = choice.get("logprobs")
    entries = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    for entry in entries if isinstance(entries, list) else ():
        if not isinstance(entry, Mapping) or not str(entry.get("token", "")).strip():
            continue
        top = entry.get("top_logprobs") or [entry]
        pairs = [(t.get("token"), t.get("logprob")) for t in top if isinstance(t, Mapping)]
        known: dict[str, float] = {}
        for token, logprob in pairs:
            if isinstance(token, str) and isinstance(logprob, int | float) and logprob <= 1e-6:
                known[token] = known.get(token, 0.0) + math.exp(min(0.0, logprob))
        return known
    return None


Reader = Callable[[str, Sequence[str]], int | None]
"""Returns the index of the label that an answer means, or None."""


def open_reader(how: str | None) -> Reader:
    """Return the reader that `--read` names: name, regex:PATTERN or json:PATH."""
    kind, _, value = (how or "name").partition(":")
    if kind == "name" and not value:
        return read_by_name
    if kind == "regex" and value:
        try:
            pattern = regex.compile(value)
        except regex.error as error:
            raise UsageError(f"Got --read {how!r}, which is no regular expression: {error}.") from (
                error
            )
        return lambda text, labels: _read_by_pattern(pattern, text, labels)
    if kind == "json":
        path = [step for step in value.split(".") if step]
        return lambda text, labels: _read_from_json(path, text, labels)
    raise UsageError(
        f"Got --read {how!r}. Expected name, regex:PATTERN (its first group is the label) or "
        "json:PATH, such as json:result.label."
    )


def read_by_name(text: str, labels: Sequence[str]) -> int | None:
    """Find the one label that an answer names, as whole words; a negated one is none.

    >>> read_by_name("**Offensive.**", ["clean", "offensive"])
    1
    >>> read_by_name("Not offensive.", ["clean", "offensive"]) is None
    True
    >>> read_by_name("Clean or offensive?", ["clean", "offensive"]) is None
    True
    """
    exact = _label_of(text, labels)
    if exact is not None:
        return exact
    longest = sorted(labels, key=len, reverse=True)
    names = "|".join(regex.escape(plain_label(label)) for label in longest)
    pattern = regex.compile(rf"(?<!\w)(?:{names})(?!\w)")
    folded = text.casefold()
    found = set()
    for match in pattern.finditer(folded):
        if NEGATION.search(folded, max(0, match.start() - 40), match.start()):
            return None
        found.add(find_label(match.group(), labels))
    return found.pop() if len(found) == 1 else None


def _read_by_pattern(pattern: Any, text: str, labels: Sequence[str]) -> int | None:
    try:
        match = pattern.search(text, timeout=REGEX_SECONDS)
    except TimeoutError:
        return None
    if match is None:
        return None
    value = match.group(1) if pattern.groups else match.group()
    return None if value is None else _label_of(value, labels)


def _read_from_json(path: Sequence[str], text: str, labels: Sequence[str]) -> int | None:
    """Read a label from JSON, which may stand in a fence or among other text."""
    start, stop = text.find("{"), text.rfind("}")
    for content in (text, text[start : stop + 1]):
        try:
            value = parse_json(content, "The answer")
        except (ValueError, TargetError):
            continue
        for step in path:
            try:
                value = value[int(step)] if isinstance(value, list) else value[step]
            except (KeyError, IndexError, ValueError, TypeError):
                return None
        return _label_of(value, labels) if isinstance(value, str) else None
    return None


def _label_of(value: str, labels: Sequence[str]) -> int | None:
    """Find a label without regard to marks around it: "**Offensive.**" is `offensive`."""
    bare = regex.sub(r"^[\W_]+|[\W_]+$", "", value)
    return next((n for v in (value, bare) if (n := find_label(v, labels)) is not None), None)


def token_scores(tokens: Mapping[str, float], labels: Sequence[str]) -> tuple[list[float], float]:
    """Return the scores of the labels and of no label, by the first token of the answer.

    A token counts for a label that begins with it, if only one does. The likeliest other token
    counts for no label: where it is the likeliest of all, the answer would not be a label.

    >>> token_scores({"Off": 0.5, " clean": 0.25, "The": 0.25, "A": 0.25}, ["clean", "offensive"])
    ([0.25, 0.5], 0.25)
    """
    masses, other = [0.0] * len(labels), 0.0
    for token, probability in tokens.items():
        start = plain_label(token)
        fitting = [
            n for n, name in enumerate(labels) if start and plain_label(name).startswith(start)
        ]
        if len(fitting) == 1:
            masses[fitting[0]] += probability
        else:
            other = max(other, probability)
    total = sum(masses) + other
    if not total:
        return masses, 1.0
    return [mass / total for mass in masses], other / total


@dataclass
class ChatLabels:
    """Reads labels: each answer becomes a row over the labels and those that mean no answer."""

    named: tuple[str, ...]
    reader: Reader
    how: str
    by_tokens: bool = False
    repeats: int = 1
    warn: Callable[[str], None] = lambda _: None
    meter: TokenMeter = field(default_factory=TokenMeter)
    has_warned: bool = False
    noun: ClassVar[str] = "scores"

    @property
    def labels(self) -> tuple[str, ...]:
        return (*self.named, *SILENT_LABELS)

    @property
    def settings(self) -> tuple[str, ...]:
        return (*self.labels, self.how, str(self.by_tokens), str(self.repeats))

    def parse(self, answers: Any, count: int, who: str) -> Scores:
        for answer in answers:
            self.meter.note(answer)
        messages = [Message.parse(answer, who) for answer in answers]
        return np.array([self._row(message, who) for message in messages])

    def _row(self, message: Message, who: str) -> list[float]:
        if self.by_tokens:
            if message.first_token is None and not message.is_refused:
                raise UsageError(
                    f"{who} gave no log-probabilities of tokens. Leave out --scores prob: the "
                    "label is then read from the text of the answer."
                )
            if not message.is_refused:
                scores, unparsed = token_scores(message.first_token or {}, self.named)
                return [*scores, unparsed, 0.0, 0.0]
        row = [0.0] * len(self.labels)
        number = None if message.is_refused else self.reader(message.text, self.named)
        if number is None:
            is_refusal = message.is_refused or REFUSAL.match(message.text)
            number = self.labels.index(REFUSED if is_refusal else UNPARSED)
            self._warn_once(message, who)
        row[number] = 1.0
        return row

    def _warn_once(self, message: Message, who: str) -> None:
        if not self.has_warned:
            self.has_warned = True
            self.warn(
                f"{who} gave an answer without a label: {visible(short_repr(message.text))}. Such "
                "answers are neither a pass nor a break. Say how the label is read: --read."
            )

    def join(self, parts: Sequence[Scores]) -> Scores:
        return np.concatenate([np.zeros((0, len(self.labels))), *parts])

    def format(self, parsed: Scores) -> str:
        return format_rounded(parsed)


@dataclass
class ChatTexts:
    """Returns the answers as texts, with the tools that are called."""

    repeats: int = 1
    labels: tuple[str, ...] = ()
    meter: TokenMeter = field(default_factory=TokenMeter)
    noun: ClassVar[str] = "texts"

    @property
    def settings(self) -> tuple[str, ...]:
        return ("text", str(self.repeats))

    def parse(self, answers: Any, count: int, who: str) -> list[str]:
        for answer in answers:
            self.meter.note(answer)
        messages = [Message.parse(answer, who) for answer in answers]
        return [write_answer(message.text, message.tools) for message in messages]

    def join(self, parts: Sequence[list[str]]) -> list[str]:
        return list(chain.from_iterable(parts))

    def format(self, parsed: list[str]) -> str:
        return json.dumps(parsed)
