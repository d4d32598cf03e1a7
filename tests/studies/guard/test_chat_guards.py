"""A chat model as a guard: labels or token scores, no label, tokens, and what is asked twice."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import brittle
from brittle.cli import main
from brittle.errors import UsageError
from brittle.studies.study import Study
from brittle.text import Text
from targets.chat.serving import (
    BAD,
    GOOD,
    NOUNS,
    ChatServer,
    classifier,
    judge,
    reply_with,
    serving,
    text_in,
)

pytest.importorskip("httpx")
ATTACKS = [f"a {GOOD[n % 8]} {NOUNS[n % 7]} of the day {n}" for n in range(8)]
BENIGN = [f"a {BAD[n % 8]} {NOUNS[n % 7]} of the year {1900 + n}" for n in range(70)]
SETTINGS: dict[str, Any] = {"at_fpr": 0.1, "by": "look-alike,case", "budget": 12, "name": "mine"}
SETTINGS |= {"labels": "positive,negative", "caught": "positive", "progress": False}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ChatServer]:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.chdir(tmp_path)
    with serving() as state:
        yield state


def measure(server: ChatServer, **changed: Any) -> Any:
    return brittle.guard(server.spec, ATTACKS, BENIGN, **{**SETTINGS, **changed})


def with_scores(body: Any) -> Any:
    """Answer as `judge` does, with the classifier's probabilities of the first token."""
    answer = judge(body)
    row = classifier().predict_proba([text_in(body)])[0]
    names = [str(name).capitalize() for name in classifier().classes_]
    top = [{"token": name, "logprob": math.log(p)} for name, p in zip(names, row)]
    answer["choices"][0]["logprobs"] = {"content": [{"token": names[0], "top_logprobs": top}]}
    return answer


def test_labels_are_measured_and_nothing_is_asked_twice(server: ChatServer) -> None:
    study = measure(server, price="1,10")
    results = study.results
    assert (results.point.by, results.before.count, results.before.of) == ("labels", 8, 8)
    assert results.attacks["look-alike"].broken and results.after().count < 8
    # A case is asked once in the whole study, but winners and a few originals are checked again.
    spent = results.spent
    assert spent.answers <= len(server.bodies) <= spent.answers + 4 * len(results.attacks)
    usage = [judge(body)["usage"] for body in server.bodies]
    assert spent.tokens_read <= sum(one["prompt_tokens"] for one in usage)
    assert spent.tokens_read > 10 * spent.tokens_written == 10 * spent.answers
    assert spent.money == (spent.tokens_read + 10 * spent.tokens_written) / 1e6
    assert study.summary()["spent"]["money"] == spent.money
    asked = len(server.bodies)
    again = measure(server, price="1,10")
    assert (again.results, len(server.bodies)) == (results, asked)


def test_token_probabilities_are_scores_with_a_threshold(server: ChatServer) -> None:
    server.reply = with_scores
    study = measure(server, scores="prob", by="look-alike")
    point = study.results.point
    assert point.by == "scores" and 0 < point.threshold < 1 and point.flagged <= 0.1 * point.of
    for row in study.results.attacks["look-alike"].broken.values():
        (scores,) = classifier().predict_proba([row.adversarial])
        assert scores[1] < point.threshold  # of "positive"


