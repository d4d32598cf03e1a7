"""The description of an HTTP endpoint: a TOML file with a JSON template and a path.

url = "http://127.0.0.1:8000/classify"
labels = ["negative", "positive"]      # in the order of a plain list of scores
path = "results.0.scores"              # where in the answer; empty: the whole answer

[headers]
Authorization = "Bearer ${API_TOKEN}"  # from the environment; never written anywhere

[json]
inputs = "{text}"                      # or "{texts}" for several at once, or field names
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from brittle.errors import TargetError, UsageError, unknown
from brittle.redaction import is_secret_name, remember, short_repr
from brittle.targets.options import check_answers, check_kind, fill_in

_SLOT = re.compile(r"\{(\w+)\}")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e]*")
FLAGS = "the flags of the command"
"""The `source` of an endpoint that is given by its address."""
MINIMA = {"timeout": 1e-3, "retries": 0, "per_second": 1e-6, "concurrency": 1, "batch": 1}
TYPES: Mapping[str, tuple[Any, str]] = {
    "url": (str, 'a string such as "https://…"'),
    "method": (str, 'a string such as "POST"'),
    "headers": (Mapping, "a table of strings"),
    "path": ((str, list), 'a string such as "results.0.scores", or a list of its steps'),
    "labels": (list, 'a list such as ["negative", "positive"]'),
    "scores": (str, "a string"),
    "answers_are": (str, "a string"),
    "label_key": (str, "a string"),
    "score_key": (str, "a string"),
}
_KEYS = {
    "json": "template",
    "answers": "answers_are",
}  # names in the file that differ from the fields of `Endpoint`


@dataclass(frozen=True)
class Endpoint:
    """The content of an endpoint's TOML file; times are in seconds.

    `per_second` limits the rate of requests, `concurrency` the number at the same time. `batch` is
    the number of texts of one request, if the template has `{texts}`. `answers_are` is the key
    `answers` of the file: text for a translator. `source` is where all this is said, in messages.
    """

    url: str
    template: Any
    method: str = "POST"
    headers: Mapping[str, str] = field(default_factory=dict)
    path: tuple[str, ...] = ()
    answers_are: str = "auto"
    labels: tuple[str, ...] | None = None
    scores: str = "auto"
    label_key: str = "label"
    score_key: str = "score"
    timeout: float = 30.0
    retries: int = 5
    per_second: float | None = None
    concurrency: int = 1
    batch: int = 16
    source: str = "the TOML file"

    def name_of(self, key: str) -> str:
        """Name a key as the user says it: in the file, or as a flag."""
        if self.source == FLAGS:
            return f"--{key}"
        return f"`{'headers' if key == 'header' else key}` in {self.source}"

    @property
    def batched(self) -> bool:
        """Whether one request holds several texts."""
        return "texts" in slots(self.template)

    def body(self, texts: Sequence[str | dict[str, str]]) -> Any:
        """Fill the template with one text, or with all texts if it has `{texts}`."""
        if self.batched:
            return fill(self.template, {}, list(texts))
        (text,) = texts
        values = text if isinstance(text, dict) else {"text": text}
        if isinstance(text, dict):
            missing = sorted(set(values) - slots(self.template))
            if missing:
                raise UsageError(
                    f"The JSON template of {self.url} has no {{{missing[0]}}}, but the "
                    f"data has the fields {', '.join(values)}. Add the name of every "
                    "field in braces."
                )
        return fill(self.template, values, None)

    def answers(self, reply: Any, count: int) -> list[Any]:
        """Return the answers in a parsed reply, one per text."""
        if not self.batched:
            return [self._walk(reply, self.path)]
        star = self.path.index("*") if "*" in self.path else len(self.path)
        entries, rest = self._walk(reply, self.path[:star]), self.path[star + 1 :]
        if not isinstance(entries, list) or len(entries) != count:
            got = f"{len(entries)}" if isinstance(entries, list) else short_repr(entries)
            raise TargetError(
                f"The endpoint {self.url} gave {got} answers for {count} texts. Expected "
                f"a list with one answer per text at the path {'.'.join(self.path)!r}."
            )
        return [self._walk(entry, rest) for entry in entries]

    def sent_headers(self) -> dict[str, str]:
        """Return the headers with the values of environment variables in them."""
        return {name: _header_value(name, str(value)) for name, value in self.headers.items()}

    def sent_url(self) -> str:
        """Return the address with the values of environment variables in it."""
        url = fill_in(str(self.url), "url")
        try:
            parts = urlsplit(url)
        except ValueError:
            return url  # the client refuses it, with a message
        remember(parts.password or "")
        for name, value in parse_qsl(parts.query):
            if is_secret_name(name):
                remember(value)
        return url

    def _walk(self, reply: Any, path: Sequence[str]) -> Any:
        for step in path:
            try:
                reply = reply[int(step)] if isinstance(reply, list) else reply[step]
            except (KeyError, IndexError, ValueError, TypeError):
                raise TargetError(
                    f"The answer of {self.url} has no {step!r} of the path "
                    f"{'.'.join(self.path)!r}: {short_repr(reply)}. If the endpoint "
                    f"always answers like this, correct {self.name_of('path')}."
                ) from None
        return reply


def load_endpoint(path: str | Path) -> Endpoint:
    path = Path(path)
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"Cannot read the endpoint's file {str(path)!r}: {error}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{str(path)!r} is not a TOML file: {error}.") from error
    known = {field.name for field in fields(Endpoint)} - {*_KEYS.values(), "source"} | set(_KEYS)
    for key in raw:
        if key not in known:
            raise unknown(f"key in {path.name}", key, sorted(known))
    for key, example in (("url", "https://…"), ("json", '{ inputs = "{text}" }')):
        if key not in raw:
            raise UsageError(
                f"{str(path)!r} has no `{key}`. Add it, for example {key} = {example}."
            )
    try:
        return build_endpoint({_KEYS.get(key, key): value for key, value in raw.items()}, path)
    except RecursionError as error:
        raise UsageError(f"`json` in {path.name} is nested too deeply.") from error


def open_endpoint(spec: str) -> tuple[Endpoint, str]:
    """Return the endpoint that `http:FILE.toml` describes, and the name of its target."""
    path = Path(spec.removeprefix("http:"))
    if path.suffix != ".toml":
        raise UsageError(
            f"Got {spec!r}. Expected http:FILE.toml, a file that describes the endpoint."
        )
    return load_endpoint(path), f"http:{path.stem}"


def slots(template: Any) -> set[str]:
    """Return the names in braces in all strings of a template."""
    return {name for value in _strings(template) for name in _SLOT.findall(value)}


def fill(template: Any, values: Mapping[str, str], texts: list[Any] | None) -> Any:
    """Fill the strings of a template with texts; the texts themselves are never filled.

    >>> fill({"q": "Is this spam? {text}"}, {"text": 'win "{text}"'}, None)
    {'q': 'Is this spam? win "{text}"'}
    """
    if isinstance(template, str):
        if texts is not None and template == "{texts}":
            return texts
        return _SLOT.sub(lambda slot: values.get(slot[1], slot[0]), template)
    if isinstance(template, Mapping):
        return {key: fill(value, values, texts) for key, value in template.items()}
    if isinstance(template, list):
        return [fill(value, values, texts) for value in template]
    return template


def _strings(template: Any) -> list[str]:
    if isinstance(template, str):
        return [template]
    if isinstance(template, Mapping):
        template = list(template.values())
    return [s for part in template for s in _strings(part)] if isinstance(template, list) else []


def _check_types(raw: Mapping[str, Any], path: Path) -> None:
    """Refuse values of a type that a key of the file cannot have."""
    for key, (types, expected) in TYPES.items():
        value = raw.get(key)
        if value is not None and not isinstance(value, types):
            raise UsageError(f"`{key}` in {path.name} is {value!r}. Expected {expected}.")
    for name, value in raw.get("headers", {}).items():
        if not isinstance(value, str):
            raise UsageError(
                f"The header {name!r} in {path.name} is {value!r}. Expected a string in "
                "quotation marks."
            )
        if not (name.isascii() and value.isascii()):
            raise UsageError(
                f"The header {name!r} in {path.name} has characters that HTTP headers "
                "cannot have. Use ASCII, percent-encoded if necessary."
            )


def build_endpoint(raw: dict[str, Any], path: Path) -> Endpoint:
    """Build an endpoint from checked values; the name of `path` says where they stand."""
    _check_types(raw, path)
    template = raw["template"]
    if isinstance(template, str):
        try:
            raw["template"] = template = json.loads(template)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"`json` in {path.name} is not JSON: {error}.") from error
    if not slots(template):
        raise UsageError(
            f"The JSON template in {path.name} has no place for the text. Put {{text}} where it "
            'goes, for example inputs = "{text}".'
        )
    if "texts" in slots(template) and "{texts}" not in _strings(template):
        raise UsageError(
            f"The JSON template in {path.name} has {{texts}} inside a longer string. It is "
            'a list, so it must be the whole value: inputs = "{texts}".'
        )
    if not re.match(r"https?://|\$\{", str(raw["url"])):
        raise UsageError(f"`url` in {path.name} is {raw['url']!r}. Expected http:// or https://.")
    steps = raw.get("path", "")
    raw["path"] = tuple(str(s) for s in (steps.split(".") if isinstance(steps, str) else steps))
    raw["path"] = tuple(step for step in raw["path"] if step)
    if "labels" in raw:
        raw["labels"] = tuple(str(label) for label in raw["labels"])
    for key, minimum in MINIMA.items():
        value = raw.get(key, minimum)
        whole = key in ("retries", "concurrency", "batch")
        if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
            raise UsageError(f"`{key}` in {path.name} is {value!r}. Expected a number.")
        if not minimum <= value < math.inf:
            raise UsageError(f"`{key}` in {path.name} is {value!r}. Expected at least {minimum:g}.")
    check_kind(raw.get("scores", "auto"))
    check_answers(raw.get("answers_are", "auto"), f"It is the key `answers` in {path.name}.")
    return Endpoint(**raw)


def _header_value(name: str, template: str) -> str:
    """Fill in a header, and refuse what no header can hold; the message never shows the value."""
    value = fill_in(template, f"header {name}")
    if is_secret_name(name):
        remember(value.split()[-1] if value.strip() else "")
    if not _HEADER_VALUE.fullmatch(value):
        raise UsageError(
            f"The header {name}, {template!r}, contains a line break or another invalid "
            "character after its variables are filled in. A key that was read from a "
            "file often ends with a line break: remove it."
        )
    return value
