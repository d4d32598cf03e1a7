"""The TOML file of an endpoint: what it may say, and what of it is sent and read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from brittle.errors import TargetError, UsageError
from brittle.targets.http.endpoint import Endpoint, fill, load_endpoint

SMALL = 'url = "http://127.0.0.1/x"\n[json]\ninputs = "{text}"\n'


def written(tmp_path: Path, content: str) -> Path:
    path = tmp_path / "api.toml"
    path.write_text(content, encoding="utf-8")
    return path


def test_a_small_file_is_enough(tmp_path: Path) -> None:
    endpoint = load_endpoint(written(tmp_path, SMALL))
    assert (endpoint.method, endpoint.timeout, endpoint.retries) == ("POST", 30.0, 5)
    assert endpoint.body(["a film"]) == {"inputs": "a film"}
    assert endpoint.answers([0.5, 0.5], 1) == [[0.5, 0.5]]


def test_everything_can_be_said(tmp_path: Path) -> None:
    content = """
url = "https://example.org/${REGION}/classify"
method = "PUT"
labels = ["neg", "pos"]
scores = "logits"
path = "results.0.scores"
label_key = "name"
score_key = "p"
timeout = 2.5
retries = 0
per_second = 3
concurrency = 4
batch = 8
json = '{"rows": "{texts}", "options": {"k": null, "n": [1, true]}}'
[headers]
Authorization = "Bearer ${API_TOKEN}"
"""
    endpoint = load_endpoint(written(tmp_path, content))
    assert endpoint.batched
    assert endpoint.path == ("results", "0", "scores")
    assert endpoint.body(["a", "b"]) == {
        "rows": ["a", "b"],
        "options": {"k": None, "n": [1, True]},
    }


def test_texts_are_data_never_template() -> None:
    nasty = '"}, {text} \\ {texts} \n\x00 {premise}'
    endpoint = Endpoint("http://x", {"q": "Classify: {text}!", "n": [{"again": "{text}"}]})
    assert endpoint.body([nasty]) == {"q": f"Classify: {nasty}!", "n": [{"again": nasty}]}


def test_unknown_braces_stay() -> None:
    assert fill("{text} as {json} {}", {"text": "a"}, None) == "a as {json} {}"


def test_fields_go_where_their_names_stand() -> None:
    endpoint = Endpoint("http://x", {"a": "{premise}", "b": "so: {hypothesis}"})
    pair = {"premise": "{hypothesis}", "hypothesis": "wet"}
    assert endpoint.body([pair]) == {"a": "{hypothesis}", "b": "so: wet"}
    with pytest.raises(UsageError, match=r"no \{reason\}"):
        endpoint.body([pair | {"reason": "x"}])


def test_several_fields_in_a_batch_are_dicts() -> None:
    endpoint = Endpoint("http://x", {"rows": "{texts}"})
    rows = [{"p": "a", "h": "b"}, {"p": "c", "h": "d"}]
    assert endpoint.body(rows) == {"rows": rows}


@pytest.mark.parametrize(
    ("path", "reply"),
    [
        ((), [1, 2]),
        (("out",), {"out": [1, 2]}),
        (("out", "*", "score"), {"out": [{"score": 1}, {"score": 2}]}),
        (("*", "0"), [[1], [2]]),
    ],
)
def test_answers_of_a_batch_are_found(path: tuple[str, ...], reply: Any) -> None:
    endpoint = Endpoint("http://x", "{texts}", path=path)
    assert endpoint.answers(reply, 2) == [1, 2]
    with pytest.raises(TargetError, match="for 3 texts"):
        endpoint.answers(reply, 3)


@pytest.mark.parametrize(
    "reply", [{}, {"results": []}, {"results": 3}, {"results": "ab"}, [], None]
)
def test_a_path_that_leads_nowhere_shows_the_answer(reply: Any) -> None:
    endpoint = Endpoint("http://x", "{text}", path=("results", "0", "scores"))
    with pytest.raises(TargetError, match=r"'results\.0\.scores'"):
        endpoint.answers(reply, 1)


def test_secrets_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint = Endpoint("http://x/${PLACE}", "{text}", headers={"Authorization": "Bearer ${KEY}"})
    monkeypatch.delenv("KEY", raising=False)
    with pytest.raises(UsageError, match="environment variable KEY"):
        endpoint.sent_headers()
    monkeypatch.setenv("KEY", "s3cret")
    monkeypatch.setenv("PLACE", "here")
    assert endpoint.sent_headers() == {"Authorization": "Bearer s3cret"}
    assert endpoint.sent_url() == "http://x/here"
    assert "s3cret" not in repr(endpoint)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("url = ", "not a TOML file"),
        ('json = "{text}"', "has no `url`"),
        ('url = "http://x"', "has no `json`"),
        (SMALL.replace("{text}", "text"), r"Put \{text\} where"),
        (SMALL.replace("{text}", "see {texts}"), "whole value"),
        (SMALL.replace("http://127.0.0.1/x", "ftp://x"), "Expected http://"),
        ("ratelimit = 3\n" + SMALL, "Unknown key in api.toml 'ratelimit'"),
        ("retry = 3\n" + SMALL, "Did you mean 'retries'"),
        ("retries = -1\n" + SMALL, "`retries` in api.toml is -1"),
        ('timeout = "long"\n' + SMALL, "Expected a number"),
        ("concurrency = 1.5\n" + SMALL, "Expected a number"),
        ('scores = "logit"\n' + SMALL, "Did you mean 'logits'"),
        ("url = 'http://x'\njson = '{\"a\": {text}}'", "is not JSON"),
        ("path = 5\n" + SMALL, "`path` in api.toml is 5. Expected a string"),
        ("labels = 5\n" + SMALL, "`labels` in api.toml is 5. Expected a list"),
        ("headers = 'x'\n" + SMALL, "`headers` in api.toml is 'x'. Expected a table"),
        ("headers = {a = 1}\n" + SMALL, "The header 'a' in api.toml is 1. Expected a string"),
        ("headers = {a = 'é'}\n" + SMALL, "The header 'a' in api.toml has characters"),
        ("headers = {'é' = 'a'}\n" + SMALL, "The header 'é' in api.toml has characters"),
        ("scores = []\n" + SMALL, "`scores` in api.toml is .* Expected a string"),
        ("answers = {}\n" + SMALL, "Expected a string"),
        ("method = 1\n" + SMALL, "`method` in api.toml is 1"),
        ("label_key = 2\n" + SMALL, "`label_key` in api.toml is 2"),
        ("timeout = nan\n" + SMALL, "`timeout` in api.toml is nan"),
        ("per_second = inf\n" + SMALL, "`per_second` in api.toml is inf"),
        ("x = " + "[" * 20_000, "not a TOML file"),
        (f"url = 'http://x'\njson = '{'[' * 50_000}'", "is not JSON"),
        (f"url = 'http://x'\njson = '{'[' * 900}\"{{text}}\"{']' * 900}'", "too deeply"),
    ],
)
def test_the_message_says_what_is_wrong_in_a_file(
    tmp_path: Path, content: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        load_endpoint(written(tmp_path, content))


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"absent\.toml"):
        load_endpoint(tmp_path / "absent.toml")
