"""What a chat model is sent: `chat:http://HOST/v1?model=NAME`, a prompt, and a key.

The prompt is a template. A text of the data stands for `{text}` (or the name of its field), and
nothing else of the template is edited. A prompt that ends in .json is a whole request, a list of
messages or an object with `messages` and, say, `tools`.

The key comes from the environment. It is sent in a header and stands nowhere else.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from brittle.errors import UsageError, unknown
from brittle.targets.http.address import refuse_secrets
from brittle.targets.http.endpoint import FLAGS, Endpoint, build_endpoint, slots
from brittle.targets.options import TargetOptions

PREFIX = "chat:"
KEY_VARIABLE = "OPENAI_API_KEY"
ENDING = "/chat/completions"
EXAMPLE = "chat:http://127.0.0.1:8000/v1?model=NAME"
TOP_LOGPROBS = 20
"""The most that the interface allows."""
OF_REQUESTS: Mapping[str, type] = {"temperature": float, "max_tokens": int, "seed": int}
OF_CONNECTIONS: Mapping[str, type] = {"concurrency": int, "per_second": float, "retries": int}
LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class ChatAddress:
    """What stands after `chat:`: the address, the model, and settings of the request."""

    url: str
    model: str
    settings: Mapping[str, Any]
    connection: Mapping[str, Any]
    is_plain: bool
    """Whether what is sent can be read on the way: http to another machine."""

    @staticmethod
    def parse(spec: str) -> ChatAddress:
        """Parse a spec.

        >>> address = ChatAddress.parse("chat:http://127.0.0.1:8000/v1?model=tiny&temperature=0")
        >>> address.url, address.model, dict(address.settings)
        ('http://127.0.0.1:8000/v1/chat/completions', 'tiny', {'temperature': 0.0})
        """
        text = spec.removeprefix(PREFIX)
        try:
            parts = urlsplit(text)
            host = parts.hostname
        except ValueError:
            host = None
        if host is None or parts.scheme not in ("http", "https"):
            raise UsageError(f"Got {spec!r}. Expected an address and a model, such as {EXAMPLE}.")
        refuse_secrets(text)
        query = dict(parse_qsl(parts.query))
        model = query.pop("model", "")
        if not model:
            raise UsageError(f"Got {spec!r}, which names no model. Expected {EXAMPLE}.")
        values: dict[str, Any] = {}
        kinds = {**OF_REQUESTS, **OF_CONNECTIONS}
        for name in [name for name in query if name in kinds]:
            try:
                values[name] = kinds[name](query.pop(name))
            except ValueError:
                raise UsageError(f"Got {name} in {spec!r}; expected a number.") from None
        path = parts.path.rstrip("/")
        path += "" if path.endswith(ENDING) else ENDING
        if query and not _holds_variable(query):
            raise unknown("setting of a chat model", next(iter(query)), ("model", *kinds))
        return ChatAddress(
            urlunsplit((parts.scheme, parts.netloc, path, urlencode(query, safe="${}"), "")),
            model,
            {name: values[name] for name in OF_REQUESTS if name in values},
            {name: values[name] for name in OF_CONNECTIONS if name in values},
            is_plain=parts.scheme == "http" and host not in LOOPBACK,
        )


def chat_endpoint(address: ChatAddress, options: TargetOptions, labels: Sequence[str]) -> Endpoint:
    """Return the endpoint that is asked; `labels` are () where the model answers texts."""
    request = _request(options, labels)
    template = {"model": address.model, **request, **address.settings}
    if options.scores == "prob":
        template |= {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
    missing = [name for name in options.fields if name not in slots(template)]
    if missing:
        raise UsageError(
            f"The prompt has no place for {', '.join(map(repr, missing))}. Expected "
            f"{', '.join(f'{{{name}}}' for name in missing)} in it: that is where the text goes."
        )
    raw = {
        "url": address.url,
        "template": template,
        "headers": {**_key_header(address, options), **_own_headers(options)},
        "timeout": options.timeout,
        "source": FLAGS,
        **address.connection,
    }
    return build_endpoint(raw, Path(FLAGS))


def _key_header(address: ChatAddress, options: TargetOptions) -> dict[str, str]:
    """Return the header with the key, by the name of its variable; {} if there is no key."""
    name = options.key_env
    if name is None and not os.environ.get(KEY_VARIABLE):
        return {}
    if name is None and address.is_plain:
        raise UsageError(
            f"{KEY_VARIABLE} is set, and {address.url} is not encrypted: the key could be read on "
            "the way. Use https://, or name the variable of the key that may be sent there: "
            f"--key-env {KEY_VARIABLE}."
        )
    return {"Authorization": f"Bearer ${{{name or KEY_VARIABLE}}}"}


def _own_headers(options: TargetOptions) -> dict[str, str]:
    from brittle.targets.http.address import parse_header

    return dict(map(parse_header, options.header))


def _request(options: TargetOptions, labels: Sequence[str]) -> dict[str, Any]:
    """Return the messages, and what else the prompt says."""
    if options.prompt is None:
        prompt = _default_prompt(options.fields, labels)
    elif "{" in options.prompt:
        prompt = options.prompt
    else:
        prompt = _read(options.prompt)
        if options.prompt.endswith(".json"):
            return _parsed(prompt, options.prompt)
    return {"messages": [{"role": "user", "content": prompt}]}


def _default_prompt(fields: Sequence[str], labels: Sequence[str]) -> str:
    """Write a prompt: the text alone or, for labels, what is asked and which they are."""
    if len(fields) == 1:
        text = f"{{{fields[0]}}}"
    else:
        text = "\n".join(f"{name}: {{{name}}}" for name in fields)
    if not labels:
        return text
    choice = ", ".join(labels)
    return f"Answer with one of these labels and nothing else: {choice}.\n\nText: {text}\n\nLabel:"


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise UsageError(
            f"Cannot read the prompt {path!r}: {error}. Expected a file, or a text with {{text}} "
            "where the text goes."
        ) from error


def _parsed(content: str, path: str) -> dict[str, Any]:
    """Parse a prompt that is JSON: a list of messages, or an object that holds one."""
    try:
        request = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"The prompt {path!r} is not JSON: {error}.") from error
    request = {"messages": request} if isinstance(request, list) else request
    messages = request.get("messages") if isinstance(request, dict) else None
    if not isinstance(messages, list) or not all(isinstance(m, dict) for m in messages):
        raise UsageError(
            f"The prompt {path!r} holds no messages. Expected a list such as "
            '[{"role": "user", "content": "{text}"}], or an object with it as `messages`.'
        )
    return dict(request)


def _holds_variable(query: Mapping[str, str]) -> bool:
    """Tell whether all further parameters are values of the environment, such as `${KEY}`."""
    return all(value.startswith("${") for value in query.values())


def parse_price(text: str | None) -> tuple[float, float] | None:
    """Parse what a million tokens cost: those that are read, and those that are written.

    >>> parse_price("0.15,0.6")
    (0.15, 0.6)
    """
    if text is None:
        return None
    try:
        read, written = (float(part) for part in text.split(","))
    except ValueError:
        read = -1.0
    if not (0 <= read < float("inf") and 0 <= written < float("inf")):
        raise UsageError(
            f"Got --price {text!r}. Expected what a million tokens cost, read and written: "
            "--price 0.15,0.60."
        )
    return read, written
