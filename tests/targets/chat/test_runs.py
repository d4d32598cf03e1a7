"""Runs on a real server with a real classifier behind it: labels, repeats, tokens, resuming."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import brittle
from brittle.cli import main
from brittle.errors import LimitReached, TargetDown, UsageError
from brittle.opening import as_target
from brittle.runs.run import Run
from brittle.text import Text
from targets.chat.serving import ChatServer, examples, judge, reply_with, text_in

ASK: dict[str, Any] = {"measures": "none", "progress": False}


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def opened(spec: str, **options: Any) -> Any:
    return as_target(spec, labels=options.pop("labels", "negative,positive"), **options)


def test_it_labels_texts_by_what_the_model_says(server: ChatServer) -> None:
    target = opened(server.spec)
    assert not server.bodies, "opening asks nothing"
    rows = target.scores([Text.of("a warm film"), Text.of("a dull film")])
    assert target.labels == ("negative", "positive", "(unparsed)", "(refused)", "(tied)")
    assert rows.argmax(axis=1).tolist() == [1, 0] and rows.sum() == 2
    assert (target.costly, target.label_only, target.batch) == (True, True, 1)
    assert list(map(text_in, server.bodies)) == ["a warm film", "a dull film"]
    target.close()


def test_what_is_asked_is_part_of_the_fingerprint_and_the_connection_is_not(
    server: ChatServer,
) -> None:
    def fingerprint(spec: str = server.spec, **options: Any) -> str:
        target = opened(spec, **options)
        target.close()
        return str(target.fingerprint)

    assert fingerprint() == fingerprint(f"{server.spec}&concurrency=4", price="1,2")
    others = [
        fingerprint(f"{server.spec}&temperature=0"),
        fingerprint(prompt="Which? {text}"),
        fingerprint(read="json:label"),
        fingerprint(repeats=3),
        fingerprint(scores="prob"),
        fingerprint(labels="positive,negative"),
        fingerprint(),
    ]
    assert len(set(others)) == len(others)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": None}, "answers in words"),
        ({"labels": "one"}, "two or more"),
        ({"labels": "a,(tied)"}, "none of them"),
        ({"scores": "logits"}, "Expected label"),
        ({"repeats": 0}, "Expected 1 to"),
        ({"price": "x"}, "a million tokens"),
        ({"labels": None, "answers": "text", "read": "json:a"}, "--read"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_asked(
    server: ChatServer, options: Any, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        opened(server.spec, **options)
    assert not server.bodies


def test_a_run_counts_repeats_and_tokens_and_the_same_call_asks_nothing(server: ChatServer) -> None:
    settings = {**ASK, "budget": 12, "repeats": 3, "price": "1,10"}
    run = brittle.attack(server.spec, examples(6), "salient-swap", **settings)
    asked = len(server.bodies)
    read = sum(reply_with("", body)["usage"]["prompt_tokens"] for body in server.bodies)
    totals = run.totals
    # The last originals are asked once more when all rows are stored.
    assert totals["sent"] <= asked <= totals["sent"] + 12 and totals["repeats"] == 3
    assert totals["sent"] % 3 == 0 and totals["tokens_written"] == totals["sent"]
    assert 0 < totals["tokens_read"] <= read
    assert totals["money"] == (totals["tokens_read"] + 10 * totals["tokens_written"]) / 1e6
    assert min(server.asked().values()) >= 3
    assert any("Each text is asked 3 times" in w for w in run.manifest["warnings"])
    assert run.counts()["broken"] > 0
    again = brittle.attack(server.spec, examples(6), "salient-swap", **settings)
    assert len(server.bodies) == asked and again.results() == run.results()


def test_unparsed_and_refused_texts_are_counted_apart_and_left_out_of_rates(
    server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    def reply(body: Any) -> Any:
        text = text_in(body)
        if "number 1 " in text:
            return reply_with("I'm sorry, but I can't help with that.", body)
        return reply_with("Hard to say.", body) if "number 3 " in text else judge(body)

    server.reply = reply
    run = brittle.attack(server.spec, examples(6), "salient-swap", budget=8, **ASK)
    counts = run.counts()
    assert (counts["refused"], counts["unparsed"]) == (1, 1)
    assert main(["show", run.name]) == 0
    shown = capsys.readouterr().out
    assert "unparsed 1" in shown and "refused 1" in shown and "of 4 " in shown
    page = run.report("report.html").read_text(encoding="utf-8")
    assert "unparsed" in page and "refused" in page


def test_a_model_that_wavers_is_held_to_most_of_its_answers(server: ChatServer) -> None:
    turns = count()
    server.reply = lambda body: reply_with(("positive", "negative")[next(turns) % 2], body)
    run = brittle.attack(server.spec, examples(4), "salient-swap", repeats=2, budget=5, **ASK)
    assert {(r.status, r.reason, r.predicted) for r in run.results()} == {
        ("skipped", "tied answers", "(tied)")
    }


def test_token_probabilities_are_scores(server: ChatServer) -> None:
    def reply(body: Any) -> Any:
        answer = reply_with("positive", body)
        assert body["logprobs"] is True
        top = [{"token": "Pos", "logprob": -0.25}, {"token": "neg", "logprob": -1.75}]
        answer["choices"][0]["logprobs"] = {"content": [{"token": "Pos", "top_logprobs": top}]}
        return answer

    server.reply = reply
    target = opened(server.spec, scores="prob")
    (row,) = target.scores([Text.of("x")])
    assert row[:2] == pytest.approx([0.1824, 0.8176], abs=1e-3) and not target.label_only
    server.reply = judge
    with pytest.raises(UsageError, match="no log-probabilities"):
        target.scores([Text.of("x")])
    target.close()


def test_the_limit_of_tokens_ends_the_run_and_a_higher_one_goes_on(
    server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = "".join(f"{text},{label}\n" for text, label in examples(6))
    Path("d.csv").write_text(f"text,label\n{rows}", encoding="utf-8")
    words = ["attack", server.spec, "salient-swap", "--data", "d.csv", "--budget", "10"]
    assert main([*words, "--max-tokens", "300", "--quiet"]) == 3
    told = capsys.readouterr().err
    assert "The limit of 300 tokens is reached" in told and "--max-tokens 600" in told
    asked = len(server.bodies)
    used = [reply_with("x", body)["usage"] for body in server.bodies]
    assert 300 <= sum(sum(u.values()) for u in used) < 300 + sum(used[-1].values()) + 1
    assert main([*words, "--quiet"]) == 0
    whole = len(server.bodies)
    assert main([*words, "--name", "alone", "--quiet"]) == 0
    assert whole - asked < len(server.bodies) - whole, "what was answered is not asked again"
    stopped = next(Path("runs").glob("chat*.sqlite"))
    assert Run(stopped).results() == Run("runs/alone.sqlite").results()


def test_what_it_may_cost_is_said_before_anything_is_asked(
    server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = "".join(f"{text},{label}\n" for text, label in examples(6))
    Path("d.csv").write_text(f"text,label\n{rows}", encoding="utf-8")
    words = ["attack", f"{server.spec}&max_tokens=4", "salient-swap", "--data", "d.csv"]
    words += ["--budget", "10", "--repeats", "2", "--price", "1,2"]

    def forecast() -> str:
        assert main([*words, "--dry-run"]) == 0
        return " ".join(capsys.readouterr().out.split())

    first = forecast()
    assert not server.bodies
    assert "480 tokens written for 120 answers" in first and "4 to a token" in first
    assert main([*words, "--quiet"]) == 0
    asked = len(server.bodies)
    capsys.readouterr()
    assert "120 tokens written for 120 answers" in (second := forecast())
    assert "as counted by the server in the run" in second and len(server.bodies) == asked


def test_an_application_is_attacked_by_the_text_alone(server: ChatServer) -> None:
    tools = [{"type": "function", "function": {"name": "send_email"}}]
    messages = [{"role": "system", "content": "Sum up."}, {"role": "user", "content": "{text}"}]
    Path("app.json").write_text(json.dumps({"messages": messages, "tools": tools}))

    def reply(body: Any) -> Any:
        text = body["messages"][1]["content"]
        call = {"type": "function", "function": {"name": "send_email", "arguments": "{}"}}
        calls = [call] if "warm" not in text else []
        return reply_with(None if calls else f"About: {text}", body, tool_calls=calls)

    server.reply = reply
    settings: dict[str, Any] = {**ASK, "answers": "text", "prompt": "app.json", "budget": 30}
    texts = ["a warm film", "a dull film"]
    run = brittle.attack(
        server.spec, texts, "random-swap", goal="tool:send_email", repeats=3, **settings
    )
    broken, already = run.results()
    assert (broken.status, already.status) == ("broken", "skipped")
    assert already.reason == "already there"
    assert broken.adversarial_answer is not None
    assert broken.adversarial_answer.count("⟨tool call⟩ send_email {}") == 3
    assert {body["messages"][0]["content"] for body in server.bodies} == {"Sum up."}
    assert all(body["tools"] == tools for body in server.bodies)
    with pytest.raises(UsageError, match="--repeats"):
        brittle.attack(server.spec, texts, "random-swap", goal="changed", repeats=3, **settings)


def test_a_long_answer_is_not_cut_by_the_length_of_its_source(server: ChatServer) -> None:
    server.reply = lambda body: reply_with("word " * 2_000 + "canary-17", body)
    run = brittle.attack(
        *(server.spec, ["a film"], "random-swap"), answers="text", goal="contains:CANARY-17", **ASK
    )
    assert run.results()[0].reason == "already there"


def test_a_server_that_stops_after_half_loses_nothing(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings: dict[str, Any] = {**ASK, "budget": 12, "repeats": 3}
    call: Sequence[Any] = (f"{server.spec}&retries=0", examples(6), "salient-swap")
    server.most = 60
    with pytest.raises(TargetDown, match="Run the same command again"):
        brittle.attack(*call, **settings)
    assert len(server.bodies) == 60
    server.most = None
    run = brittle.attack(*call, **settings)
    whole = len(server.bodies)
    fresh = brittle.attack(*call, name="fresh", **settings)
    assert fresh.results() == run.results()
    assert whole == len(server.bodies) - whole, "sixty answers were asked once"
    with pytest.raises(LimitReached):
        brittle.attack(*call, name="few", max_sent=5, **settings)