def test_refusals_and_unreadable_answers_are_neither_caught_nor_let_through(
    server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    def reply(body: Any) -> Any:
        text = text_in(body)
        if text == ATTACKS[0]:
            return reply_with("I'm sorry, but I can't help with that.", body)
        is_unclear = text in (ATTACKS[1], BENIGN[3])
        return reply_with("Hard to say.", body) if is_unclear else judge(body)

    server.reply = reply
    study = measure(server)
    results = study.results
    assert results.reasons_without_label == {"refused": 1, "unparsed": 1}
    assert results.benign_unscored == {"unparsed": 1}
    assert (results.before.count, results.before.of) == (6, 6)
    assert results.point.of + results.measured.of == len(BENIGN) - 1
    assert main(["show", "mine"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "left out, because they got no label: 2 attack texts and 1 benign text" in shown
    assert "tokens read and" in shown
    page = study.view().html()
    assert "2 attack texts (1 refused, 1 unparsed)" in page
    assert list(study.summary()["no_label"].values()) == [
        {"refused": 1, "unparsed": 1},
        {"unparsed": 1},
    ]


def test_a_text_whose_candidates_get_no_label_is_left_out_of_the_recall(server: ChatServer) -> None:
    def reply(body: Any) -> Any:
        return judge(body) if text_in(body).isascii() else reply_with("What is that?", body)

    server.reply = reply
    study = measure(server, by="look-alike,case")
    results = study.results
    silent = results.without_label("look-alike")
    assert len(silent) == 8 and not results.evaded("look-alike")
    assert results.after("look-alike").of == 0 and results.after("case").of == 8
    assert any("no label for any candidate of 8 caught texts" in w for w in study.warnings)
    assert "no label" in study.view().html()
    assert study.summary()["recall_under_attack"]["of"] == 0


def test_a_guard_that_never_names_a_label_is_refused_and_its_answers_are_kept(
    server: ChatServer,
) -> None:
    server.reply = lambda body: reply_with("Who knows?", body)
    with pytest.raises(UsageError, match=r"no label for 35 of 35 texts \(35 unparsed\).*--read"):
        measure(server)
    asked = len(server.bodies)
    with pytest.raises(UsageError, match="no label"):
        measure(server)
    assert len(server.bodies) == asked
    with pytest.raises(UsageError, match=r"answers in words\. Name the labels"):
        measure(server, labels=None, name="other")


def write_files() -> None:
    for name, texts in ("attacks", ATTACKS), ("benign", BENIGN):
        Path(f"{name}.csv").write_text("\n".join(["text", *texts]), "utf-8")


def command(server: ChatServer, *more: str) -> list[str]:
    words = ["guard", f"{server.spec}&max_tokens=4", "--attacks", "attacks.csv"]
    words += ["--benign", "benign.csv", "--labels", "positive,negative", "--caught", "POSITIVE"]
    return [*words, "--at-fpr", "10%", "--budget", "12", "--by", "look-alike,spacing", *more]


def test_the_cost_is_said_before_anything_is_asked(
    server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    write_files()
    assert main(command(server, "--repeats", "3", "--price", "1,2", "--dry-run")) == 0
    said = " ".join(capsys.readouterr().out.split())
    answers = 3 * (8 + 70 + 2 * 8 * 12 + 2 * (8 + 35))
    assert f"for {answers:,} answers" in said and "cost" in said and not server.bodies
    assert main(command(server, "--repeats", "3", "--price", "1,2", "--name", "mine")) == 0
    printed = capsys.readouterr()
    assert f"for {answers:,} answers" in " ".join(printed.err.split())
    spent = Study.load("runs/mine.study.json").results.spent
    assert spent.answers % 3 == 0 and spent.answers <= answers + 3 * 5
    assert f"{spent.tokens_read:,} tokens read" in " ".join(printed.out.split())


def test_a_study_that_was_killed_or_whose_server_stopped_asks_for_no_answer_again(
    server: ChatServer, tmp_path: Path
) -> None:
    write_files()
    assert main(command(server, "--name", "whole", "--quiet")) == 0
    whole = len(server.bodies)
    server.bodies.clear()
    server.most = whole // 2
    flaky = [word.replace("max_tokens=4", "max_tokens=4&retries=0") for word in command(server)]
    assert main([*flaky, "--name", "mine", "--quiet"]) == 3
    server.most = None
    process = subprocess.Popen(
        [sys.executable, "-m", "brittle", *flaky, "--name", "mine", "--quiet"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    end = time.monotonic() + 60
    while len(server.bodies) < 3 * whole // 4 and time.monotonic() < end:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert main([*flaky, "--name", "mine", "--quiet"]) == 0
    # What was under way when it was killed may be asked again, and nothing else.
    assert whole <= len(server.bodies) <= whole + 2
    one, other = (Study.load(f"runs/{name}.study.json").results for name in ("whole", "mine"))
    assert one.attacks == other.attacks and one.cases == other.cases


@pytest.mark.slow
def test_a_model_of_the_zoo_is_measured_through_a_chat_as_it_is(server: ChatServer) -> None:
    model: Any = brittle.as_target("zoo:naive-bayes@mr")
    server.reply = lambda body: reply_with(
        model.labels[int(model.scores([Text.of(text_in(body))])[0].argmax())], body
    )
    texts: dict[str, list[str]] = {"negative": [], "positive": []}
    for example in brittle.data.load("mr", split="test"):
        texts[str(example.label)].append(example.fields[0][1])
    study = brittle.guard(
        server.spec,
        texts["positive"][:12],
        texts["negative"][:70],
        **{**SETTINGS, "by": "look-alike,spacing", "budget": 20},
    )
    for case in study.results.cases:
        scores = model.scores([Text.of(case.text)])[0]
        assert case.is_caught == (model.labels[int(scores.argmax())] == "positive")
    for attack in study.results.attacks.values():
        for row in attack.broken.values():
            scores = model.scores([Text.of(row.adversarial or "")])[0]
            assert model.labels[int(scores.argmax())] == "negative"
    assert study.results.evaded() and json.dumps(study.summary())
