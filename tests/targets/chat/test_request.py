"""What a chat model is sent: the prompt with the text in it, and a key that stands nowhere else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from brittle.errors import UsageError
from brittle.targets.chat.request import ChatAddress, chat_endpoint, parse_price
from brittle.targets.options import TargetOptions

SPEC = "chat:http://127.0.0.1:8000/v1?model=tiny"
LABELS = ("clean", "offensive")


def sent(text: Any = "a {text} b", spec: str = SPEC, labels: Any = LABELS, **options: Any) -> Any:
    """Return what is sent for one text."""
    endpoint = chat_endpoint(ChatAddress.parse(spec), TargetOptions(**options), labels)
    return endpoint.body([text])


def test_the_default_prompt_lists_the_labels_and_holds_the_text_as_it_is() -> None:
    body = sent()
    assert body["model"] == "tiny"
    (message,) = body["messages"]
    assert message["role"] == "user"
    assert "clean, offensive" in message["content"]
    assert "\n\nText: a {text} b\n\n" in message["content"]
    assert sent(labels=()) == {
        "model": "tiny",
        "messages": [{"role": "user", "content": "a {text} b"}],
    }


def test_a_prompt_may_have_several_fields_and_other_braces() -> None:
    fields = {"premise": "{hypothesis}", "hypothesis": "b"}
    prompt = 'P: {premise} H: {hypothesis} as {"label": …} {other}'
    body = sent(fields, prompt=prompt, fields=("premise", "hypothesis"))
    assert body["messages"][0]["content"] == 'P: {hypothesis} H: b as {"label": …} {other}'
    body = sent(fields, fields=("premise", "hypothesis"))
    assert "premise: {hypothesis}\nhypothesis: b" in body["messages"][0]["content"]


def test_settings_of_the_address_are_in_the_request_or_of_the_connection() -> None:
    spec = f"{SPEC}&temperature=0.5&max_tokens=8&seed=1&concurrency=4&per_second=2&retries=0"
    body = sent(spec=spec, scores="prob")
    assert (body["temperature"], body["max_tokens"], body["seed"]) == (0.5, 8, 1)
    assert (body["logprobs"], body["top_logprobs"]) == (True, 20)
    endpoint = chat_endpoint(ChatAddress.parse(spec), TargetOptions(), LABELS)
    assert (endpoint.concurrency, endpoint.per_second, endpoint.retries) == (4, 2.0, 0)
    assert endpoint.url == "http://127.0.0.1:8000/v1/chat/completions"
    whole = ChatAddress.parse("chat:https://host/v1/chat/completions/?model=a/b")
    assert (whole.url, whole.model) == ("https://host/v1/chat/completions", "a/b")


def test_a_prompt_is_read_from_a_file_and_json_is_a_request(tmp_path: Path) -> None:
    plain, request = tmp_path / "p.txt", tmp_path / "p.json"
    plain.write_text("Say: {text}", encoding="utf-8")
    assert sent("x", prompt=str(plain))["messages"][0]["content"] == "Say: x"
    tools = [{"type": "function", "function": {"name": "send_email"}}]
    messages = [{"role": "system", "content": "Sum up."}, {"role": "user", "content": "{text}"}]
    request.write_text(json.dumps({"messages": messages, "tools": tools}), encoding="utf-8")
    body = sent("x", prompt=str(request), labels=())
    assert body["tools"] == tools and [m["content"] for m in body["messages"]] == ["Sum up.", "x"]
    request.write_text(json.dumps(messages), encoding="utf-8")
    assert sent("x", prompt=str(request))["messages"][1]["content"] == "x"


@pytest.mark.parametrize(
    ("spec", "options", "message"),
    [
        ("chat:here", {}, "an address and a model"),
        ("chat:http://h/v1", {}, "names no model"),
        (f"{SPEC}&temprature=1", {}, "Did you mean 'temperature'"),
        (f"{SPEC}&max_tokens=many", {}, "expected a number"),
        (f"{SPEC}&api_key=abcdef", {}, "contains a secret"),
        (SPEC, {"prompt": "no/such/file.txt"}, "Cannot read the prompt"),
        (SPEC, {"prompt": "{other}"}, "no place for 'text'"),
        (SPEC, {"key_env": "NO_SUCH_VARIABLE"}, ""),
    ],
)
def test_a_wrong_request_is_refused_in_words(spec: str, options: Any, message: str) -> None:
    if not message:
        endpoint = chat_endpoint(ChatAddress.parse(spec), TargetOptions(**options), LABELS)
        with pytest.raises(UsageError, match="NO_SUCH_VARIABLE, which is not set"):
            endpoint.sent_headers()
        return
    with pytest.raises(UsageError, match=message):
        sent(spec=spec, **options)


@pytest.mark.parametrize("content", ["{", "[1]", "{}", '{"messages": 1}'])
def test_a_request_without_messages_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "p.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError, match=r"is not JSON|holds no messages"):
        sent(prompt=str(path))


def test_the_key_stands_in_no_description_and_goes_to_no_stranger_in_plain(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-veryverysecret")
    endpoint = chat_endpoint(ChatAddress.parse(SPEC), TargetOptions(), LABELS)
    assert "veryverysecret" not in repr(endpoint)
    assert endpoint.sent_headers()["Authorization"] == "Bearer sk-veryverysecret"
    plain = ChatAddress.parse("chat:http://example.org/v1?model=m")
    with pytest.raises(UsageError, match="not encrypted") as caught:
        chat_endpoint(plain, TargetOptions(), LABELS)
    assert "veryverysecret" not in str(caught.value)
    named = chat_endpoint(plain, TargetOptions(key_env="OPENAI_API_KEY"), LABELS)
    assert named.headers == {"Authorization": "Bearer ${OPENAI_API_KEY}"}
    monkeypatch.delenv("OPENAI_API_KEY")
    assert not chat_endpoint(ChatAddress.parse(SPEC), TargetOptions(), LABELS).headers


@pytest.mark.parametrize("price", ["1", "a,b", "1,-2", "1,2,3", "nan,1", "1,inf"])
def test_a_price_is_two_numbers(price: str) -> None:
    with pytest.raises(UsageError, match="a million tokens"):
        parse_price(price)
    assert parse_price(None) is None and parse_price("1, 2") == (1.0, 2.0)
